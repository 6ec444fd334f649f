"""Motion round a horizontal circle."""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.errors import SpecError
from sensorium.frames import Pose
from sensorium.paths.base import Motion, Path, filled, parameter, times, together, zeros
from sensorium.rotations import Float


class Circle(Path):
    """p_WB(t) = center + radius (cos a, sin a, 0) with the angle a = phase + rate t."""

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
        self._center = parameter("center", center, 3)
        self._radius, self._rate, self._phase = together(
            self._center.shape[:-1],
            parameter("radius", radius),
            parameter("rate", rate),
            parameter("phase", phase),
        )
        self._heading = bool(heading)
        if np.any(self._radius < 0.0):
            raise SpecError(f"radius is {self._radius.min()}; it must not be negative")

        # Yaw is a quarter turn ahead of the angle, or behind it when going clockwise
        self._lead = np.where(self._rate < 0.0, -0.5 * np.pi, 0.5 * np.pi)
        self._speed = self._radius * self._rate

    def pose(self, t_s: ArrayLike) -> Pose:
        """X_WB at the times t_s [s]."""
        angle = self._angle(t_s)
        return self._pose(angle, np.cos(angle), np.sin(angle))

    def motion(self, t_s: ArrayLike) -> Motion:
        """X_WB and its derivatives, in closed form."""
        angle = self._angle(t_s)
        cosine, sine = np.cos(angle), np.sin(angle)
        v_WB, w_WB, a_WB = np.zeros((3, *angle.shape, 3))
        v_WB[..., 0] = -self._speed * sine
        v_WB[..., 1] = self._speed * cosine
        a_WB[..., 0] = -self._rate * v_WB[..., 1]
        a_WB[..., 1] = self._rate * v_WB[..., 0]
        if self._heading:
            w_WB[..., 2] = self._rate
        return Motion(self._pose(angle, cosine, sine), v_WB, w_WB, a_WB, zeros(angle.shape))

    def _angle(self, t_s: ArrayLike) -> Float:
        return np.asarray(self._phase + self._rate * times(t_s))

    def _pose(self, angle: Float, cosine: Float, sine: Float) -> Pose:
        position = filled(self._center, angle.shape)
        position[..., 0] += self._radius * cosine
        position[..., 1] += self._radius * sine
        quaternion = np.zeros((*angle.shape, 4))
        if self._heading:
            half = 0.5 * (angle + self._lead)
            quaternion[..., 0] = np.cos(half)
            quaternion[..., 3] = np.sin(half)
        else:
            quaternion[..., 0] = 1.0
        return Pose._trusted(position, quaternion)
