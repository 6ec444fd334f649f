"""Airborne dust of a given concentration."""

from typing import Annotated, Literal

from pydantic import Field

from sensorium.physics.media.base import AbstractScatterer, MediumParameters, Positive
from sensorium.physics.optics.spectra import checked_wavelength

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
