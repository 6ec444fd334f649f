"""Paths of joints: an angle [rad] or a length [m] as a function of time."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sensorium.errors import SpecError
from sensorium.paths.base import parameter, times, together
from sensorium.paths.function import check_step, differences
from sensorium.rotations import Float


class JointPath(ABC):
    """A joint position q(t), defined for every finite time."""

    @abstractmethod
    def motion(self, t_s: ArrayLike) -> tuple[Float, Float]:
        """Position q [rad or m] and velocity [rad/s or m/s] at the times t_s [s].

        Both have the shape of t_s, broadcast with the path's own.
        """


class JointLine(JointPath):
    """q(t) = start + velocity t."""

    def __init__(self, start: ArrayLike = 0.0, velocity: ArrayLike = 0.0) -> None:
        """Keep the line.

        Args:
            start: Position at t = 0 [rad or m], shape (*batch,).
            velocity: [rad/s or m/s], shape (*batch,).
        """
        self._start, self._velocity = together((), parameter("start", start), parameter("velocity", velocity))

    def motion(self, t_s: ArrayLike) -> tuple[Float, Float]:
        """Position and velocity at the times t_s [s]."""
        position = np.asarray(self._start + self._velocity * times(t_s))
        return position, np.full(position.shape, self._velocity)


class JointSine(JointPath):
    """q(t) = offset + amplitude sin(rate t + phase)."""

    def __init__(self, amplitude: ArrayLike, rate: ArrayLike, offset: ArrayLike = 0.0, phase: ArrayLike = 0.0) -> None:
        """Keep the oscillation.

        Args:
            amplitude: [rad or m], shape (*batch,).
            rate: Angular frequency [rad/s], shape (*batch,).
            offset: Mean position [rad or m], shape (*batch,).
            phase: [rad], shape (*batch,).
        """
        given = {"amplitude": amplitude, "rate": rate, "offset": offset, "phase": phase}
        self._amplitude, self._rate, self._offset, self._phase = together(
            (), *(parameter(name, value) for name, value in given.items())
        )
        self._speed = self._amplitude * self._rate

    def motion(self, t_s: ArrayLike) -> tuple[Float, Float]:
        """Position and velocity at the times t_s [s]."""
        angle = self._rate * times(t_s) + self._phase
        position = self._offset + self._amplitude * np.sin(angle)
        return np.asarray(position), np.asarray(self._speed * np.cos(angle))


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


def _checked(position: Any, shape: tuple[int, ...]) -> Float:
    q = parameter("the position that fn returned", position)
    if q.shape != shape:
        raise SpecError(f"fn returned positions of shape {q.shape}; they must have the times' shape {shape}")
    return q
