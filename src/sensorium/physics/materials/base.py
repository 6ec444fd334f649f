"""The interface of surface materials: one row of numbers at a wavelength."""

import abc
import itertools
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.physics.materials.row import C_FROM_MESH
from sensorium.physics.optics.spectra import (
    NonNegativeOverWavelength,
    PositiveOverWavelength,
    Spectrum,
    checked_wavelength,
    constant_or_at,
    extremes,
)


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


Roughness = Annotated[float, Field(ge=1e-6, le=0.7)]
"""Beckmann rms slope of a rough layer [1], 1e-6 to 0.7; the GGX width is alpha = sqrt(2) times it."""

Smoothness = Annotated[float, Field(ge=1e-6, le=0.05)]
"""The same for surfaces whose reflection is an image, at most 0.05 [1]."""

Index = PositiveOverWavelength
"""Real part of a refractive index [1], a number or a spectrum."""

Extinction = NonNegativeOverWavelength
"""Imaginary part k of a refractive index [1], a number or a spectrum."""

# Above this k light is absorbed within a micrometer (lambda / 4 pi k), so that it reaches no base below.
MAX_TRANSPARENT_K = 0.1


class AbstractMaterial(Spec, abc.ABC):
    """A surface model: frozen, validated data that kernels see as a row (see `materials.row`)."""

    model_config = ConfigDict(frozen=True)

    @abc.abstractmethod
    def row(self, wavelength_m: float, outside_index: float = 1.0) -> npt.NDArray[np.float64]:
        """The numbers of this material at a wavelength in vacuum [m], seen from a medium of this index [1].

        Shape (ROW_SIZE,). Interfaces reflect by the ratio of indices on their two sides; a matt base is the same in all
        media.
        """

    @property
    @abc.abstractmethod
    def property_name(self) -> str | None:
        """The mesh property that holds the diffuse reflectance; None where the material itself says it."""

    @property
    @abc.abstractmethod
    def property_band(self) -> int:
        """Which column of that property, where it has one per band."""

    @property
    @abc.abstractmethod
    def max_reflectance(self) -> float:
        """Largest diffuse reflectance allowed [1], for the values that come from a mesh."""


class AbstractBare(AbstractMaterial):
    """A material without a diffuse base: it uses no property of the mesh."""

    @property
    def property_name(self) -> str | None:
        """None: there is no diffuse reflectance to look for."""
        return None

    @property
    def property_band(self) -> int:
        """0, as there is no property."""
        return 0

    @property
    def max_reflectance(self) -> float:
        """0, as there is no diffuse base [1]."""
        return 0.0


class AbstractDiffuse(AbstractMaterial):
    """A material with a diffuse base, whose reflectance it says itself or leaves to the mesh."""

    reflectance: Reflectance
    """Diffuse reflectance [1]: a number, pairs (wavelength_m, value), `Bands`, or the name of a mesh property."""
    band: int = Field(default=0, ge=0)
    """Column of the mesh property, where it holds one value per band."""

    @property
    def property_name(self) -> str | None:
        """The mesh property that holds the diffuse reflectance; None where the material itself says it."""
        return self.reflectance if isinstance(self.reflectance, str) else None

    @property
    def property_band(self) -> int:
        """Which column of that property, where it has one per band."""
        return self.band

    @model_validator(mode="after")
    def _check_band(self) -> "AbstractDiffuse":
        if self.band and not isinstance(self.reflectance, str):
            raise ValueError(f"band is {self.band}; only a reflectance that names a mesh property has a band")
        return self


def index_at(index: Index, extinction: Extinction, wavelength_m: float) -> tuple[float, float]:
    """Real part and imaginary part k of a refractive index at a wavelength [m]."""
    return (
        constant_or_at(index, wavelength_m, "refractive_index"),
        constant_or_at(extinction, wavelength_m, "extinction_coefficient"),
    )


def check_transparent_index(index: Index, extinction: Extinction = 0.0) -> None:
    """Refuse an index below 1 and a k that lets no light through, as no solid or liquid dielectric has them."""
    low, _ = extremes(index)
    if low < 1.0:
        raise ValueError(
            f"refractive_index is {low}; a dielectric has at least 1 (metals need k > {MAX_TRANSPARENT_K})"
        )
    _, high = extremes(extinction)
    if high > MAX_TRANSPARENT_K:
        raise ValueError(
            f"extinction_coefficient is {high}; a transparent body has at most {MAX_TRANSPARENT_K} (use TwoLayer)"
        )
