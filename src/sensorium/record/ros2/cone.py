"""sensor_msgs/Range of a cone sensor, with its point and its range rate."""

import math

import numpy as np

from sensorium.record.ros2.message import Message, Source, header, vector
from sensorium.sensors.cone.reading import ConeReading
from sensorium.sensors.cone.sensor import ConeSensor

_ULTRASOUND = 0


def cone(reading: ConeReading, source: Source) -> list[tuple[int, str, Message]]:
    """`range`, +inf if nothing is in sight (REP 117); else also `point` and `range_rate`.

    The point is a geometry_msgs/PointStamped in the sensor's frame, the rate a std_msgs/Float64, which has no header.
    Of a Range's kinds of radiation, ultrasound has a cone. Its field of view is the wider one.
    """
    spec = source.spec
    assert isinstance(spec, ConeSensor)
    ranges, seen = source.rows(reading.range_m), source.rows(reading.in_sight)
    points, rates = source.rows(reading.point, 1), source.rows(reading.range_rate)
    stamp_ns, messages = reading.time_ns, []
    for row in np.flatnonzero(source.rows(reading.valid)).tolist():
        at = header(stamp_ns, source.frames[row])
        fields = {
            "header": at,
            "radiation_type": _ULTRASOUND,
            "field_of_view": math.radians(max(spec.horizontal_fov_deg, spec.vertical_fov_deg)),
            "min_range": 0.0,
            "max_range": spec.range_m,
            "range": float(ranges[row]),
        }
        messages.append((row, "range", Message("sensor_msgs/msg/Range", stamp_ns, fields)))
        if seen[row]:
            fields = {"header": at, "point": vector(points[row])}
            messages.append((row, "point", Message("geometry_msgs/msg/PointStamped", stamp_ns, fields)))
            fields = {"data": float(rates[row])}
            messages.append((row, "range_rate", Message("std_msgs/msg/Float64", stamp_ns, fields)))
    return messages
