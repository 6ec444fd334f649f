"""Faults of depth cameras: what they do to the ranges of pixels, and to those that see nothing."""

import numpy as np
from numpy.typing import NDArray

from sensorium.corruption import FaultSchedule
from sensorium.sensors.image_faults import ImageFaults
from sensorium.sensors.rig import Rig

TARGET = "range"
"""What faults call the ranges by."""

# Where a ray meets nothing faults find this multiple of the greatest range: a number that a filter or a frozen image
# can keep, and far enough to stay beyond that range whatever a fault of some per cent adds
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
        self._far_m = _FAR * max_range_m

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Restart the masked worlds."""
        self._faults.restart(mask)

    def apply(self, range_m: NDArray[np.float32], time_ns: int) -> NDArray[np.float32]:
        """Ranges with what is wrong at a time.

        Args:
            range_m: Infinite where nothing is met, 0 where there is no measurement [m], shape (heads, pixels).
            time_ns: When the image began [ns].

        Returns:
            New ones; 0 where faults leave none that is positive.
        """
        x = np.where(np.isfinite(range_m), range_m, self._far_m).astype(np.float64)
        self._faults.apply(x, time_ns)
        return np.where(x > 0.0, x, 0.0).astype(np.float32)
