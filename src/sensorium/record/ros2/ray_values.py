"""User-defined ray sensors: std_msgs/Float64 of a single value, sensor_msgs/Image (32FC1) of a table of them."""

import numpy as np

from sensorium.record.ros2.image import image
from sensorium.record.ros2.message import Message
from sensorium.record.ros2.source import Source
from sensorium.sensors.ray_sensor.ray_sensor import RayReading


def ray_values(reading: RayReading, source: Source) -> list[tuple[int, str, Message]]:
    """Values in the sensor's own unit; those of one axis are a single row, those of three and more are in rows."""
    values = source.rows(reading.values, tail=len(reading.shape))
    stamp_ns, messages = reading.time_ns, []
    for row in np.flatnonzero(source.rows(reading.valid)).tolist():
        if reading.shape:
            table = values[row].reshape(-1, reading.shape[-1]).astype(np.float32)
            message = image(table, "32FC1", stamp_ns=stamp_ns, frame_id=source.frames[row])
        else:
            message = Message("std_msgs/msg/Float64", stamp_ns, {"data": float(values[row])})
        messages.append((row, "values", message))
    return messages
