"""Rain of a given rate."""

from typing import Annotated, Literal

from pydantic import Field

from sensorium.physics.media.base import AbstractScatterer, MediumParameters
from sensorium.physics.optics.spectra import checked_wavelength

# Marshall-Palmer drops N(D) = 8000 exp(-4.1 R^-0.21 D) [1/(m^3 mm)], D in mm and R in mm/h
DROPS_PER_M3_MM = 8000.0
SLOPE_PER_MM = 4.1
SLOPE_EXPONENT = -0.21

# alpha = a R^b [1/m], R in mm/h. The first is the drops above with extinction efficiency 2, rounded as LOWTRAN 7 does;
# the second Carbonneau's fit, 1.076 R^0.67 dB/km.
_LAWS = {"marshall_palmer": (3.65e-4, 0.63), "carbonneau": (2.478e-4, 0.67)}


class Rain(AbstractScatterer):
    """Rain: alpha = 3.65e-4 R^0.63 1/m, the same at all lidar wavelengths, as drops are far larger.

    Drops scatter half of the light they remove from a beam into a cone of a milliradian, of which a wide receiver keeps
    a part; that is not counted.
    """

    kind: Literal["rain"] = "rain"
    rate_mm_h: Annotated[float, Field(ge=0.0)]
    """Rainfall R [mm/h]; 2.5 is light, 10 moderate, 50 violent."""
    law: Literal["marshall_palmer", "carbonneau"] = "marshall_palmer"
    """Extinction from the drop sizes of Marshall and Palmer, or Carbonneau's fit (2.478e-4 R^0.67)."""

    def at(self, wavelength_m: float) -> MediumParameters:
        """The medium at a wavelength in vacuum [m]."""
        checked_wavelength(wavelength_m)
        factor, exponent = _LAWS[self.law]
        return self._parameters(factor * self.rate_mm_h**exponent)

    @property
    def drop_density_per_m3(self) -> float:
        """Number of drops in a volume [1/m^3]: the integral of N(D), N0 / Lambda; 0 without rain."""
        if self.rate_mm_h == 0.0:
            return 0.0
        return DROPS_PER_M3_MM / (SLOPE_PER_MM * self.rate_mm_h**SLOPE_EXPONENT)
