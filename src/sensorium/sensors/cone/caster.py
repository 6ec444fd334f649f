"""Nearest points of a scene in the cones of sensors at an instant, for cone sensors and radars."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.cone.volume import half_angle_tangent
from sensorium.runtime import worker_pool
from sensorium.sensors.common.occlusion import Occlusion
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.cone.sighting import Sighting
from sensorium.tracing.kernels.cone.search import EXACT, LINES, MIDDLE, ConeView, Places, new_nearest, search
from sensorium.tracing.kernels.cone.tables import face_tables, object_tables
from sensorium.worlds.point_motion import PointMotion

# A surface in front of a point hides it if it is nearer by more than this: rays are float32
_CLEAR_M, _CLEAR_PART = 1e-4, 2e-5


@dataclass(frozen=True)
class ConeOptions:
    """Shape of a cone and search options; `ConeSensor` has the same fields and documents them."""

    horizontal_fov_deg: float
    vertical_fov_deg: float
    range_m: float
    lines: int | Literal["exact"] = "exact"
    half_spacing_deg: float | None = None
    front: Literal["flat", "spherical"] = "flat"
    target: Literal["closest", "aabb_center"] = "closest"
    occlusion: bool = False
    per_object: bool = False


class ConeCaster:
    """Searches the scene for all worlds and sensors of a rig."""

    def __init__(self, rig: Rig, options: ConeOptions) -> None:
        """Prepare the scene.

        Args:
            rig: Mount of the sensors; bodies that it hides are not seen.
            options: Search options.
        """
        self._rig, self._per_object = rig, options.per_object
        exact, middle = options.lines == "exact", options.target == "aabb_center"
        if middle and any(mesh.one_sided is not None for mesh in rig.tracer.layout.meshes):
            raise SpecError("target is 'aabb_center' and the scene has one_sided faces; a box's middle has no sides")
        self._faces = face_tables(() if middle else rig.tracer.layout.meshes, as_quads=not exact)
        self._see_layout()
        self._motion = PointMotion(rig.history, rig.body, rig.X_BS)
        self._sight = Occlusion(rig) if options.occlusion else None
        self._view = ConeView(
            a=half_angle_tangent(options.horizontal_fov_deg),
            b=half_angle_tangent(options.vertical_fov_deg),
            reach=float(options.range_m),
            spherical=options.front == "spherical",
            method=MIDDLE if middle else EXACT if exact else LINES,
            lines=np.int64(2 if isinstance(options.lines, str) else options.lines),
            half_spacing=math.radians(options.half_spacing_deg or 0.0),
            of_each=options.per_object or options.occlusion,
        )

    def at(self, time_ns: int) -> Sighting:
        """The sighting at an instant [ns]: of each object with `per_object`, else the nearest."""
        rig, state = self._rig, self._motion.at(time_ns, acceleration=False)
        if self._layout is not rig.tracer.layout:  # worlds were redrawn
            self._see_layout()
        before, after, fraction = rig.history.bracket(time_ns)
        rows, objects = rig.worlds * rig.sensors, len(self._objects.body)
        p_WS, q_WS = state.position.reshape(rows, 3).copy(), state.quaternion.reshape(rows, 4).copy()
        places = Places(
            p_WS,
            q_WS,
            state.velocity.reshape(rows, 3),
            before.numbers,
            after.numbers,
            float(fraction),
            rig.worlds,
            rig.history.bodies,
        )
        out = new_nearest(rows, objects if self._view.of_each else 1)
        worker_pool.run(search, rows, self._faces, self._objects, places, self._view, out)
        found = Sighting(time_ns, p_WS, q_WS, *out, rig.tracer.labels)
        if self._sight is not None:
            found = found.without(self._hidden(self._sight, found))
        return found if self._per_object else found.nearest()

    def _see_layout(self) -> None:
        """Update the poses of objects; their meshes stay the same."""
        rig = self._rig
        self._layout = rig.tracer.layout
        self._objects = object_tables(self._layout, rig.tracer.body_names, rig.hide)

    def _hidden(self, sight: Occlusion, found: Sighting) -> NDArray[np.bool_]:
        """Which points another object stands in front of, shape (rows, slots): one ray to each."""
        row, slot = np.nonzero(found.object_id >= 0)
        off = found.point_W[row, slot] - found.p_WS[row]
        range_m = found.range_m[row, slot]
        direction = off / np.where(range_m > 0.0, range_m, 1.0)[:, None]
        ahead = range_m > 0.0
        hits = sight.hits(found.time_ns, found.p_WS, row[ahead], direction[ahead])
        hidden = np.zeros(found.object_id.shape, np.bool_)
        clear_m = range_m[ahead] - (_CLEAR_M + _CLEAR_PART * range_m[ahead])
        other = (hits.object_id >= 0) & (hits.object_id != found.object_id[row, slot][ahead])
        hidden[row[ahead], slot[ahead]] = other & (hits.range_m < clear_m)
        return hidden
