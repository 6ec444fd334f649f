"""Bodies that stand still, and straight motion at constant velocity."""

from numpy.typing import ArrayLike

from sensorium.core.frames import Pose
from sensorium.core.rotations import Float
from sensorium.runtime import jit
from sensorium.worlds.paths.base import FIXED, LINE, ROW, ClosedPath, Q, V, W, parameter, row_of


class Line(ClosedPath):
    """p_WB(t) = start + velocity t, without turning.

    >>> world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(1, 0, 0), velocity=(3, 0, 0))}, step_s=1.0)
    >>> env = sn.Environment(sn.Scene(), world)
    >>> env.step()
    >>> env.state.X_WB.position[0, 0].tolist()
    [4.0, 0.0, 0.0]
    """

    kind = LINE

    def __init__(self, start: ArrayLike, velocity: ArrayLike, quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Keep the line.

        Args:
            start: Position at t = 0 [m], shape (*batch, 3).
            velocity: In world axes [m/s], shape (*batch, 3).
            quaternion: Constant orientation R_WB as w x y z, shape (*batch, 4).
        """
        pose = Pose(parameter("start", start, 3), quaternion)
        self.parameters = row_of(pose.position, pose.quaternion, parameter("velocity", velocity, 3))


@jit.function
def line_motion(parameters: Float, t_s: float, row: Float) -> None:
    """Fill a row with the motion at the time t_s [s]; parameters: start, quaternion, velocity."""
    for k in range(3):
        row[k] = parameters[k] + parameters[V + k] * t_s
        row[V + k] = parameters[V + k]
    for k in range(Q, V):
        row[k] = parameters[k]
    for k in range(W, ROW):
        row[k] = 0.0


class Fixed(ClosedPath):
    """X_WB(t) = pose."""

    kind = FIXED

    def __init__(self, pose: Pose) -> None:
        """Keep the pose, of shape () or a batch of its own."""
        self.parameters = row_of(pose.position, pose.quaternion)


@jit.function
def fixed_motion(parameters: Float, t_s: float, row: Float) -> None:
    """Fill a row with the motion at the time t_s [s]; parameters: position, quaternion."""
    for k in range(V):
        row[k] = parameters[k]
    for k in range(V, ROW):
        row[k] = 0.0
