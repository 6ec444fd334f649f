"""Readings of a cone sensor: the nearest point in sight, and on request every object in sight."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float
from sensorium.physics.cone import volume
from sensorium.sensors.common.sampled import XYZ, Quantity, Sample, SampledReading
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.cone import channels as cc
from sensorium.sensors.cone.sighting import Sighting, in_world
from sensorium.sensors.cone.verdict import Verdict


class ConeObjects:
    """All objects of a scene as a cone sensor has them in sight, without errors.

    Arrays have the leading axes of worlds and sensors that the environment has, then one of objects: the place is the
    `object_id`. Where an object is not in sight its range is inf, and its angles, points and rate are NaN.
    """

    __slots__ = ("_found", "_rig")

    def __init__(self, found: Sighting, rig: Rig) -> None:
        self._found, self._rig = found, rig

    @property
    def in_sight(self) -> NDArray[np.bool_]:
        """Whether some of it is in the cone; shape (..., objects)."""
        return self._shaped(self._found.in_sight)

    @property
    def nearest_first(self) -> NDArray[np.intp]:
        """Places of those in sight, by distance, of a single sensor in a single world; shape (in sight,)."""
        if self._rig.axes:
            raise SpecError(
                f"nearest_first lists the objects of one sensor; this reading has axes {self._rig.axes}, use in_sight"
            )
        order = np.argsort(self._found.range_m[0], kind="stable")
        return order[: np.count_nonzero(self._found.in_sight[0])]

    @property
    def point(self) -> Float:
        """Nearest point of each in the sensor's frame, x forward, y left, z up [m]; shape (..., objects, 3)."""
        return self._seen(self._found.point)

    @property
    def point_W(self) -> Float:
        """The same in the world [m]; shape (..., objects, 3)."""
        return self._seen(self._found.point_W)

    @property
    def range_m(self) -> Float:
        """Distance of each [m]; shape (..., objects)."""
        return self._shaped(self._found.range_m)

    @property
    def azimuth(self) -> Float:
        """To the left [rad]; shape (..., objects)."""
        return self._seen(self._found.azimuth)

    @property
    def elevation(self) -> Float:
        """Above the sensor's level [rad]; shape (..., objects)."""
        return self._seen(self._found.elevation)

    @property
    def projected_elevation(self) -> Float:
        """The vertical angle seen from the side, eq. 3.8 [rad]; shape (..., objects)."""
        return self._seen(self._found.projected_elevation)

    @property
    def range_rate(self) -> Float:
        """Speed at which the material at the nearest point recedes [m/s]; shape (..., objects)."""
        return self._seen(self._found.range_rate)

    @property
    def label(self) -> NDArray[np.int32]:
        """Label of each, 0 where it has none, -1 where it is not in sight; shape (..., objects)."""
        return self._shaped(self._found.label)

    def _seen(self, values: Float) -> Float:
        mask = self._found.in_sight
        return self._shaped(np.where(mask[..., None] if values.ndim > mask.ndim else mask, values, np.nan))

    def _shaped(self, rows: NDArray[Any]) -> NDArray[Any]:
        rig = self._rig
        return np.asarray(rig.squeeze(rows.reshape(rig.worlds, rig.sensors, *rows.shape[1:])))


