"""Interface of paths, and their shared checks."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.rotations import Float


class Motion(NamedTuple):
    """Pose and motion of a body B, all in world axes, of one batch shape.

    Attributes:
        pose: X_WB.
        v_WB: Velocity of the body's origin [m/s], shape (*batch, 3).
        w_WB: Angular velocity [rad/s], shape (*batch, 3).
        a_WB: Acceleration of the body's origin [m/s^2], gravity not included, shape (*batch, 3).
        alpha_WB: Angular acceleration [rad/s^2], shape (*batch, 3).
    """

    pose: Pose
    v_WB: Float
    w_WB: Float
    a_WB: Float
    alpha_WB: Float


class Path(ABC):
    """A rigid motion X_WB(t), defined for every finite time."""

    @abstractmethod
    def pose(self, t_s: ArrayLike) -> Pose:
        """X_WB at the times t_s [s]; the batch shape is that of t_s, broadcast with the path's own."""

    @abstractmethod
    def motion(self, t_s: ArrayLike) -> Motion:
        """X_WB with its first and second derivatives at the times t_s [s], shaped as in `pose`."""


class JointPath(ABC):
    """A joint position q(t), defined for every finite time."""

    @abstractmethod
    def motion(self, t_s: ArrayLike) -> tuple[Float, Float]:
        """Position q [rad or m] and velocity [rad/s or m/s] at the times t_s [s].

        Both have the shape of t_s, broadcast with the path's own.
        """


def times(t_s: ArrayLike) -> Float:
    """The times [s] as a finite float64 array."""
    t = np.asarray(t_s, dtype=np.float64)
    if not np.isfinite(t).all():
        raise SpecError(f"t_s holds {t[~np.isfinite(t)].flat[0]}; every time must be finite")
    return t


def parameter(name: str, value: ArrayLike, size: int = 0) -> Float:
    """A path parameter as a finite, private float64 array.

    Args:
        name: Name in an error.
        value: Numbers.
        size: Size of the last axis; 0 for a scalar parameter, which has none.

    Returns:
        Shape (*batch, size), or (*batch,) for a scalar parameter.
    """
    try:
        a = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SpecError(f"{name} is {value!r}; it must be an array of numbers") from error
    if size and (a.ndim == 0 or a.shape[-1] != size):
        raise SpecError(f"{name} has shape {a.shape}; its last axis must have size {size}")
    if not np.isfinite(a).all():
        raise SpecError(f"{name} holds {a[~np.isfinite(a)].flat[0]}; every value must be finite")
    return a
