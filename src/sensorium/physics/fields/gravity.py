"""What every gravity field offers, and the uniform one."""

import abc
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import ConfigDict

from sensorium.core.rotations import Float
from sensorium.core.spec import Spec, positional_init
from sensorium.physics.fields.positions import Vector, checked_positions


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
