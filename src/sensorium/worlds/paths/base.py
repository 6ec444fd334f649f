"""Interface of paths, and their shared checks."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.rotations import Float

# Kinds of body paths, and of joint paths
FIXED, LINE, CIRCLE, SPIN = range(4)
JOINT_LINE, JOINT_SINE = range(2)

# no closed form
OPEN = -1

# Lengths of the rows of parameters; what a kind does not need is zero
PARAMETERS, JOINT_PARAMETERS = 10, 4

# A body's motion as one row: where p_WB, q_WB, v_WB, w_WB, a_WB and alpha_WB begin, and the row's length
P, Q, V, W, A, ALPHA, ROW = 0, 3, 7, 10, 13, 16, 19
BLOCKS = ((P, Q), (Q, V), (V, W), (W, A), (A, ALPHA), (ALPHA, ROW))

_NO_KINDS = np.zeros(0, np.int64)
_NO_ROWS, _NO_JOINT_ROWS = np.zeros((1, 0, PARAMETERS)), np.zeros((1, 0, JOINT_PARAMETERS))


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


class ClosedPath(Path, ABC):
    """A path whose motion is a compiled function of its parameters and the time."""

    kind: ClassVar[int]
    """Which function."""

    parameters: Float
    """Rows, shape (*batch, PARAMETERS)."""

    def pose(self, t_s: ArrayLike) -> Pose:
        """X_WB at the times t_s [s]."""
        return self.motion(t_s).pose

    def motion(self, t_s: ArrayLike) -> Motion:
        """X_WB and its derivatives at the times t_s [s], in closed form."""
        from sensorium.worlds.paths.evaluate import evaluate  # imported here: it imports every closed path

        t, rows, shape = _rows_and_times(t_s, self.parameters)
        numbers = np.empty(ROW * t.size)
        evaluate(
            0, 1, t.size, t, np.array([self.kind]), rows, _NO_KINDS, _NO_JOINT_ROWS, numbers, np.zeros(1, np.bool_)
        )
        p, q, v_WB, w_WB, a_WB, alpha_WB = (
            numbers[begin * t.size : end * t.size].reshape(*shape, end - begin) for begin, end in BLOCKS
        )
        return Motion(Pose._trusted(p, q), v_WB, w_WB, a_WB, alpha_WB)


class ClosedJointPath(JointPath, ABC):
    """A joint path whose motion is a compiled function of its parameters and the time."""

    kind: ClassVar[int]
    """Which function."""

    parameters: Float
    """Rows, shape (*batch, JOINT_PARAMETERS)."""

    def motion(self, t_s: ArrayLike) -> tuple[Float, Float]:
        """Position and velocity at the times t_s [s], in closed form."""
        from sensorium.worlds.paths.evaluate import evaluate

        t, rows, shape = _rows_and_times(t_s, self.parameters)
        numbers = np.empty(2 * t.size)
        evaluate(0, 1, t.size, t, _NO_KINDS, _NO_ROWS, np.array([self.kind]), rows, numbers, np.zeros(1, np.bool_))
        position, velocity = numbers.reshape(2, *shape)
        return position, velocity


def closed_form(path: Path | JointPath) -> tuple[int, Float] | None:
    """Kind and rows of parameters; None if there are none, or if a subclass has a motion of its own."""
    if isinstance(path, ClosedPath) and type(path).motion is ClosedPath.motion:
        return path.kind, path.parameters
    if isinstance(path, ClosedJointPath) and type(path).motion is ClosedJointPath.motion:
        return path.kind, path.parameters
    return None


def row_of(*values: Float, size: int = PARAMETERS) -> Float:
    """Rows of parameters (*batch, size) from vectors (*batch, k) side by side, filled up with zeros."""
    shapes = [value.shape[:-1] for value in values]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        given = ", ".join(str(s) for s in shapes)
        raise SpecError(f"a path's parameters have shapes {given}; they must broadcast together") from None
    rows = np.zeros((*shape, size))
    at = 0
    for value in values:
        rows[..., at : at + value.shape[-1]] = value
        at += value.shape[-1]
    return rows


def _rows_and_times(t_s: ArrayLike, parameters: Float) -> tuple[Float, Float, tuple[int, ...]]:
    """Times (n,), rows (n or 1, 1, parameters), and the batch shape, of n in all, that both broadcast to."""
    t, batch = times(t_s), parameters.shape[:-1]
    try:
        shape = np.broadcast_shapes(t.shape, batch)
    except ValueError:
        raise SpecError(f"a path of shape {batch} is asked for times {t.shape}; they must broadcast together") from None

    # Copies: read-only arrays would make Numba compile the kernel once more
    size = parameters.shape[-1]
    rows = np.array(np.broadcast_to(parameters, (*shape, size)) if batch else parameters).reshape(-1, 1, size)
    return np.array(np.broadcast_to(t, shape)).reshape(-1), rows, shape
