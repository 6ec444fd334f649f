"""The interface of surface materials: one row of numbers at a wavelength."""

import abc
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field, model_validator

from sensorium.core.spec import Spec
from sensorium.physics.materials.reflectance import Reflectance
from sensorium.physics.optics.spectra import NonNegativeOverWavelength, PositiveOverWavelength, constant_or_at, extremes

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
