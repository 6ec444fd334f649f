"""Diffuse reflectance: a number, a spectrum, bands, or the name of a mesh property."""

import itertools
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.physics.materials.row import C_FROM_MESH
from sensorium.physics.optics.spectra import Spectrum, checked_wavelength


class Bands(Spec):
    """One reflectance for each of several wavelength bands, constant inside a band, not defined outside."""

    model_config = ConfigDict(frozen=True)

    limits_m: tuple[tuple[float, float], ...] = Field(min_length=1)
    """Lower and upper wavelength of each band [m]; bands must not overlap. The upper limit is outside."""
    value: tuple[Annotated[float, Field(ge=0.0, le=1.0)], ...]
    """Reflectance of each band [1]."""

    @model_validator(mode="after")
    def _check(self) -> "Bands":
        if len(self.value) != len(self.limits_m):
            raise ValueError(f"{len(self.limits_m)} bands and {len(self.value)} values; it needs one value per band")
        for low, high in self.limits_m:
            if checked_wavelength(low) >= checked_wavelength(high):
                raise ValueError(f"a band runs from {low} to {high} m; its limits must increase")
        ordered = sorted(self.limits_m)
        for (_, end), (start, _) in itertools.pairwise(ordered):
            if start < end:
                raise ValueError(f"a band starts at {start} m before another ends at {end} m; they must not overlap")
        return self

    def at(self, wavelength_m: float) -> float:
        """Reflectance of the band that holds this wavelength [m]."""
        for (low, high), value in zip(self.limits_m, self.value, strict=True):
            if low <= wavelength_m < high:
                return value
        bands = ", ".join(f"{low * 1e9:g} to {high * 1e9:g}" for low, high in self.limits_m)
        raise SpecError(f"reflectance is asked for at {wavelength_m * 1e9:g} nm; its bands cover {bands} nm")


def _form(value: Any) -> str:
    """Which way a reflectance is written, so that an error speaks of that one only."""
    if isinstance(value, str):
        return "property"
    if isinstance(value, Bands) or (isinstance(value, dict) and "limits_m" in value):
        return "bands"
    return "spectrum" if isinstance(value, (Spectrum, dict, tuple, list)) else "number"


def _at_most_one(spectrum: Spectrum) -> Spectrum:
    if max(spectrum.value) > 1.0:
        raise ValueError(f"reflectance is {max(spectrum.value)}; it must be between 0 and 1")
    return spectrum


OwnReflectance = Annotated[
    Annotated[float, Field(ge=0.0, le=1.0), Tag("number")]
    | Annotated[Spectrum, AfterValidator(_at_most_one), Tag("spectrum")]
    | Annotated[Bands, Tag("bands")],
    Discriminator(_form),
]
"""Reflectance [1] that the material itself says."""

Reflectance = Annotated[
    Annotated[float, Field(ge=0.0, le=1.0), Tag("number")]
    | Annotated[str, Field(min_length=1), Tag("property")]
    | Annotated[Spectrum, AfterValidator(_at_most_one), Tag("spectrum")]
    | Annotated[Bands, Tag("bands")],
    Discriminator(_form),
]
"""Reflectance [1]: a number, pairs (wavelength_m, value), `Bands`, or the name of a face or vertex property."""


def reflectance_at(reflectance: float | str | Spectrum | Bands, wavelength_m: float) -> float:
    """Reflectance at a wavelength [m]; `C_FROM_MESH` where the mesh holds it."""
    if isinstance(reflectance, str):
        return C_FROM_MESH
    if isinstance(reflectance, Spectrum):
        return reflectance.at(wavelength_m, "reflectance")
    return reflectance.at(wavelength_m) if isinstance(reflectance, Bands) else float(reflectance)


def largest_reflectance(reflectance: float | str | Spectrum | Bands) -> float:
    """The largest value a reflectance takes; 0 if the mesh provides it."""
    if isinstance(reflectance, str):
        return 0.0
    return float(reflectance) if isinstance(reflectance, (int, float)) else max(reflectance.value)
