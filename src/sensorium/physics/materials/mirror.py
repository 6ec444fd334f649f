"""A mirror of known reflectance, the same at every angle."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from sensorium.physics.materials.base import AbstractBare, OwnReflectance, Smoothness, reflectance_at
from sensorium.physics.materials.row import ALPHA2, FIXED_R, R0, blank_row
from sensorium.physics.optics.spectra import checked_wavelength


class Mirror(AbstractBare):
    """A flat reflector that returns light only along the mirror direction, with the reflectance its maker states.

    The angle does not change the reflectance. For a bare metal whose complex index is known use `TwoLayer`.
    """

    kind: Literal["mirror"] = "mirror"
    reflectance: OwnReflectance
    """Specular reflectance at all angles [1]: a number, pairs (wavelength_m, value), or `Bands`."""
    roughness: Smoothness = 1e-4
    """Beckmann rms slope [1]; light scattered out of the beam is lost to the mirror ray."""

    def row(self, wavelength_m: float, outside_index: float = 1.0) -> npt.NDArray[np.float64]:
        """The numbers of this material at a wavelength in vacuum [m], seen from a medium of this index [1]."""
        # Here, not above: compiled functions take a second to load, and a scene can do without them
        from sensorium.physics.optics import squared_alpha

        row = blank_row()
        row[FIXED_R] = row[R0] = reflectance_at(self.reflectance, checked_wavelength(wavelength_m))
        row[ALPHA2] = squared_alpha(self.roughness)
        return row
