"""Received samples of a waveform lidar."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sensorium.core.constants import SPEED_OF_LIGHT_M_S


@dataclass(frozen=True, eq=False)
class Waveforms:
    """Samples of every pulse of a scan."""

    samples: NDArray[np.float32]
    """Power at the detector times the gain [W], background included, shape (*batch, channels, columns, bins)."""
    start_s: float
    """Start of the first bin after the pulse has left [s]."""
    resolution_s: float
    """Length of a bin [s]."""
    index: float = 1.0
    """Refractive index that converts times to ranges [1]."""

    @property
    def time_s(self) -> NDArray[np.float64]:
        """Middle of each bin after the pulse has left [s], shape (bins,)."""
        bins = np.arange(self.samples.shape[-1], dtype=np.float64)
        return self.start_s + (bins + 0.5) * self.resolution_s

    @property
    def range_m(self) -> NDArray[np.float64]:
        """Range from which light arrives in the middle of each bin [m], shape (bins,)."""
        return self.time_s * (SPEED_OF_LIGHT_M_S / (2.0 * self.index))

    def without(self, at: NDArray[np.bool_]) -> "Waveforms":
        """The same without the pulses where a mask is true; it broadcasts to the shape of the pulses."""
        return replace(self, samples=np.where(at[..., None], np.float32(0.0), self.samples))
