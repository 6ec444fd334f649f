"""Which rays of a lidar that follows light end on a surface that is too near to be reported."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sensorium.patterns import RayTable
from sensorium.random import stream_key
from sensorium.sensors.common.firing import Aim, Shot
from sensorium.sensors.common.rig import Rig
from sensorium.sensors.lidar.range_limits import ABOVE_ZERO, fill_errors, has_errors, near_limits
from sensorium.sensors.lidar.sweep_caster import SweepCaster
from sensorium.tracing.kernels.geometry.ray_errors import RAY_NUMBERS, RayErrors
from sensorium.tracing.partitioned.messages import Bodies
from sensorium.tracing.partitioned.tracer import PartsTracer

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar


class NearSurfaces:
    """Fires rays of the least range's length, with the errors that a geometric lidar would have.

    Errors come from the same random numbers as those of light, so that noise takes a surface below the least range here
    where it does so there.
    """

    def __init__(self, spec: "Lidar", rig: Rig) -> None:
        self._rig, self._caster = rig, SweepCaster(rig, 0.0, spec.min_range_m, in_world=False)
        self._key = np.array(stream_key(rig.seed, rig.name), np.uint32)
        self._number: NDArray[np.float32] | None = None
        if has_errors(spec.noise):
            self._number = np.zeros(RAY_NUMBERS, np.float32)
            fill_errors(self._number, spec.noise, near_limits(spec))
        self._least_m = np.float32(max(spec.min_range_m, ABOVE_ZERO))

    def found(
        self,
        shot: Shot | Aim,
        table: RayTable,
        start_ns: int,
        end_ns: int,
        tick: int,
        parts: PartsTracer | None = None,
        motion: Sequence[Bodies] = (),
    ) -> NDArray[np.bool_]:
        """Where the first surface is reported nearer than the least range, of the shape of a scan of one return.

        Args:
            shot: What was fired; an `Aim` into a scene in parts.
            table, start_ns, end_ns, tick: As it was fired.
            parts: The scene in parts, where it lies in parts.
            motion: How the bodies moved there, by world.
        """
        errors = None
        if self._number is not None:
            errors = RayErrors(self._number, self._key, tick, self._rig.first_world, self._rig.sensors)
        if isinstance(shot, Shot):
            scan = self._caster.fire(shot, table, start_ns, end_ns, errors)
        else:
            assert parts is not None
            scan = self._caster.fire_into_parts(parts, shot, motion, table, start_ns, end_ns, errors)
        return (scan.object_id >= 0) & (scan.range_m < self._least_m)  # noise may take ranges below 0
