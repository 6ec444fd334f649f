"""sensor_msgs/JointState of an encoder, and nav_msgs/Odometry of a wheel: the distance it rolled, along x."""

import numpy as np

from sensorium.record.ros2.message import Message, Source, diagonal, header, quaternion, vector, white_variance
from sensorium.sensors.joints.encoder_reading import EncoderReading
from sensorium.sensors.joints.odometer import Odometer, OdometerReading


def joint_state(reading: EncoderReading, source: Source) -> list[tuple[int, str, Message]]:
    """Position and velocity of the joint, by its name in the world; effort is not measured, so it is empty.

    The frame is empty too, unless the encoder is on a body: there is nothing to transform.
    """
    position, velocity = source.rows(reading.position), source.rows(reading.velocity)
    messages = []
    for row in np.flatnonzero(source.rows(reading.valid)).tolist():
        fields = {
            "header": header(reading.time_ns, source.frames[row] if source.has_place else ""),
            "name": [source.joint or source.name],
            "position": position[row : row + 1],
            "velocity": velocity[row : row + 1],
            "effort": np.zeros(0),
        }
        messages.append((row, "joint_states", Message("sensor_msgs/msg/JointState", reading.time_ns, fields)))
    return messages


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
