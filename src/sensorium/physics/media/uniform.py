"""A medium given by its coefficients, and vacuum."""

from typing import Annotated, Literal

from pydantic import Field

from sensorium.physics.media.base import AbstractMedium, MediumParameters, Positive, Probability, RefractiveIndex
from sensorium.physics.optics.spectra import NonNegativeOverWavelength, constant_or_at


class Uniform(AbstractMedium):
    """A medium whose numbers are known: the four of the AGX Sensor paper and the refractive index."""

    kind: Literal["uniform"] = "uniform"
    refractive_index: RefractiveIndex = 1.0
    """Real refractive index [1]."""
    extinction_per_m: NonNegativeOverWavelength = 0.0
    """Extinction, absorption and scattering together [1/m], not negative; a number or a spectrum."""
    backscatter_per_m_sr: Annotated[float, Field(ge=0.0)] = 0.0
    """Backscatter coefficient [1/(m sr)]."""
    gamma_shape: Positive = 9.5
    """Shape k of the law of return distances [1]."""
    gamma_scale_m: Positive = 0.52
    """Scale theta of that law [m]."""
    gamma_probability: Probability = 0.0
    """Share of rays that return from the medium in an endless path [1]; 0 is none."""

    def at(self, wavelength_m: float) -> MediumParameters:
        """The medium at a wavelength in vacuum [m]."""
        return MediumParameters(
            refractive_index=self.refractive_index,
            extinction_per_m=constant_or_at(self.extinction_per_m, wavelength_m, "extinction_per_m"),
            backscatter_per_m_sr=self.backscatter_per_m_sr,
            gamma_shape=self.gamma_shape,
            gamma_scale_m=self.gamma_scale_m,
            gamma_probability=self.gamma_probability,
        )


def vacuum() -> Uniform:
    """Vacuum: index 1, no extinction, no returns."""
    return Uniform()
