"""Emission of black bodies in bands, as a table over the temperatures of a scene.

ln L over ln T is nearly straight. With x = h c / (lambda k_B T) its second derivative is -x in Wien's limit and 0 in
that of Rayleigh and Jeans, and a band adds the variance of x over it; linear between entries d apart, ln L is off by
d^2 / 8 of that. Entries 0.004 apart keep radiances to 1e-4 for x up to 50, and to a tenth of that at room temperature
in the far infrared.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.imaging.bands import Band, thermal_radiance

# Between the logarithms of two temperatures
_STEP = 0.004

# Below this, emission in the bands of the infrared is negligible [K]
_COLDEST_K = 1.0

# Logarithm of zero: kernels take its exponential for 0
NOTHING = -100.0


class EmissionTable(NamedTuple):
    """Radiance over temperature, both as logarithms."""

    log_radiance: NDArray[np.float32]
    """ln of W/m^2/sr, shape (bands, temperatures); NOTHING for bands that are not thermal."""
    first: float
    """ln of the first temperature in kelvin."""
    per_step: float
    """Entries for each unit of that."""


def emission_table(bands: Sequence[Band], coldest_k: float, hottest_k: float) -> EmissionTable:
    """Tabulate the emission of black bodies of some temperatures.

    Args:
        bands: The bands, at least one of them thermal.
        coldest_k: Lowest temperature [K]; below 1 K as at 1 K.
        hottest_k: Highest temperature [K].
    """
    first, last = (math.log(max(kelvin, _COLDEST_K)) for kelvin in (coldest_k, hottest_k))
    steps = max(1, math.ceil((last - first) / _STEP))
    log_kelvin = first + _STEP * np.arange(steps + 1)
    log_radiance = np.full((len(bands), steps + 1), NOTHING, np.float32)
    for number, band in enumerate(bands):
        if band.thermal:
            radiance = [thermal_radiance(band, math.exp(one)) for one in log_kelvin]
            log_radiance[number] = [max(math.log(one), NOTHING) if one > 0.0 else NOTHING for one in radiance]
    return EmissionTable(log_radiance, first, 1.0 / _STEP)
