"""Turning in place about a fixed axis."""

import math

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float, unit
from sensorium.runtime import jit
from sensorium.worlds.paths.base import ROW, SPIN, ClosedPath, Q, V, W, parameter, row_of


class Spin(ClosedPath):
    """A body at `position`, turned about `axis` by the angle phase + rate t."""

    kind = SPIN

    def __init__(self, position: ArrayLike, axis: ArrayLike, rate: ArrayLike, phase: ArrayLike = 0.0) -> None:
        """Keep the axis.

        Args:
            position: Of the body's origin [m], shape (*batch, 3).
            axis: In world axes, of any length but zero, shape (*batch, 3).
            rate: About the axis by the right-hand rule [rad/s], shape (*batch,).
            phase: Angle at t = 0 [rad], shape (*batch,).
        """
        p, a = parameter("position", position, 3), parameter("axis", axis, 3)
        if np.any(np.all(a == 0.0, axis=-1)):
            raise SpecError("axis is (0, 0, 0); it must have a direction")
        self.parameters = row_of(p, unit(a), parameter("rate", rate)[..., None], parameter("phase", phase)[..., None])


@jit.function
def spin_motion(parameters: Float, t_s: float, row: Float) -> None:
    """Fill a row with the motion at the time t_s [s]; parameters: position, unit axis, rate, phase."""
    rate = parameters[6]
    half = 0.5 * (parameters[7] + rate * t_s)
    sine = math.sin(half)
    row[Q] = math.cos(half)
    for k in range(3):
        row[k] = parameters[k]
        row[Q + 1 + k] = sine * parameters[3 + k]
        row[V + k] = 0.0
        row[W + k] = rate * parameters[3 + k]
    for k in range(W + 3, ROW):
        row[k] = 0.0
