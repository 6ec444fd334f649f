"""The ideal sighting of a cone sensor at an instant, before any error."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.rotations import rotate, rotation_from_quaternion
from sensorium.physics.cone import volume
from sensorium.tracing.kernels.cone.search import new_nearest
from sensorium.tracing.labels import LabelTables

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Sighting:
    """Nearest points in the cones of all sensors; rows are worlds and then sensors, slots objects, or one for all.

    Attributes:
        time_ns: The instant [ns].
        p_WS: Where the sensors are [m], shape (rows, 3).
        q_WS: How they are turned, shape (rows, 4).
        point: Nearest points in the sensor's frame (x forward, y left, z up) [m], shape (rows, slots, 3); zeros for
            empty slots.
        range_m: Their distances [m], shape (rows, slots); inf for empty slots.
        range_rate: How fast the matter there goes away, (v_p - v_s) q / |q| [m/s], shape (rows, slots); 0 likewise.
        object_id: Objects, shape (rows, slots); -1 for empty slots.
        face_id: Triangles of their meshes, likewise; of a quad, the first of its two.
        labels: Of the scene.
    """

    time_ns: int
    p_WS: Float
    q_WS: Float
    point: Float
    range_m: Float
    range_rate: Float
    object_id: NDArray[np.int32]
    face_id: NDArray[np.int32]
    labels: LabelTables

    @classmethod
    def joined(cls, several: Sequence["Sighting"], rows: int) -> "Sighting":
        """Those of several instants as one, the first rows of each; its time is the last's."""
        joined: dict[str, Any] = {}
        for name in (field.name for field in fields(cls) if field.name not in ("time_ns", "labels")):
            joined[name] = np.concatenate([getattr(one, name)[:rows] for one in several])
        return replace(several[-1], **joined)

    @property
    def in_sight(self) -> NDArray[np.bool_]:
        """Slots that are filled, shape (rows, slots)."""
        return self.object_id >= 0

    @property
    def label(self) -> NDArray[np.int32]:
        """Labels of the faces if their meshes label faces, else of the objects; 0 is unlabeled, -1 an empty slot."""
        tables, out = self.labels, np.full(self.object_id.shape, -1, np.int32)
        row, slot = np.nonzero(self.in_sight)
        worlds = len(tables.object_label)
        world = row * worlds // len(self.object_id)
        number = self.object_id[row, slot]
        first = tables.face_first[world, number]
        found, own = tables.object_label[world, number], first >= 0
        found[own] = tables.face_label[first[own] + self.face_id[row, slot][own]]
        out[row, slot] = found
        return out

    @property
    def point_W(self) -> Float:
        """The points in the world [m], shape (rows, slots, 3); the sensor's own position for empty slots."""
        return in_world(self.point, self.p_WS, self.q_WS)

    @property
    def azimuth(self) -> Float:
        """To the left [rad], shape (rows, slots); 0 for empty slots."""
        return volume.azimuth(self.point)

    @property
    def elevation(self) -> Float:
        """Above the horizontal plane [rad], shape (rows, slots); 0 for empty slots."""
        return volume.elevation(self.point)

    @property
    def projected_elevation(self) -> Float:
        """The vertical angle seen from the side [rad], shape (rows, slots); 0 for empty slots."""
        return volume.projected_elevation(self.point)

    def nearest(self) -> "Sighting":
        """The nearest of each row, in one slot; of equals, the object that comes first."""
        rows, slots = self.range_m.shape
        if slots == 1:
            return self
        if slots == 0:
            return replace(self, **new_nearest(rows, 1)._asdict()).without(np.ones((rows, 1), np.bool_))
        row, slot = np.arange(rows)[:, None], self.range_m.argmin(axis=1)[:, None]
        return replace(
            self,
            point=self.point[row, slot],
            range_m=self.range_m[row, slot],
            range_rate=self.range_rate[row, slot],
            object_id=self.object_id[row, slot],
            face_id=self.face_id[row, slot],
        )

    def without(self, mask: NDArray[np.bool_]) -> "Sighting":
        """The same with the masked slots empty, shape (rows, slots)."""
        if not mask.any():
            return self
        return replace(
            self,
            point=np.where(mask[..., None], 0.0, self.point),
            range_m=np.where(mask, np.inf, self.range_m),
            range_rate=np.where(mask, 0.0, self.range_rate),
            object_id=np.where(mask, np.int32(-1), self.object_id),
            face_id=np.where(mask, np.int32(-1), self.face_id),
        )


def in_world(point: Float, p_WS: Float, q_WS: Float) -> Float:
    """Points of sensors' frames (rows, ..., 3) in the world [m], for sensors at p_WS (rows, 3), q_WS (rows, 4)."""
    between = (1,) * (point.ndim - 2)
    R_WS = rotation_from_quaternion(q_WS).reshape(-1, *between, 3, 3)
    return rotate(R_WS, point) + p_WS.reshape(-1, *between, 3)
