"""Gravity: what every field offers; uniform, of a point or sphere, and of an oblate planet."""

import abc
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import ConfigDict, Field

from sensorium.core.rotations import Float
from sensorium.core.spec import Spec, positional_init
from sensorium.physics.fields.positions import Vector, checked_positions, offsets


class AbstractGravity(Spec, abc.ABC):
    """A field of gravitational acceleration: frozen, validated data, evaluated at positions.

    An accelerometer at rest reads the negative of it: specific force is acceleration less gravity (E-17).
    """

    model_config = ConfigDict(frozen=True)

    @abc.abstractmethod
    def at(self, p_W: ArrayLike) -> Float:
        """Gravitational acceleration g_W in world axes [m/s^2], a new array of shape (*batch, 3).

        Args:
            p_W: Positions in the world [m], shape (*batch, 3).
        """


STANDARD_GRAVITY_M_S2 = 9.80665


class UniformGravity(AbstractGravity):
    """The same acceleration everywhere, by default standard gravity downwards, `UniformGravity((0, 0, -9.80665))`."""

    kind: Literal["uniform"] = "uniform"
    gravity_W: Vector = (0.0, 0.0, -STANDARD_GRAVITY_M_S2)
    """The acceleration in world axes [m/s^2]."""

    @positional_init
    def __init__(self, gravity_W: ArrayLike | None = None, **fields: Any) -> None:
        super().__init__(**fields if gravity_W is None else {"gravity_W": gravity_W, **fields})

    def at(self, p_W: ArrayLike) -> Float:
        """Gravitational acceleration g_W in world axes [m/s^2], a new array of shape (*batch, 3).

        Args:
            p_W: Positions in the world [m], shape (*batch, 3).
        """
        g_W = np.empty(checked_positions(p_W).shape)
        g_W[...] = self.gravity_W
        return g_W


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
