"""Faults of depth cameras: changes to the ranges of pixels, including pixels without a hit."""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.corruption import FaultSchedule
from sensorium.runtime import jit, worker_pool
from sensorium.runtime.recycling import Recycler
from sensorium.sensors.camera.image_faults import ImageFaults
from sensorium.sensors.common.held import Arrays
from sensorium.sensors.common.spec import Rig

TARGET = "range"
"""Name of the ranges in faults."""

BEHIND_M = -1.0
"""Stand-in for all ranges behind the camera, below any limit [m]."""

# Faults see this multiple of the greatest range where a ray hits nothing: a finite number that a filter or a frozen
# image can keep, and large enough to stay beyond that range when a fault changes it by a few per cent
_FAR = 10.0


class DepthFaults:
    """A camera's schedule over the ranges of its pixels."""

    def __init__(self, rig: Rig, pixels: int, period_s: float, max_range_m: float, faults: FaultSchedule) -> None:
        """Begin healthy.

        Args:
            rig: Mounts of the cameras.
            pixels: Of an image.
            period_s: Time between images [s].
            max_range_m: Greatest range that is measured [m].
            faults: Of the camera.
        """
        self._faults = ImageFaults(rig, pixels, period_s, faults, target=TARGET)
        self._max_range_m, self._far_m = float(max_range_m), float(_FAR * max_range_m)
        self._recycler = Recycler()

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Restart the masked worlds."""
        self._faults.restart(mask)

    def apply(self, range_m: NDArray[np.float32], time_ns: int) -> NDArray[np.float32]:
        """Ranges with the faults at a time.

        Args:
            range_m: Infinite where nothing is met, 0 where there is no measurement [m], shape (heads, pixels).
            time_ns: When the image was complete [ns].

        Returns:
            New ones: 0 where there is no measurement, below 0 where it is nearer than any limit, infinite where faults
            carry it to the greatest range or farther.
        """
        x, out = self._recycler.array(range_m.shape, np.float64), self._recycler.array(range_m.shape, np.float32)
        worker_pool.run(_to_signal, len(range_m), range_m, self._far_m, x)
        self._faults.apply(x, time_ns)
        worker_pool.run(_from_signal, len(range_m), range_m, self._far_m, self._max_range_m, x, out)
        return out

    def with_held(self, current: Arrays) -> Arrays:
        """What belongs to the pixels of the last image; see `ImageFaults.with_held`."""
        return self._faults.with_held(current)


@jit.function
def _as_signal(range_m: float, far_m: float) -> float:
    """Ranges as input to faults: missing ones are NaN, which noise leaves unchanged and a frozen image keeps."""
    if range_m == 0.0:
        return np.nan
    return far_m if math.isinf(range_m) else range_m


@jit.kernel
def _to_signal(
    first: int, step: int, count: int, range_m: NDArray[np.float32], far_m: float, x: NDArray[np.float64]
) -> None:
    """Write a share of the images into x as input to faults."""
    for head in range(first, count, step):
        for k in range(range_m.shape[1]):
            x[head, k] = _as_signal(range_m[head, k], far_m)


@jit.kernel
def _from_signal(
    first: int,
    step: int,
    count: int,
    range_m: NDArray[np.float32],
    far_m: float,
    max_range_m: float,
    x: NDArray[np.float64],
    out: NDArray[np.float32],
) -> None:
    """Write ranges from the faults' output; those at the greatest range or beyond become infinite."""
    for head in range(first, count, step):
        for k in range(range_m.shape[1]):
            value = x[head, k]
            if math.isnan(value):
                out[head, k] = 0.0
            elif value >= max_range_m and value != _as_signal(range_m[head, k], far_m):
                out[head, k] = np.inf
            else:
                out[head, k] = max(value, BEHIND_M)
