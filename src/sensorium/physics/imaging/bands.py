"""Spectral bands of a camera: filter times response, integrated over the spectrum of the light.

    B_j = int S(lambda) F_j(lambda) Q(lambda) dlambda

Where F Q is a quantum efficiency, B_j is the power that counts: divided by the energy h c / lambda of a photon at the
band's effective wavelength it is electrons a second. That wavelength is the mean over S F Q, so that light of spectrum
S gives the exact number.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, model_validator

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.physics.fields.blackbody import spectral_share
from sensorium.physics.optics.spectra import Spectrum

MAX_BANDS = 6
"""Most bands of one camera, as in the paper."""

_STEFAN_BOLTZMANN_W_M2_K4 = 5.670374419e-8

# Points of the integrals: 1 nm over the visible
_POINTS = 401

Light = Callable[[float], float]
"""A spectral density over wavelength [m]."""


class Band(Spec):
    """One band: its spectral sensitivity."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1)
    """Of the band, such as "red"; readings and errors call it so."""
    filter: Spectrum
    """Filter function F [1], 0 outside of its table; with the response in one where data sheets give one curve."""
    response: Spectrum | None = None
    """Spectral response Q [1], such as a quantum efficiency; None is 1."""
    column: int | None = Field(default=None, ge=0)
    """Column of mesh properties that have one for each band; None is the band's own number."""
    thermal: bool = False
    """Whether it sees thermal emission of surfaces."""

    @model_validator(mode="after")
    def _check(self) -> "Band":
        low, high = self.limits_m
        if low >= high:
            raise ValueError(f"filter and response of band {self.name!r} do not overlap; no light would count")
        if max(self.filter.value) > 1.0 or (self.response is not None and max(self.response.value) > 1.0):
            raise ValueError(f"a value of band {self.name!r} is above 1; filter and response are shares of the light")
        return self

    @property
    def limits_m(self) -> tuple[float, float]:
        """Shortest and longest wavelength that counts [m]."""
        tables = [self.filter] if self.response is None else [self.filter, self.response]
        return max(table.wavelength_m[0] for table in tables), min(table.wavelength_m[-1] for table in tables)

    def wavelengths_m(self) -> NDArray[np.float64]:
        """Wavelengths of integrals over the band [m]: evenly spaced, and every point of its tables."""
        low, high = self.limits_m
        tables = (self.filter.wavelength_m, () if self.response is None else self.response.wavelength_m)
        points = np.concatenate([np.linspace(low, high, _POINTS), *(np.array(table) for table in tables)])
        return np.unique(points[(points >= low) & (points <= high)])

    def sensitivity(self, wavelength_m: NDArray[np.float64]) -> NDArray[np.float64]:
        """F Q [1] at wavelengths within the limits [m]."""
        value = np.interp(wavelength_m, self.filter.wavelength_m, self.filter.value)
        if self.response is not None:
            value = value * np.interp(wavelength_m, self.response.wavelength_m, self.response.value)
        return value


def band_value(light: Light, band: Band) -> float:
    """Integral of light, filter and response [unit of the light times m].

    Args:
        light: Spectral density at a wavelength [m].
        band: The band.
    """
    wavelength_m, weighted = _weighted(light, band)
    return float(np.trapezoid(weighted, wavelength_m))


def effective_wavelength(light: Light, band: Band) -> float:
    """Mean wavelength of the light that counts [m]; in darkness that of white light."""
    wavelength_m, weighted = _weighted(light, band)
    if not weighted.any():
        weighted = band.sensitivity(wavelength_m)
    if not weighted.any():
        raise SpecError(f"filter times response of band {band.name!r} is 0 everywhere; it must be above 0 somewhere")
    return float(np.trapezoid(weighted * wavelength_m, wavelength_m) / np.trapezoid(weighted, wavelength_m))


def thermal_radiance(band: Band, temperature_k: float) -> float:
    """Radiance of a black body that counts in a band [W/m^2/sr], by Planck's law.

    Args:
        band: The band.
        temperature_k: Of the body [K], above 0.
    """
    if not temperature_k > 0.0:
        raise SpecError(f"temperature_k is {temperature_k}; it must be above 0")
    total = _STEFAN_BOLTZMANN_W_M2_K4 * temperature_k**4 / math.pi
    return total * band_value(lambda wavelength_m: spectral_share(wavelength_m, temperature_k), band)


def _weighted(light: Light, band: Band) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wavelengths [m], and S F Q there."""
    wavelength_m = band.wavelengths_m()
    density = np.array([light(float(one)) for one in wavelength_m])
    return wavelength_m, density * band.sensitivity(wavelength_m)
