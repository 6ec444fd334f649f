"""nav_msgs/Odometry: the distance that a wheel rolled, along x."""

import numpy as np

from sensorium.record.ros2.covariance import diagonal, white_variance
from sensorium.record.ros2.message import Message, header, quaternion, vector
from sensorium.record.ros2.source import Source
from sensorium.sensors.joints.odometer import Odometer, OdometerReading

# Variance of values that a wheel does not measure, as in wheel drivers [m^2 and rad^2, and the same a second]
_NOT_MEASURED = 1e6


def odometry(reading: OdometerReading, source: Source) -> list[tuple[int, str, Message]]:
    """Distance as position.x and its rate as linear.x, in a frame of the odometer's own, `<sensor>_start`.

    The other axes are zero with a variance of 1e6. The variance of the distance is that of its white noise.
    """
    assert isinstance(source.spec, Odometer)
    variance = float(white_variance(source.spec.noise, width=1, period_s=source.period_s)[0])
    distance, velocity = source.rows(reading.distance), source.rows(reading.velocity)
    of_pose = diagonal(np.array([variance, *[_NOT_MEASURED] * 5]))
    of_twist = diagonal(np.array([0.0, *[_NOT_MEASURED] * 5]))
    messages = []
    for row in np.flatnonzero(source.rows(reading.valid)).tolist():
        pose = {"position": vector((distance[row], 0.0, 0.0)), "orientation": quaternion((1.0, 0.0, 0.0, 0.0))}
        twist = {"linear": vector((velocity[row], 0.0, 0.0)), "angular": vector((0.0, 0.0, 0.0))}
        fields = {
            "header": header(reading.time_ns, f"{source.frames[row]}_start"),
            "child_frame_id": source.frames[row],
            "pose": {"pose": pose, "covariance": of_pose},
            "twist": {"twist": twist, "covariance": of_twist},
        }
        messages.append((row, "odometry", Message("nav_msgs/msg/Odometry", reading.time_ns, fields)))
    return messages