class ConeReading(SampledReading):
    """The nearest point in sight; arrays have the axes of worlds and sensors that the environment has, or none.

    If nothing is in sight the range is inf, `object_id` and `label` are -1 and all other values NaN. Faults override
    this: a held range keeps its object, and a stuck range or angle is reported without an object.
    """

    __slots__ = ("_per_object",)

    def __init__(self, sample: Sample, rig: Rig, *, per_object: bool) -> None:
        super().__init__(sample, rig)
        self._per_object = per_object

    @property
    def in_sight(self) -> NDArray[np.bool_]:
        """Whether there is a range: of something in the cone, unless a fault took it away or gives one of its own."""
        return self._shaped(self._sees)

    @property
    def range_m(self) -> Float:
        """Distance of the nearest point [m]."""
        return self._shaped(np.where(self._sees, self._sample.x[:, cc.RANGE], np.inf))

    @property
    def point(self) -> Float:
        """The nearest point in the sensor's frame, x forward, y left, z up [m]; shape (..., 3)."""
        return self._shaped(self._point)

    @property
    def point_W(self) -> Float:
        """The same in the world, from where the sensor truly is [m]; shape (..., 3)."""
        nearest = self._nearest
        return self._shaped(in_world(self._point, nearest.p_WS, nearest.q_WS))

    @property
    def azimuth(self) -> Float:
        """Angle to the left of straight ahead [rad]."""
        return self._channel(cc.AZIMUTH)

    @property
    def elevation(self) -> Float:
        """Angle above the sensor's level [rad]."""
        return self._channel(cc.ELEVATION)

    @property
    def projected_elevation(self) -> Float:
        """The vertical angle seen from the side, atan2(z, x), which the thesis calls elevation (eq. 3.8) [rad]."""
        return self._shaped(volume.projected_elevation(self._point))

    @property
    def range_rate(self) -> Float:
        """Speed at which the material at the nearest point recedes, by the velocities of bodies: Doppler [m/s]."""
        return self._channel(cc.RANGE_RATE)

    @property
    def differenced_range_rate(self) -> Float:
        """Change of the range since the reading before, over the time between [m/s]; NaN for a new target."""
        return self._channel(cc.DIFFERENCED_RATE)

    @property
    def speed(self) -> Float:
        """Way of the nearest point in the sensor's frame since the reading before, over the time (eq. 3.9) [m/s]."""
        return self._channel(cc.SPEED)

    @property
    def verdict(self) -> NDArray[np.int64]:
        """A `Verdict` for each, as numbers: from the last ranges, as many as their scatter requires."""
        verdict = self._sample.x[:, cc.VERDICT]
        known = self._sees & ~np.isnan(verdict)
        return self._shaped(np.where(known, verdict, float(Verdict.UNKNOWN)).astype(np.int64))

    @property
    def object_id(self) -> NDArray[np.int32]:
        """The object of the nearest point; -1 for none."""
        return self._shaped(np.where(self._sees, self._nearest.object_id[:, 0], np.int32(-1)))

    @property
    def label(self) -> NDArray[np.int32]:
        """Its label, that of the face if the mesh labels faces; 0 is unlabeled, -1 for no object."""
        return self._shaped(np.where(self._sees, self._nearest.label[:, 0], np.int32(-1)))

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its quantities by name, for tables and plots."""
        return (
            Quantity("in_sight", "In sight", kind=bool, is_plotted=False),
            Quantity("range_m", "Range", "m"),
            Quantity("azimuth", "Azimuth", "rad"),
            Quantity("elevation", "Elevation", "rad"),
            Quantity("projected_elevation", "Projected elevation", "rad", is_plotted=False),
            Quantity("point", "Nearest point", "m", XYZ, is_plotted=False),
            Quantity("point_W", "Nearest point in the world", "m", XYZ, is_plotted=False),
            Quantity("range_rate", "Range rate", "m/s"),
            Quantity("differenced_range_rate", "Range rate by differences", "m/s"),
            Quantity("speed", "Speed", "m/s", is_plotted=False),
            Quantity("verdict", "Verdict", kind=int, is_plotted=False),
            Quantity("object_id", "Object", kind=int, is_plotted=False),
            Quantity("label", "Label", kind=int, is_plotted=False),
        )

    @property
    def objects(self) -> ConeObjects:
        """Every object in sight, without errors; for a sensor with `per_object`."""
        if not self._per_object:
            raise SpecError("objects is asked for; the sensor lists them only with per_object=True")
        return ConeObjects(self._sample.auxiliary[0], self._rig)

    def __repr__(self) -> str:
        if not self._rig.axes and not self.in_sight:
            return f"ConeReading(time_ns={self.time_ns}, nothing in sight)"
        return f"ConeReading(time_ns={self.time_ns}, range_m={self.range_m}, object_id={self.object_id})"

    def _beside(self, samples: Sequence[Sample], rows: int) -> Any:
        return None, Sighting.joined([sample.auxiliary[1] for sample in samples], rows)

    @property
    def _point(self) -> Float:
        return self._sample.x[:, cc.POINT : cc.POINT + 3]

    @property
    def _nearest(self) -> Sighting:
        nearest = self._sample.auxiliary[1]
        assert isinstance(nearest, Sighting)
        return nearest

    @property
    def _sees(self) -> NDArray[np.bool_]:
        return np.isfinite(self._sample.x[:, cc.RANGE])
