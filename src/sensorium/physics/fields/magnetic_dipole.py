"""The field of a small magnet."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.rotations import Float
from sensorium.physics.fields.magnetic import AbstractMagnetic
from sensorium.physics.fields.positions import Vector, dot, offsets

# mu_0 / 4 pi [T m/A]; since 2019 measured, and equal to this within 2e-10 of it
_MU_0_OVER_4_PI = 1e-7


class MagneticDipole(AbstractMagnetic):
    """A magnetic moment m at a point: a magnet, a motor or a loop of current seen from some sizes away.

        B = mu_0/(4 pi) (3 (m . r) r / r^5 - m / r^3),      r the offset from the dipole

    (Jackson, Classical Electrodynamics, section 5.6.) On its axis it is -2 times its value across, equally far away.
    """

    kind: Literal["dipole"] = "dipole"
    moment: Vector
    """Magnetic moment in world axes, from the south pole to the north pole of the magnet [A m^2]."""
    position: Vector = (0.0, 0.0, 0.0)
    """Position in the world [m]."""

    def at(self, p_W: ArrayLike, time_ns: ArrayLike = 0) -> Float:
        """Magnetic flux density B_W in world axes [T], a new array of shape (*batch, 3).

        Args:
            p_W: Positions in the world, other than the dipole's [m], shape (*batch, 3).
            time_ns: Not needed; this field does not change.
        """
        d_W, squares = offsets(p_W, self.position, "MagneticDipole.position")
        moment = np.array(self.moment)
        over_cube = _MU_0_OVER_4_PI / (squares * np.sqrt(squares))
        d_W *= (3.0 * over_cube / squares * dot(d_W, moment))[..., None]
        d_W -= over_cube[..., None] * moment
        return d_W
