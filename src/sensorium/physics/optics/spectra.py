"""Quantities that depend on wavelength: tabulated spectra, and the check every wavelength passes."""

import itertools
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec

# From the far ultraviolet to the far infrared; a wavelength outside is a slip of units.
MIN_WAVELENGTH_M = 1e-7
MAX_WAVELENGTH_M = 1e-4

# A wavelength this close (relative) to the end of a table is on it: 1550 * 1e-9 is not 1550e-9.
_ROUNDING = 1e-9


class Spectrum(Spec):
    """A quantity tabulated over wavelength, interpolated linearly, not defined outside of its table.

    Written as pairs or as two columns: `((532e-9, 0.07), (905e-9, 0.106))` wherever a spectrum is expected, or
    `Spectrum(wavelength_m=(532e-9, 905e-9), value=(0.07, 0.106))`.
    """

    model_config = ConfigDict(frozen=True)

    wavelength_m: tuple[float, ...]
    """Wavelengths in vacuum [m], increasing, at least one."""
    value: tuple[float, ...]
    """The quantity at each of them, not negative; its unit is the user's."""

    @model_validator(mode="before")
    @classmethod
    def _from_pairs(cls, data: Any) -> Any:
        if not isinstance(data, (tuple, list)):
            return data
        if not data or any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in data):
            raise ValueError(f"{data!r} is no spectrum; it must be pairs (wavelength_m, value)")
        wavelength_m, value = zip(*data, strict=True)
        return {"wavelength_m": wavelength_m, "value": value}

    @model_validator(mode="after")
    def _check(self) -> "Spectrum":
        count = len(self.wavelength_m)
        if count == 0 or len(self.value) != count:
            raise ValueError(f"{count} wavelengths and {len(self.value)} values; it needs one value per wavelength")
        for wavelength_m in self.wavelength_m:
            checked_wavelength(wavelength_m)
        if any(high <= low for low, high in itertools.pairwise(self.wavelength_m)):
            raise ValueError(f"wavelength_m is {self.wavelength_m}; it must increase")
        if min(self.value) < 0.0:
            raise ValueError(f"a value is {min(self.value)}; it must not be negative")
        return self

    def at(self, wavelength_m: float, name: str = "spectrum") -> float:
        """The value at one wavelength, by linear interpolation.

        Args:
            wavelength_m: Wavelength in vacuum [m].
            name: Name of the quantity, for the error outside its range.
        """
        low, high = self.wavelength_m[0], self.wavelength_m[-1]
        if not low * (1.0 - _ROUNDING) <= wavelength_m <= high * (1.0 + _ROUNDING):
            raise SpecError(
                f"{name} is asked for at {wavelength_m * 1e9:g} nm; its spectrum covers "
                f"{low * 1e9:g} to {high * 1e9:g} nm"
            )
        return float(np.interp(wavelength_m, self.wavelength_m, self.value))

    def integral(self, low_m: float, high_m: float) -> float:
        """Integral over wavelength between two limits inside the table, exact for the linear interpolation.

        Returns:
            The unit of the value times meters.
        """
        ends = self.at(low_m), self.at(high_m)
        wavelength_m, value = np.array(self.wavelength_m), np.array(self.value)
        inside = (wavelength_m > low_m) & (wavelength_m < high_m)
        x = np.concatenate([[low_m], wavelength_m[inside], [high_m]])
        y = np.concatenate([[ends[0]], value[inside], [ends[1]]])
        return float(np.trapezoid(y, x))


def _form(value: Any) -> str:
    """Which way a quantity is written, so that an error speaks of that one only."""
    return "spectrum" if isinstance(value, (Spectrum, dict, tuple, list)) else "number"


PositiveOverWavelength = Annotated[
    Annotated[float, Field(gt=0.0), Tag("number")] | Annotated[Spectrum, Tag("spectrum")], Discriminator(_form)
]
"""A positive number, or a spectrum."""

NonNegativeOverWavelength = Annotated[
    Annotated[float, Field(ge=0.0), Tag("number")] | Annotated[Spectrum, Tag("spectrum")], Discriminator(_form)
]
"""A number that is not negative, or a spectrum."""


def checked_wavelength(wavelength_m: float) -> float:
    """A wavelength in vacuum [m] unchanged, or a `SpecError` if it is implausible."""
    if not MIN_WAVELENGTH_M <= wavelength_m <= MAX_WAVELENGTH_M:
        raise SpecError(
            f"wavelength_m is {wavelength_m}; it must be between {MIN_WAVELENGTH_M} and {MAX_WAVELENGTH_M} meters"
        )
    return wavelength_m


def constant_or_at(quantity: float | Spectrum, wavelength_m: float, name: str) -> float:
    """A quantity given as one number or as a spectrum, at one wavelength [m]."""
    return quantity.at(wavelength_m, name) if isinstance(quantity, Spectrum) else float(quantity)


def extremes(quantity: float | Spectrum) -> tuple[float, float]:
    """Smallest and largest value that a number or a spectrum takes."""
    return (min(quantity.value), max(quantity.value)) if isinstance(quantity, Spectrum) else (quantity, quantity)
