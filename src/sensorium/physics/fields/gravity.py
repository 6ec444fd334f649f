"""The interface of gravity fields."""

import abc

from numpy.typing import ArrayLike
from pydantic import ConfigDict

from sensorium.core.rotations import Float
from sensorium.core.spec import Spec


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
