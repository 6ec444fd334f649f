"""A body that stays where it is."""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.frames import Pose
from sensorium.paths.base import Motion, Path, times, zeros


class Fixed(Path):
    """X_WB(t) = pose."""

    def __init__(self, pose: Pose) -> None:
        """Keep the pose, of shape () or a batch of its own."""
        self._pose = pose

    def pose(self, t_s: ArrayLike) -> Pose:
        """X_WB at the times t_s [s]."""
        return self._pose.broadcast_to(np.broadcast_shapes(times(t_s).shape, self._pose.shape))

    def motion(self, t_s: ArrayLike) -> Motion:
        """X_WB, and zero velocities and accelerations."""
        pose = self.pose(t_s)
        zero = zeros(pose.shape)
        return Motion(pose, zero, zero, zero, zero)
