"""A pane of glass as one sheet: both faces and all reflections between them in one interface."""

from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from sensorium.physics.materials.base import AbstractBare, Index, Smoothness, check_transparent_index, index_at
from sensorium.physics.materials.row import ALPHA2, KIND, PANE, PANE_OPL, PANE_TAU, R0, N, blank_row
from sensorium.physics.optics.spectra import NonNegativeOverWavelength, checked_wavelength, constant_or_at


class ThinGlass(AbstractBare):
    """A window: light passes without turning, a little later and a little weaker; some is mirrored.

    With the Fresnel reflectance R of one face and the inner passage a = exp(-alpha d / cos theta_t), summed over all
    inter-reflections without interference:

        T_p = (1 - R)^2 a / (1 - R^2 a^2),   R_p = R + (1 - R)^2 a^2 R / (1 - R^2 a^2)

    and the optical path grows by (n - 1) d / cos(theta_t) to first order. Under water n is that of the glass over that
    of water, and a pane no denser than its surroundings has no effect. Model the pane as a single sheet of triangles;
    for a body with two faces use `Dielectric`.
    """

    kind: Literal["thin_glass"] = "thin_glass"
    refractive_index: Index = 1.5
    """Refractive index of the glass [1], at least 1."""
    thickness_m: Annotated[float, Field(ge=0.0)] = 0.004
    """Thickness of the pane [m]."""
    absorption_per_m: NonNegativeOverWavelength = 0.0
    """Absorption inside the glass [1/m], a number or a spectrum."""
    roughness: Smoothness = 1e-4
    """Beckmann rms slope of the faces [1]."""

    @model_validator(mode="after")
    def _check(self) -> "ThinGlass":
        check_transparent_index(self.refractive_index)
        return self

    def row(self, wavelength_m: float, outside_index: float = 1.0) -> npt.NDArray[np.float64]:
        """The numbers of this material at a wavelength in vacuum [m], seen from a medium of this index [1]."""
        # Here, not above: compiled functions take a second to load, and a scene can do without them
        from sensorium.physics.optics import pane, squared_alpha

        row = blank_row()
        glass, _ = index_at(self.refractive_index, 0.0, checked_wavelength(wavelength_m))
        n = max(glass / outside_index, 1.0)
        depth = constant_or_at(self.absorption_per_m, wavelength_m, "absorption_per_m") * self.thickness_m
        row[KIND] = PANE
        row[N] = n
        row[PANE_OPL] = (n - 1.0) * outside_index * self.thickness_m
        row[PANE_TAU] = depth

        # Reflectance of both faces at normal incidence
        _, row[R0] = pane(1.0, n=n, optical_depth=depth)
        row[ALPHA2] = squared_alpha(self.roughness)
        return row
