"""sensor_msgs/JointState of an encoder."""

import numpy as np

from sensorium.record.ros2.message import Message, header
from sensorium.record.ros2.source import Source
from sensorium.sensors.joints.encoder_reading import EncoderReading


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
