"""Magnetic fields: what each offers, the uniform one, and that of a small magnet."""

import abc
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import ConfigDict

from sensorium.core.rotations import Float
from sensorium.core.spec import Spec, positional_init
from sensorium.physics.fields.positions import Vector, checked_positions, dot, offsets


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


class UniformMagnetic(AbstractMagnetic):
    """The same flux density everywhere, as the Earth's over a yard: `UniformMagnetic((20e-6, 0, -44e-6))`.

    >>> sn.fields.UniformMagnetic((2e-5, 0.0, -4e-5)).at([0, 0, 0]).tolist()
    [2e-05, 0.0, -4e-05]
    """

    kind: Literal["uniform"] = "uniform"
    field_W: Vector
    """The flux density in world axes [T]."""

    @positional_init
    def __init__(self, field_W: ArrayLike | None = None, **fields: Any) -> None:
        super().__init__(**fields if field_W is None else {"field_W": field_W, **fields})

    def at(self, p_W: ArrayLike, time_ns: ArrayLike = 0) -> Float:
        """Magnetic flux density B_W in world axes [T], a new array of shape (*batch, 3).

        Args:
            p_W: Positions in the world [m], shape (*batch, 3).
            time_ns: Not needed; this field does not change.
        """
        B_W = np.empty(checked_positions(p_W).shape)
        B_W[...] = self.field_W
        return B_W


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
