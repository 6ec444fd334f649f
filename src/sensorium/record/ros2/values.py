"""Sensors of plain numbers: barometer, sun sensor, and ray sensors of one's own.

sensor_msgs/FluidPressure, std_msgs/Float64 of a single value, and sensor_msgs/Image (32FC1) of a table of them.
"""

import numpy as np

from sensorium.record.ros2.message import Message, Source, header, image, white_variance
from sensorium.sensors.barometer import Barometer, BarometerReading
from sensorium.sensors.ray_sensor.ray_sensor import RayReading
from sensorium.sensors.sun_sensor import SunSensorReading


def pressure(reading: BarometerReading, source: Source) -> list[tuple[int, str, Message]]:
    """Pressure [Pa] with the variance of its white noise, 0 where that is not known."""
    assert isinstance(source.spec, Barometer)
    variance = float(white_variance(source.spec.noise, width=1, period_s=source.period_s)[0])
    values = source.rows(reading.pressure_Pa)
    messages = []
    for row in np.flatnonzero(source.rows(reading.valid)).tolist():
        at = header(reading.time_ns, source.frames[row])
        fields = {"header": at, "fluid_pressure": float(values[row]), "variance": variance}
        messages.append((row, "pressure", Message("sensor_msgs/msg/FluidPressure", reading.time_ns, fields)))
    return messages


def sun_cosine(reading: SunSensorReading, source: Source) -> list[tuple[int, str, Message]]:
    """The cosine; the message has no header, so its time is the time of publishing alone."""
    values = source.rows(reading.cosine)
    return [
        (row, "cosine", Message("std_msgs/msg/Float64", reading.time_ns, {"data": float(values[row])}))
        for row in np.flatnonzero(source.rows(reading.valid)).tolist()
    ]


def ray_values(reading: RayReading, source: Source) -> list[tuple[int, str, Message]]:
    """Values in the sensor's own unit; those of one axis are a single row, those of three and more stand in rows."""
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
