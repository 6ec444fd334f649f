"""A glossy layer over a rough diffuse base: GGX over Oren-Nayar, and bare metal when there is no base."""

from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from sensorium.physics.materials import row as mr
from sensorium.physics.materials.base import (
    MAX_TRANSPARENT_K,
    AbstractDiffuse,
    Extinction,
    Index,
    Roughness,
    check_transparent_index,
    index_at,
    largest_reflectance,
    reflectance_at,
)
from sensorium.physics.optics.spectra import checked_wavelength, extremes

# With more the Oren-Nayar model gives back more than it receives (largest albedo 0.992 here, 1.003 at 0.98).
MAX_ROUGH_REFLECTANCE = 0.97


class TwoLayer(AbstractDiffuse):
    """A rough interface of index n + ik (GGX, Fresnel) over a rough diffuse base (Oren-Nayar in Fujii's form).

    f = f_s + t f_d. The share of light that passes the interface, t, is set by `layering`:

    - `two_way` (default): T(l, n) T(v, n), in and out; reciprocal, never more than it receives.
    - `agx`: T(l, h), once, as the AGX Sensor paper prints it (eq. 12); gives too much at grazing incidence.
    - `plastic`: `two_way` divided by n^2 (1 - C F_i), which counts the light thrown back under the interface.

    A metal (k > 0.1) absorbs all light that it does not reflect, so its `reflectance` must be 0. Sources: Walter et al.
    2007 and Heitz 2014 (GGX), Oren and Nayar 1994 with Fujii's note (base), AGX Sensor paper section 2.2.
    """

    kind: Literal["two_layer"] = "two_layer"
    refractive_index: Index
    """Real part n of the interface's index [1]; at least 1 unless k > 0.1."""
    extinction_coefficient: Extinction = 0.0
    """Imaginary part k of the interface's index [1]."""
    roughness: Roughness
    """Beckmann rms slope of the interface [1]; the GGX width is alpha = sqrt(2) times it."""
    diffuse_roughness: Annotated[float, Field(ge=0.0, le=1.5707963267948966)] = 0.0
    """Standard deviation of the base's facet angles, Oren-Nayar's sigma [rad]; 0 is Lambertian."""
    layering: Literal["two_way", "agx", "plastic"] = "two_way"
    """Transmission of light to the base and back."""

    @model_validator(mode="after")
    def _check(self) -> "TwoLayer":
        low_k, high_k = extremes(self.extinction_coefficient)
        if low_k <= MAX_TRANSPARENT_K:
            check_transparent_index(self.refractive_index)
        if high_k > MAX_TRANSPARENT_K and self.reflectance != 0.0:
            raise ValueError(
                f"extinction_coefficient is {high_k} and reflectance {self.reflectance}; above k = {MAX_TRANSPARENT_K} "
                "no light reaches a diffuse base, so reflectance must be 0"
            )
        largest = largest_reflectance(self.reflectance)
        if largest > self.max_reflectance:
            raise ValueError(
                f"reflectance is {largest} with diffuse_roughness {self.diffuse_roughness}; a rough base has at most "
                f"{MAX_ROUGH_REFLECTANCE}, beyond which the Oren-Nayar model creates energy"
            )
        return self

    @property
    def max_reflectance(self) -> float:
        """Largest diffuse reflectance allowed [1]: 0.97 over a rough base, else 1."""
        return MAX_ROUGH_REFLECTANCE if self.diffuse_roughness > 0.0 else 1.0

    def row(self, wavelength_m: float, outside_index: float = 1.0) -> npt.NDArray[np.float64]:
        """The numbers of this material at a wavelength in vacuum [m], seen from a medium of this index [1]."""
        # Here, not above: compiled functions take a second to load, and a scene can do without them
        from sensorium.physics.optics import (
            fresnel,
            internal_diffuse_reflectance,
            oren_nayar_coefficients,
            squared_alpha,
        )

        row = mr.blank_row()
        n, k = index_at(self.refractive_index, self.extinction_coefficient, checked_wavelength(wavelength_m))

        # Interface
        n, k = n / outside_index, k / outside_index
        row[mr.N], row[mr.K] = n, k
        row[mr.R0] = fresnel(1.0, n=complex(n, k))
        row[mr.ALPHA2] = squared_alpha(self.roughness)

        # Base
        row[mr.C] = reflectance_at(self.reflectance, wavelength_m)
        row[mr.ON_A0], row[mr.ON_A1], row[mr.ON_B] = oren_nayar_coefficients(self.diffuse_roughness)

        # Passage between them
        row[mr.LAYERING] = mr.LAYERINGS[self.layering]
        if self.layering == "plastic" and k * outside_index <= MAX_TRANSPARENT_K:
            row[mr.PLASTIC_N2] = max(n, 1.0) ** 2  # a layer of lower index than its surroundings traps no light
            row[mr.PLASTIC_FI] = internal_diffuse_reflectance(max(n, 1.0))
        return row
