"""A matt surface: the same brightness from every side."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from sensorium.physics.materials.base import AbstractDiffuse, reflectance_at
from sensorium.physics.materials.row import C, blank_row
from sensorium.physics.optics.spectra import checked_wavelength


class Lambertian(AbstractDiffuse):
    """Ideal diffuse reflection, f = C / pi [1/sr]; the share C of the incident light is reflected.

    >>> wall = sn.Lambertian(reflectance=0.5)
    >>> sn.Scene().add(sn.shapes.box(1, 4, 3), material=wall).material.reflectance
    0.5
    """

    kind: Literal["lambertian"] = "lambertian"

    @property
    def max_reflectance(self) -> float:
        """Largest diffuse reflectance allowed [1]."""
        return 1.0

    def row(self, wavelength_m: float, outside_index: float = 1.0) -> npt.NDArray[np.float64]:
        """The numbers of this material at a wavelength in vacuum [m], seen from a medium of this index [1]."""
        row = blank_row()
        row[C] = reflectance_at(self.reflectance, checked_wavelength(wavelength_m))
        return row
