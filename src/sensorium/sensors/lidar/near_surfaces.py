"""Rays of a lidar that follows light which end on a surface below the least range."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sensorium.patterns import RayTable
from sensorium.random import stream_key
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.lidar.range_limits import ABOVE_ZERO, fill_errors, has_errors, near_limits
from sensorium.sensors.lidar.sweep_caster import SweepCaster
from sensorium.tracing.aim import Aim
from sensorium.tracing.kernels.geometry.ray_errors import RAY_NUMBERS, RayErrors
from sensorium.tracing.scene_backend import Placement

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar


class NearSurfaces:
    """Casts rays as long as the least range, with the errors of a geometric lidar.

    Errors use the same random numbers as the light cast, so noise moves the same surfaces below the least range in
    both; parts of the noise that depend on light are left out here.
    """

    def __init__(self, spec: "Lidar", rig: Rig) -> None:
        self._rig, self._caster = rig, SweepCaster(rig, 0.0, spec.min_range_m, in_world=False)
        self._key = np.array(stream_key(rig.seed, rig.name), np.uint32)
        self._number: NDArray[np.float32] | None = None
        self._by_range = spec.noise.range_table()
        if has_errors(spec.noise):
            self._number = np.zeros(RAY_NUMBERS, np.float32)
            fill_errors(self._number, spec.noise, near_limits(spec))
        self._least_m = np.float32(max(spec.min_range_m, ABOVE_ZERO))

    def found(
        self, placement: Placement, aim: Aim, table: RayTable, start_ns: int, end_ns: int, tick: int
    ) -> NDArray[np.bool_]:
        """Where the first surface is reported nearer than the least range, of the shape of a scan of one return.

        Args:
            placement: The scene that light was cast into.
            aim: The rays that were cast.
            table, start_ns, end_ns, tick: As in that cast.
        """
        errors = None
        if self._number is not None:
            errors = RayErrors(self._number, self._by_range, self._key, tick, self._rig.first_world, self._rig.sensors)
        scan = self._caster.fire(placement, aim, table, start_ns, end_ns, errors)
        return (scan.object_id >= 0) & (scan.range_m < self._least_m)  # noise may make ranges negative
