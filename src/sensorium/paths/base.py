"""What every path offers, and what the paths share."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sensorium.errors import SpecError
from sensorium.frames import Pose
from sensorium.rotations import Float


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


def times(t_s: ArrayLike) -> Float:
    """The times [s] as a finite float64 array."""
    t = np.asarray(t_s, dtype=np.float64)
    if not np.isfinite(t).all():
        raise SpecError(f"t_s holds {t[~np.isfinite(t)].flat[0]}; every time must be finite")
    return t


def parameter(name: str, value: ArrayLike, size: int = 0) -> Float:
    """A path parameter as a finite, private float64 array.

    Args:
        name: What to call it in an error.
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


def filled(value: Float, shape: tuple[int, ...]) -> Float:
    """A new array of the batch shape whose rows are `value` (*batch, k)."""
    out = np.empty((*shape, value.shape[-1]))
    out[...] = value
    return out


def zeros(shape: tuple[int, ...]) -> Float:
    """Vectors of zeros (*shape, 3), read-only since one array serves several quantities."""
    out = np.zeros((*shape, 3))
    out.setflags(write=False)
    return out


def together(shape: tuple[int, ...], *arrays: Float) -> list[Float]:
    """The arrays, each repeated to the one shape that they and `shape` broadcast to."""
    try:
        common = np.broadcast_shapes(shape, *(a.shape for a in arrays))
    except ValueError:
        shapes = ", ".join(str(s) for s in (shape, *(a.shape for a in arrays)))
        raise SpecError(f"a path's parameters have shapes {shapes}; they must broadcast together") from None
    return [np.array(np.broadcast_to(a, common)) for a in arrays]
