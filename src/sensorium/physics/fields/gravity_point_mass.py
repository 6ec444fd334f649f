"""Gravity of a point, or of a sphere seen from outside."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from sensorium.core.rotations import Float
from sensorium.physics.fields.gravity import AbstractGravity
from sensorium.physics.fields.positions import Vector, offsets

EARTH_MU_M3_S2 = 3.986004418e14

GravitationalParameter = Annotated[float, Field(ge=0.0)]
"""Gravitational constant times mass, G M [m^3/s^2]."""


class PointMassGravity(AbstractGravity):
    """Newton's law, with r the offset from the center; inside a body it is still that of a point.

        g = -mu r / |r|^3

    By default the Earth's mass (WGS 84, with its atmosphere) at the world's origin.
    """

    kind: Literal["point_mass"] = "point_mass"
    mu: GravitationalParameter = EARTH_MU_M3_S2
    """Gravitational constant times mass [m^3/s^2]."""
    center: Vector = (0.0, 0.0, 0.0)
    """Position of the mass in the world [m]."""

    def at(self, p_W: ArrayLike) -> Float:
        """Gravitational acceleration g_W in world axes [m/s^2], a new array of shape (*batch, 3).

        Args:
            p_W: Positions in the world, other than the center [m], shape (*batch, 3).
        """
        d_W, squares = offsets(p_W, self.center, "PointMassGravity.center")
        d_W *= (-self.mu / (squares * np.sqrt(squares)))[..., None]
        return d_W
