"""Straight motion at constant velocity."""

from numpy.typing import ArrayLike

from sensorium.frames import Pose
from sensorium.paths.base import Motion, Path, filled, parameter, times, together, zeros
from sensorium.rotations import Float


class Line(Path):
    """p_WB(t) = start + velocity t, without turning."""

    def __init__(self, start: ArrayLike, velocity: ArrayLike, quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Keep the line.

        Args:
            start: Position at t = 0 [m], shape (*batch, 3).
            velocity: In world axes [m/s], shape (*batch, 3).
            quaternion: Constant orientation R_WB as w x y z, shape (*batch, 4).
        """
        self._start = Pose(parameter("start", start, 3), quaternion)
        self._velocity, *_ = together(self._start.shape + (3,), parameter("velocity", velocity, 3))

    def pose(self, t_s: ArrayLike) -> Pose:
        """X_WB at the times t_s [s]."""
        position, quaternion = self._evaluate(times(t_s))
        return Pose._trusted(position, quaternion)

    def motion(self, t_s: ArrayLike) -> Motion:
        """X_WB and its derivatives: the velocity is constant, the rest zero."""
        position, quaternion = self._evaluate(times(t_s))
        shape = position.shape[:-1]
        zero = zeros(shape)
        pose = Pose._trusted(position, quaternion)
        return Motion(pose, filled(self._velocity, shape), zero, zero, zero)

    def _evaluate(self, t: Float) -> tuple[Float, Float]:
        position = self._start.position + self._velocity * t[..., None]
        return position, filled(self._start.quaternion, position.shape[:-1])
