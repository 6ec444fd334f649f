"""Sensors of one number: sensor_msgs/FluidPressure of a barometer, std_msgs/Float64 of a sun sensor."""

import numpy as np

from sensorium.record.ros2.covariance import white_variance
from sensorium.record.ros2.message import Message, header
from sensorium.record.ros2.source import Source
from sensorium.sensors.barometer import Barometer, BarometerReading
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
