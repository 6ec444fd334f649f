"""sensor_msgs/LaserScan: the sweep of a lidar whose rays fan out in one plane."""

from functools import lru_cache

import numpy as np

from sensorium.patterns import Pattern
from sensorium.record.ros2.message import Message, Source, header
from sensorium.record.ros2.point_cloud import offsets_ns
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan

# How far a ray may lie off the plane or off equal steps [rad]; directions are float32
_TOLERANCE_RAD = 1e-5


def laser_scan(scan: Scan, source: Source) -> list[tuple[int, str, Message]]:
    """One message a row for a lidar of one channel and several columns; none for any other.

    The rays must start in the sensor's origin and lie in its xy-plane at equal steps, the same in every sweep, and the
    scan must be a whole sweep. The first return of each ray counts, in the order of firing: a lidar that turns
    clockwise has a negative increment. Where nothing returned the range is +inf (REP 117). A lidar that models no light
    has no intensities. The stamp is the time of the first firing by the sensor's clock.
    """
    spec = source.spec
    if not isinstance(spec, Lidar) or scan.range_m.shape[-2] != 1 or scan.range_m.shape[-1] == 1:
        return []
    angles = _angles(spec.pattern)
    if angles is None or angles[2] != scan.range_m.shape[-1]:
        return []
    first_rad, step_rad, columns = angles
    rows = len(source.frames)
    ranges = np.where(scan.valid, scan.range_m, np.float32(np.inf)).reshape(rows, -1, columns)[:, 0]
    strengths = None if scan.light is None else np.where(scan.valid, scan.intensity, 0).reshape(rows, -1, columns)[:, 0]
    offset_ns = offsets_ns(scan).reshape(-1)
    stamp_ns = int(scan.ray_time_ns[..., 0, 0].flat[0])
    messages = []
    for row in range(rows):
        fields = {
            "header": header(stamp_ns, source.frames[row]),
            "angle_min": first_rad,
            "angle_max": first_rad + (columns - 1) * step_rad,
            "angle_increment": step_rad,
            "time_increment": float(offset_ns[-1] - offset_ns[0]) * 1e-9 / (columns - 1),
            "scan_time": 1.0 / spec.pattern.rate_hz,
            "range_min": spec.min_range_m,
            "range_max": spec.max_range_m,
            "ranges": ranges[row].astype(np.float32),
            "intensities": np.zeros(0, np.float32) if strengths is None else strengths[row].astype(np.float32),
        }
        messages.append((row, "scan", Message("sensor_msgs/msg/LaserScan", stamp_ns, fields)))
    return messages


@lru_cache(maxsize=64)
def _angles(pattern: Pattern) -> tuple[float, float, int] | None:
    """First angle and step [rad], and number of rays, where they lie in one plane at equal steps; else None."""
    if pattern.cycle != 1:
        return None
    table = pattern.rays()
    if table.origin_S is not None or table.shape[0] != 1:
        return None
    direction = table.direction_S[0].astype(np.float64)
    angle_rad = np.unwrap(np.arctan2(direction[:, 1], direction[:, 0]))
    steps_rad = np.diff(angle_rad)
    step_rad = float(angle_rad[-1] - angle_rad[0]) / len(steps_rad)
    is_plane = np.abs(direction[:, 2]).max() < _TOLERANCE_RAD
    if not is_plane or abs(step_rad) < _TOLERANCE_RAD or np.abs(steps_rad - step_rad).max() > _TOLERANCE_RAD:
        return None
    return float(angle_rad[0]), step_rad, len(direction)
