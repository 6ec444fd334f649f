"""Turning in place about a fixed axis."""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.errors import SpecError
from sensorium.frames import Pose
from sensorium.paths.base import Motion, Path, filled, parameter, times, together, zeros
from sensorium.rotations import Float, unit


class Spin(Path):
    """A body at `position`, turned about `axis` by the angle phase + rate t."""

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
        scalars = together((), parameter("rate", rate), parameter("phase", phase))
        self._position, self._axis = together((*scalars[0].shape, 3), p, unit(a))
        self._rate, self._phase = together(self._position.shape[:-1], *scalars)
        self._w_WB = self._rate[..., None] * self._axis

    def pose(self, t_s: ArrayLike) -> Pose:
        """X_WB at the times t_s [s]."""
        half: Float = 0.5 * np.asarray(self._phase + self._rate * times(t_s))
        quaternion = np.empty((*half.shape, 4))
        quaternion[..., 0] = np.cos(half)
        quaternion[..., 1:] = np.sin(half)[..., None] * self._axis
        return Pose._trusted(filled(self._position, half.shape), quaternion)

    def motion(self, t_s: ArrayLike) -> Motion:
        """X_WB and its derivatives: the angular velocity is constant, the rest zero."""
        pose = self.pose(t_s)
        zero = zeros(pose.shape)
        return Motion(pose, zero, filled(self._w_WB, pose.shape), zero, zero)
