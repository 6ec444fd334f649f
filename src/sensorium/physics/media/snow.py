"""Falling snow of a given rate."""

import math
from typing import Annotated, Literal

from pydantic import Field

from sensorium.physics.media.base import AbstractScatterer, MediumParameters
from sensorium.physics.optics.spectra import checked_wavelength

# Attenuation [dB/km] = (slope lambda_nm + offset) S^exponent, ITU-R P.1817
_DRY = (5.42e-5, 5.4958776, 1.38)
_WET = (1.023e-4, 3.7855466, 0.72)

# One neper of power is 10 log10(e) dB, and a kilometer 1000 m.
_DB_PER_KM = 1e4 * math.log10(math.e)


class Snow(AbstractScatterer):
    """Snowfall: a S^b dB/km, with a and b of dry or wet flakes after ITU-R P.1817.

    The Recommendation does not say whether S is the depth of snow or of its melt water; published measurements
    differ from each other by a factor of three to ten.
    """

    kind: Literal["snow"] = "snow"
    rate_mm_h: Annotated[float, Field(ge=0.0)]
    """Snowfall rate S [mm/h]."""
    wet: bool = False
    """Wet flakes, near the melting point, take out less at high rates."""

    def at(self, wavelength_m: float) -> MediumParameters:
        """The medium at a wavelength in vacuum [m]."""
        slope, offset, exponent = _WET if self.wet else _DRY
        factor = slope * checked_wavelength(wavelength_m) * 1e9 + offset
        return self._parameters(factor * self.rate_mm_h**exponent / _DB_PER_KM)
