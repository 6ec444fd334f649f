"""The interface of magnetic fields."""

import abc

from numpy.typing import ArrayLike
from pydantic import ConfigDict

from sensorium.core.rotations import Float
from sensorium.core.spec import Spec


class AbstractMagnetic(Spec, abc.ABC):
    """A field of magnetic flux density: frozen, validated data, evaluated at positions and times."""

    model_config = ConfigDict(frozen=True)

    @abc.abstractmethod
    def at(self, p_W: ArrayLike, time_ns: ArrayLike = 0) -> Float:
        """Magnetic flux density B_W in world axes [T], a new array of shape (*batch, 3).

        Args:
            p_W: Positions in the world [m], shape (*batch, 3).
            time_ns: Time since the start of the world [ns], one for all or of a shape that broadcasts to batch; for
                fields that change.
        """
