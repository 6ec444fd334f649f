"""Paths in closed form: a kind and a row of parameters, evaluated by one compiled function for any number of bodies."""

from abc import ABC
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.rotations import Float
from sensorium.worlds.paths.base import JointPath, Motion, Path, times

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
