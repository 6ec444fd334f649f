"""Gravity of an oblate planet: a sphere with a bulge at its equator."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from sensorium.core.rotations import Float
from sensorium.physics.fields.gravity import AbstractGravity
from sensorium.physics.fields.gravity_point_mass import EARTH_MU_M3_S2, GravitationalParameter
from sensorium.physics.fields.positions import Vector, offsets

EARTH_RADIUS_M = 6378137.0
EARTH_J2 = 1.08262668e-3


class J2Gravity(AbstractGravity):
    """A planet whose axis is the world's z, with the first term of its flattening.

    The potential U = mu/r (1 - J2 (R/r)^2 (3 z^2/r^2 - 1)/2) gives g = grad U, which is -mu r/|r|^3 times

        1 - 3/2 J2 (R/r)^2 (5 z^2/r^2 - 1)      for x and y
        1 - 3/2 J2 (R/r)^2 (5 z^2/r^2 - 3)      for z

    (Montenbruck and Gill, Satellite Orbits, section 3.2). By default the Earth: 9.8142 m/s^2 at the equator and 9.8321
    at the poles. It is the pull of the mass alone: a scale at the equator shows less by the Earth's rotation, 0.0339
    m/s^2, which belongs to the motion. Terms left out are some thousandths of this one.
    """

    kind: Literal["j2"] = "j2"
    mu: GravitationalParameter = EARTH_MU_M3_S2
    """Gravitational constant times mass [m^3/s^2]."""
    radius_m: Annotated[float, Field(gt=0.0)] = EARTH_RADIUS_M
    """The radius R that J2 belongs to, at the equator [m]."""
    j2: float = EARTH_J2
    """Oblateness of the planet [1]; 0 is a sphere."""
    center: Vector = (0.0, 0.0, 0.0)
    """Its center in the world [m]."""

    def at(self, p_W: ArrayLike) -> Float:
        """Gravitational acceleration g_W in world axes [m/s^2], a new array of shape (*batch, 3).

        Args:
            p_W: Positions in the world, other than the center [m], shape (*batch, 3).
        """
        d_W, squares = offsets(p_W, self.center, "J2Gravity.center")
        sphere = -self.mu / (squares * np.sqrt(squares))
        bulge = 1.5 * self.j2 * self.radius_m**2 / squares
        height = 5.0 * d_W[..., 2] * d_W[..., 2] / squares
        d_W[..., :2] *= (sphere * (1.0 - bulge * (height - 1.0)))[..., None]
        d_W[..., 2] *= sphere * (1.0 - bulge * (height - 3.0))
        return d_W
