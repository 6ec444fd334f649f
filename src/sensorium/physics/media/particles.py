"""Clear air, and fog, dust and snow in it: extinction by visibility or density of what floats."""

import math
from typing import Annotated, Literal

from pydantic import Field

from sensorium.core.errors import SpecError
from sensorium.physics.media.base import (
    AIR_INDEX,
    DROPLET_LIDAR_RATIO_SR,
    AbstractMedium,
    AbstractScatterer,
    MediumParameters,
    Positive,
    RefractiveIndex,
)
from sensorium.physics.optics.spectra import checked_wavelength


class Fog(AbstractScatterer):
    """Fog of a given visibility: alpha = 2.9957 / V (lambda / 550 nm)^-q, q after Kim, backscatter alpha / 20.

    Fog tables that give backscatter as 0.046 / V (Rasshofer et al. 2011) mean a lidar ratio of 65.1 sr.

    >>> fog = sn.media.fog(visibility_m=50.0)
    >>> beam = np.exp(-50.0 * fog.at(905e-9).extinction_per_m)
    >>> beam.round(3).item()  # visibility is where 5 % are left
    0.05
    """

    kind: Literal["fog"] = "fog"
    visibility_m: Positive
    """Meteorological optical range V (5 % contrast) [m]."""

    def at(self, wavelength_m: float) -> MediumParameters:
        """The medium at a wavelength in vacuum [m]."""
        return self._parameters(visibility_extinction(self.visibility_m, wavelength_m))


# Extinction efficiency of grains larger than the wavelength
_EFFICIENCY = 2.0


class Dust(AbstractScatterer):
    """Dust by mass extinction: alpha = 3 Q C / (4 rho r) with Q = 2, for equal spheres.

    There is no usual dust, so the grains have no defaults. Grains smaller than the wavelength need another Q.
    """

    kind: Literal["dust"] = "dust"
    concentration_kg_m3: Annotated[float, Field(ge=0.0)]
    """Mass of grains in a volume of air C [kg/m^3]."""
    grain_density_kg_m3: Positive
    """Density rho of the grains' substance [kg/m^3]; quartz has 2650."""
    grain_radius_m: Positive
    """Radius r of a grain [m], of the mean volume over mean surface where sizes vary."""

    def at(self, wavelength_m: float) -> MediumParameters:
        """The medium at a wavelength in vacuum [m]."""
        checked_wavelength(wavelength_m)
        area_per_kg = 3.0 / (4.0 * self.grain_density_kg_m3 * self.grain_radius_m)
        return self._parameters(_EFFICIENCY * self.concentration_kg_m3 * area_per_kg)


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


class Air(AbstractMedium):
    """Air one can see far in: extinction from visibility and wavelength, no returns from the air itself.

    (At 7.4 km visibility Algoryx' plugins let one ray in 60,000 return from the air; we let none.)
    """

    kind: Literal["air"] = "air"
    visibility_m: Positive = 23_000.0
    """Meteorological optical range (5 % contrast) [m]; 23 km is the standard clear day."""
    refractive_index: RefractiveIndex = AIR_INDEX
    """Real refractive index [1]."""
    lidar_ratio_sr: Positive = DROPLET_LIDAR_RATIO_SR
    """Extinction over backscatter [sr]; haze has 20 to 70."""

    def at(self, wavelength_m: float) -> MediumParameters:
        """The medium at a wavelength in vacuum [m]."""
        extinction_per_m = visibility_extinction(self.visibility_m, wavelength_m)
        return MediumParameters(
            refractive_index=self.refractive_index,
            extinction_per_m=extinction_per_m,
            backscatter_per_m_sr=extinction_per_m / self.lidar_ratio_sr,
        )


# Contrast at the meteorological optical range is 5 %: alpha V = -ln 0.05.
VISIBILITY_CONTRAST = 0.05

_REFERENCE_WAVELENGTH_M = 550e-9


def kim_exponent(visibility_m: float) -> float:
    """Exponent q of extinction with wavelength, alpha ~ lambda^-q [1] (Kim, McArthur and Korevaar 2001).

    1.6 beyond 50 km, 1.3 down to 6 km, 0.16 V + 0.34 to 1 km, V - 0.5 to 500 m (V in km), 0 below: the droplets of
    dense fog are larger than the wavelengths, and scatter them all equally. The law jumps at 50 km (1.6 to 1.3).
    """
    km = visibility_m / 1000.0
    if km > 50.0:
        return 1.6
    if km > 6.0:
        return 1.3
    if km > 1.0:
        return 0.16 * km + 0.34
    return max(km - 0.5, 0.0)


def visibility_extinction(visibility_m: float, wavelength_m: float) -> float:
    """Extinction of air of a given visibility [1/m].

    alpha = -ln(0.05) / V (lambda / 550 nm)^-q = 2.9957 / V ..., q after Kim. V is the meteorological optical range;
    older texts define visibility by 2 % contrast, 3.912 / V.

    Args:
        visibility_m: Meteorological optical range V [m].
        wavelength_m: Wavelength in vacuum [m].
    """
    if not (visibility_m > 0.0 and math.isfinite(visibility_m)):
        raise SpecError(f"visibility_m is {visibility_m}; it must be finite and positive")
    ratio = checked_wavelength(wavelength_m) / _REFERENCE_WAVELENGTH_M
    return -math.log(VISIBILITY_CONTRAST) / visibility_m * ratio ** -kim_exponent(visibility_m)
