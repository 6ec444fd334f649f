"""Motion round a horizontal circle."""

import math

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float
from sensorium.runtime import jit
from sensorium.worlds.paths.base import CIRCLE, ROW, A, ClosedPath, Q, V, W, parameter, row_of


class Circle(ClosedPath):
    """p_WB(t) = center + radius (cos a, sin a, 0) with the angle a = phase + rate t.

    >>> round_the_tree = sn.paths.Circle(center=(0, 0, 1), radius=2.0, rate=np.pi / 2)
    >>> env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({"drone": round_the_tree}, step_s=1.0))
    >>> env.step()
    >>> env.state.X_WB.position[0, 0].round(6).tolist()
    [0.0, 2.0, 1.0]
    """

    kind = CIRCLE

    def __init__(
        self,
        center: ArrayLike,
        radius: ArrayLike,
        rate: ArrayLike,
        phase: ArrayLike = 0.0,
        heading: bool = True,
    ) -> None:
        """Keep the circle.

        Args:
            center: [m], shape (*batch, 3); its z is the height of the circle.
            radius: [m], not negative, shape (*batch,).
            rate: [rad/s], positive is anticlockwise seen from above, shape (*batch,).
            phase: Angle at t = 0 [rad], shape (*batch,).
            heading: Turn the body's x axis along the velocity; otherwise the body keeps the world's axes.
        """
        r = parameter("radius", radius)
        if np.any(r < 0.0):
            raise SpecError(f"radius is {r.min()}; it must not be negative")
        scalars = (r, parameter("rate", rate), parameter("phase", phase), np.array(float(heading)))
        self.parameters = row_of(parameter("center", center, 3), *(scalar[..., None] for scalar in scalars))


@jit.function
def circle_motion(parameters: Float, t_s: float, row: Float) -> None:
    """Fill a row with the motion at the time t_s [s]; parameters: center, radius, rate, phase, heading (1 or 0)."""
    radius, rate = parameters[3], parameters[4]
    angle = parameters[5] + rate * t_s
    cosine, sine = math.cos(angle), math.sin(angle)
    speed = radius * rate
    for k in range(ROW):
        row[k] = 0.0
    row[0] = parameters[0] + radius * cosine
    row[1] = parameters[1] + radius * sine
    row[2] = parameters[2]
    row[V] = -speed * sine
    row[V + 1] = speed * cosine
    row[A] = -rate * row[V + 1]
    row[A + 1] = rate * row[V]
    if parameters[6] == 0.0:
        row[Q] = 1.0
        return

    # Yaw is a quarter turn ahead of the angle, or behind it when going clockwise
    half = 0.5 * (angle + (-0.5 * math.pi if rate < 0.0 else 0.5 * math.pi))
    row[Q], row[Q + 3] = math.cos(half), math.sin(half)
    row[W + 2] = rate
