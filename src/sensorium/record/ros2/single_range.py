"""sensor_msgs/Range: a lidar of one ray, which is a rangefinder."""

import numpy as np

from sensorium.record.ros2.message import Message, header
from sensorium.record.ros2.source import Source
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan

_INFRARED = 1


def single_range(scan: Scan, source: Source) -> list[tuple[int, str, Message]]:
    """One message a row where the scan has one ray; none for any other.

    The range is that of the first return [m], and +inf without a return (REP 117). The field of view is the beam's full
    angle if the lidar models light, and 0 for a geometric ray. The stamp is the time of firing by the sensor's clock.
    """
    if scan.range_m.shape[-2:] != (1, 1):
        return []
    spec = source.spec
    assert isinstance(spec, Lidar)
    rows = len(source.frames)
    ranges, valid = scan.range_m.reshape(rows, -1)[:, 0], scan.valid.reshape(rows, -1)[:, 0]
    stamp_ns = int(scan.time_ns.flat[0])
    messages = []
    for row in range(rows):
        fields = {
            "header": header(stamp_ns, source.frames[row]),
            "radiation_type": _INFRARED,
            "field_of_view": 0.0 if spec.mode == "geometric" else 2.0 * spec.beam.widest_rad,
            "min_range": spec.min_range_m,
            "max_range": spec.max_range_m,
            "range": float(ranges[row]) if valid[row] else np.inf,
        }
        messages.append((row, "range", Message("sensor_msgs/msg/Range", stamp_ns, fields)))
    return messages
