"""Retroreflective sheeting: light returns to its source."""

from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from sensorium.physics.materials.base import AbstractDiffuse, Reflectance, reflectance_at
from sensorium.physics.materials.row import RETRO, RETRO_Q, C, blank_row
from sensorium.physics.optics.spectra import checked_wavelength


class Retroreflector(AbstractDiffuse):
    """Traffic-sign sheeting, reflective tape, corner cubes: a coefficient of retroreflection over a matt base.

    The coefficient R_A [cd lx^-1 m^-2 = 1/sr] is the return per unit of sheet area at the data sheet's observation
    angle, so the monostatic return is R_A cos^q(theta) in the same unit as f cos(theta). R_A = 200 returns 1,257 times
    as much as a matt surface of reflectance 0.5.
    """

    kind: Literal["retroreflector"] = "retroreflector"
    coefficient: Annotated[float, Field(ge=0.0)]
    """R_A at entrance angle 0 [1/sr]."""
    falloff: Annotated[float, Field(ge=0.0)] = 2.0
    """Exponent q of the fall-off cos^q with the entrance angle [1]."""
    reflectance: Reflectance = 0.0
    """Diffuse reflectance of the sheet itself [1]."""

    @property
    def max_reflectance(self) -> float:
        """Largest diffuse reflectance allowed [1]."""
        return 1.0

    def row(self, wavelength_m: float, outside_index: float = 1.0) -> npt.NDArray[np.float64]:
        """The numbers of this material at a wavelength in vacuum [m], seen from a medium of this index [1]."""
        row = blank_row()
        row[C] = reflectance_at(self.reflectance, checked_wavelength(wavelength_m))
        row[RETRO], row[RETRO_Q] = self.coefficient, self.falloff
        return row
