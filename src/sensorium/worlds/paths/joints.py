"""Paths of joints: an angle [rad] or a length [m] as a function of time."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float
from sensorium.runtime import jit
from sensorium.worlds.paths.base import (
    JOINT_LINE,
    JOINT_PARAMETERS,
    JOINT_SINE,
    ClosedJointPath,
    JointPath,
    parameter,
    row_of,
    times,
)
from sensorium.worlds.paths.function import check_step, differences


class JointLine(ClosedJointPath):
    """q(t) = start + velocity t."""

    kind = JOINT_LINE

    def __init__(self, start: ArrayLike = 0.0, velocity: ArrayLike = 0.0) -> None:
        """Keep the line.

        Args:
            start: Position at t = 0 [rad or m], shape (*batch,).
            velocity: [rad/s or m/s], shape (*batch,).
        """
        self.parameters = _rows(start=start, velocity=velocity)


@jit.function
def joint_line_motion(parameters: Float, t_s: float) -> tuple[float, float]:
    """Position and velocity at the time t_s [s]; parameters: start, velocity."""
    return parameters[0] + parameters[1] * t_s, parameters[1]


class JointSine(ClosedJointPath):
    """q(t) = offset + amplitude sin(rate t + phase)."""

    kind = JOINT_SINE

    def __init__(self, amplitude: ArrayLike, rate: ArrayLike, offset: ArrayLike = 0.0, phase: ArrayLike = 0.0) -> None:
        """Keep the oscillation.

        Args:
            amplitude: [rad or m], shape (*batch,).
            rate: Angular frequency [rad/s], shape (*batch,).
            offset: Mean position [rad or m], shape (*batch,).
            phase: [rad], shape (*batch,).
        """
        self.parameters = _rows(amplitude=amplitude, rate=rate, offset=offset, phase=phase)


@jit.function
def joint_sine_motion(parameters: Float, t_s: float) -> tuple[float, float]:
    """Position and velocity at the time t_s [s]; parameters: amplitude, rate, offset, phase."""
    angle = parameters[1] * t_s + parameters[3]
    return parameters[2] + parameters[0] * math.sin(angle), parameters[0] * parameters[1] * math.cos(angle)


class JointFunction(JointPath):
    """q(t) = fn(t); the velocity is a central difference over t - 2h ... t + 2h with the step h."""

    def __init__(self, fn: Callable[[Any], Any], *, vectorized: bool = False, step_s: float = 1e-3) -> None:
        """Keep the function.

        Args:
            fn: Takes a time [s] as a float and returns a position [rad or m].
            vectorized: `fn` takes an array of times instead and returns positions of its shape; the times of
                many worlds are its last axis.
            step_s: The step h [s].
        """
        if not callable(fn):
            raise SpecError(f"fn is {fn!r}; it must be a function of time that returns joint positions")
        self._fn = fn
        self._vectorized = bool(vectorized)
        self._step_s = check_step(step_s)

    def motion(self, t_s: ArrayLike) -> tuple[Float, Float]:
        """Position and velocity at the times t_s [s]."""
        t = times(t_s)
        positions = self._positions(np.stack([t, *(t + k * self._step_s for k in (-2, -1, 1, 2))]))
        return positions[0, ...], differences(positions[1:] - positions[0], self._step_s)[0]

    def _positions(self, t: Float) -> Float:
        if self._vectorized:
            return _checked(self._fn(t), t.shape)
        different, where = np.unique(t, return_inverse=True)
        return np.array([_checked(self._fn(time), ()) for time in different.tolist()])[where.reshape(t.shape)]


def _rows(**given: ArrayLike) -> Float:
    """Rows of parameters from numbers, each of shape (*batch,)."""
    return row_of(*(parameter(name, value)[..., None] for name, value in given.items()), size=JOINT_PARAMETERS)


def _checked(position: Any, shape: tuple[int, ...]) -> Float:
    q = parameter("the position that fn returned", position)
    if q.shape != shape:
        raise SpecError(f"fn returned positions of shape {q.shape}; they must have the times' shape {shape}")
    return q
