"""The boundary of a closed transparent body: glass, ice, a water tank."""

import math
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import model_validator

from sensorium.core.errors import SpecError
from sensorium.physics.materials.base import (
    AbstractBare,
    Extinction,
    Index,
    Smoothness,
    check_transparent_index,
    index_at,
)
from sensorium.physics.materials.row import ALPHA2, DIELECTRIC, INNER_INDEX, KIND, R0, K, N, blank_row
from sensorium.physics.media import Medium, MediumParameters
from sensorium.physics.optics.spectra import checked_wavelength, extremes

# An index and the medium inside that differ by less are the same.
_SAME_INDEX = 1e-3


class Dielectric(AbstractBare):
    """A clear solid or liquid inside a closed mesh.

    Each face is an interface of its own: Fresnel reflection, and Snell refraction into the body and out again, with
    absorption and optical path along the way inside. The body is filled with either a clear substance of this
    material's own index n + ik, which absorbs 4 pi k / lambda per meter, or a medium (`sn.media.water(...)`). An object
    whose material is a bare medium is the same body with the roughness given here as default: its surface reflects by
    the ratio of indices too. If the indices differ by at most 0.001, as a fog bank's and air's do, there is no
    interface.
    """

    kind: Literal["dielectric"] = "dielectric"
    refractive_index: Index | None = None
    """Real part n of the index inside [1], at least 1; None takes the medium's."""
    extinction_coefficient: Extinction = 0.0
    """Imaginary part k of the index inside [1], at most 0.1; 0 when there is a medium."""
    roughness: Smoothness = 1e-4
    """Beckmann rms slope of the surface [1]."""
    medium: Medium | None = None
    """Medium in the body; its index must be `refractive_index` within 0.001 if both are given."""

    @model_validator(mode="after")
    def _check(self) -> "Dielectric":
        if self.refractive_index is not None:
            check_transparent_index(self.refractive_index, self.extinction_coefficient)
        elif self.medium is None:
            raise ValueError("refractive_index and medium are both None; a dielectric needs one of them")
        if self.medium is not None and extremes(self.extinction_coefficient)[1] > 0.0:
            raise ValueError(
                f"extinction_coefficient is {self.extinction_coefficient}; with a medium it must be 0, as the medium "
                "says how it absorbs"
            )
        return self

    def row(self, wavelength_m: float, outside_index: float = 1.0) -> npt.NDArray[np.float64]:
        """The numbers of this material at a wavelength in vacuum [m], seen from a medium of this index [1]."""
        # Here, not above: compiled functions take a second to load, and a scene can do without them
        from sensorium.physics.optics import fresnel, squared_alpha

        row = blank_row()
        n, k = self._index(checked_wavelength(wavelength_m))
        row[KIND] = DIELECTRIC
        row[N], row[K], row[INNER_INDEX] = n / outside_index, k / outside_index, n
        row[R0] = fresnel(1.0, n=complex(n, k), n_outside=outside_index)
        row[ALPHA2] = squared_alpha(self.roughness)
        return row

    def inside(self, wavelength_m: float) -> MediumParameters:
        """The medium inside the body at a wavelength in vacuum [m]."""
        n, k = self._index(checked_wavelength(wavelength_m))
        if self.medium is not None:
            return self.medium.at(wavelength_m)
        return MediumParameters(refractive_index=n, extinction_per_m=4.0 * math.pi * k / wavelength_m)

    def _index(self, wavelength_m: float) -> tuple[float, float]:
        """Real part and k inside at a wavelength [m], after checking the two that may be given against each other."""
        if self.medium is None:
            assert self.refractive_index is not None
            return index_at(self.refractive_index, self.extinction_coefficient, wavelength_m)
        inner = self.medium.at(wavelength_m).refractive_index
        if self.refractive_index is not None:
            n, _ = index_at(self.refractive_index, 0.0, wavelength_m)
            if abs(n - inner) > _SAME_INDEX:
                raise SpecError(
                    f"refractive_index is {n} and that of the medium inside {inner} at {wavelength_m * 1e9:g} nm; "
                    "they must be equal (leave refractive_index out to take the medium's)"
                )
        return inner, 0.0
