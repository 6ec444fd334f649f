"""A body that stays where it is."""

from sensorium.core.frames import Pose
from sensorium.core.rotations import Float
from sensorium.runtime import jit
from sensorium.worlds.paths.closed import FIXED, ROW, ClosedPath, V, row_of


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
