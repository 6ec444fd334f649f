"""The rays and mounts of one interval, independent of the scene."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.tracing.kernels.sweep import Heads, RayTables, SweepAim


class Aim(NamedTuple):
    """Rays and mounts of one interval, independent of the scene."""

    rays: RayTables
    heads: Heads
    anchor: NDArray[np.float64]
    """Of each world [m], shape (worlds, 3)."""
    blocks: int
    """Blocks of rays over all heads."""
    knot_ns: NDArray[np.int64]
    X_WS: Pose
    """True poses of the sensors at the knots, batch shape (knots, worlds, sensors)."""

    @property
    def for_kernel(self) -> SweepAim:
        """The part that kernels take."""
        return SweepAim(*self[:3])
