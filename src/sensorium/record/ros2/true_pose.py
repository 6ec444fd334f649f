"""geometry_msgs/PoseStamped: the true pose of a sensor with a random placement."""

from sensorium.core.frames import Pose
from sensorium.record.ros2.message import Message, header, quaternion, vector
from sensorium.record.ros2.source import Source


def true_pose(X_WS: Pose, row: int, source: Source, stamp_ns: int) -> Message:
    """Pose of one row in its world.

    Args:
        X_WS: Poses at the knots of a reading, batch shape (knots, worlds, sensors); the first counts.
        row: Number of the sensor, world by world.
        source: Whose reading it is.
        stamp_ns: Of the reading, by the sensor's clock [ns].
    """
    own = X_WS[0].reshape(-1)[row]
    pose = {"position": vector(own.position), "orientation": quaternion(own.quaternion)}
    fields = {"header": header(stamp_ns, source.roots[row]), "pose": pose}
    return Message("geometry_msgs/msg/PoseStamped", stamp_ns, fields)
