"""Faults of depth cameras: what they do to the ranges of pixels, and to those that see nothing."""

import numpy as np
from numpy.typing import NDArray

from sensorium.corruption import FaultSchedule
from sensorium.sensors.image_faults import ImageFaults
from sensorium.sensors.rig import Rig

TARGET = "range"
"""What faults call the ranges by."""

BEHIND_M = -1.0
"""What stands for all ranges behind the camera, nearer than any limit [m]."""

# Where a ray meets nothing faults find this multiple of the greatest range: a number that a filter or a frozen image
# can keep, and far enough to stay beyond that range where a fault changes it by some per cent
_FAR = 10.0


class DepthFaults:
    """A camera's schedule over the ranges of its pixels."""

    def __init__(self, rig: Rig, pixels: int, period_s: float, max_range_m: float, faults: FaultSchedule) -> None:
        """Begin healthy.

        Args:
            rig: Where the cameras sit.
            pixels: Of an image.
            period_s: Time between images [s].
            max_range_m: Greatest range that is measured [m].
            faults: Of the camera.
        """
        self._faults = ImageFaults(rig, pixels, period_s, faults, target=TARGET)
        self._max_range_m, self._far_m = max_range_m, _FAR * max_range_m

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Restart the masked worlds."""
        self._faults.restart(mask)

    def apply(self, range_m: NDArray[np.float32], time_ns: int) -> NDArray[np.float32]:
        """Ranges with what is wrong at a time.

        Args:
            range_m: Infinite where nothing is met, 0 where there is no measurement [m], shape (heads, pixels).
            time_ns: When the image was complete [ns].

        Returns:
            New ones: 0 where there is no measurement, below 0 where it is nearer than any limit, infinite where faults
            carry it to the greatest range or farther.
        """
        # To faults what is missing is no number, which noise leaves alone and a frozen image keeps
        healthy = np.where(np.isfinite(range_m), range_m, self._far_m).astype(np.float64)
        healthy[range_m == 0.0] = np.nan
        x = healthy.copy()
        self._faults.apply(x, time_ns)
        struck = x != healthy
        x[struck & (x >= self._max_range_m)] = np.inf
        return np.nan_to_num(np.maximum(x, BEHIND_M), nan=0.0, posinf=np.inf).astype(np.float32)
