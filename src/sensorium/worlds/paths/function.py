"""A path written as a Python function of time."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.rotations import CONJUGATE, Float, multiply, quaternion_log
from sensorium.worlds.paths.base import Motion, Path, times


class Function(Path):
    """X_WB(t) = fn(t), differentiated numerically.

    Velocities and accelerations are central differences over t - 2h ... t + 2h with the step h, and so the
    function is called for times just before the first as well. For a motion of angular frequency f their
    relative errors are (f h)^4 / 30 and (f h)^4 / 90.
    """

    def __init__(self, fn: Callable[[Any], Pose], *, vectorized: bool = False, step_s: float = 1e-3) -> None:
        """Keep the function.

        Args:
            fn: Takes a time [s] as a float and returns one Pose.
            vectorized: `fn` takes an array of times instead and returns poses of its shape: quicker, and the
                way to give each of many worlds its own motion: their times are the last axis of the array.
            step_s: The step h of the differences [s].
        """
        if not callable(fn):
            raise SpecError(f"fn is {fn!r}; it must be a function of time that returns a Pose")
        self._fn = fn
        self._vectorized = bool(vectorized)
        self._step_s = check_step(step_s)

    def pose(self, t_s: ArrayLike) -> Pose:
        """X_WB at the times t_s [s]."""
        t = times(t_s)
        if self._vectorized:
            return _checked(self._fn(t), t.shape)

        # Worlds that move in step share their times: call the function once for each different one
        different, where = np.unique(t, return_inverse=True)
        poses = Pose.stack([_checked(self._fn(time), ()) for time in different.tolist()])
        return poses[where.reshape(t.shape)]

    def motion(self, t_s: ArrayLike) -> Motion:
        """X_WB, and its derivatives by differences."""
        t = times(t_s)
        poses = self.pose(np.stack([t, *(t + k * self._step_s for k in (-2, -1, 1, 2))]))
        pose, around = poses[0], poses[1:]
        v_WB, a_WB = differences(around.position - pose.position, self._step_s)

        # phi(s) = log(R(t + s) R(t)^-1) is zero at s = 0, where phi' is therefore w and phi'' alpha
        phi = quaternion_log(multiply(around.quaternion, pose.quaternion * CONJUGATE))
        w_WB, alpha_WB = differences(phi, self._step_s)
        return Motion(pose, v_WB, w_WB, a_WB, alpha_WB)


def check_step(step_s: float) -> float:
    """A differencing step [s], finite and positive."""
    if not (np.isfinite(step_s) and step_s > 0.0):
        raise SpecError(f"step_s is {step_s}; it must be finite and positive")
    return float(step_s)


def differences(around: Float, step: float) -> tuple[Float, Float]:
    """First and second derivative at 0, to fourth order, of a function that is zero there.

    Args:
        around: Its values at -2, -1, 1 and 2 steps, shape (4, ...).
        step: The step.
    """
    far_before, before, after, far_after = around
    first = (8.0 * (after - before) - (far_after - far_before)) / (12.0 * step)
    second = (16.0 * (after + before) - (far_after + far_before)) / (12.0 * step * step)
    return first, second


def _checked(pose: Pose, shape: tuple[int, ...]) -> Pose:
    if not isinstance(pose, Pose):
        raise SpecError(f"fn returned a {type(pose).__name__}; it must return a Pose")
    if pose.shape != shape:
        raise SpecError(f"fn returned poses of shape {pose.shape}; they must have the times' shape {shape}")
    return pose
