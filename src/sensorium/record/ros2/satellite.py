"""sensor_msgs/NavSatFix with geometry_msgs/TwistStamped of a satellite navigation receiver."""

import numpy as np
from numpy.typing import NDArray

from sensorium.record.ros2.message import UNKNOWN, Message, Source, diagonal, header, vector, white_variance
from sensorium.sensors.gnss import Gnss, GnssReading

_STATUS_FIX, _STATUS_NO_FIX, _SERVICE_GPS = 0, -1, 1
_COVARIANCE_UNKNOWN, _COVARIANCE_DIAGONAL = 0, 2


def satellite(reading: GnssReading, source: Source) -> list[tuple[int, str, Message]]:
    """`fix` with latitude, longitude and height, `vel` with the velocity in the world's axes.

    A receiver without an origin has no latitude: `position`, a geometry_msgs/PointStamped in the world, replaces its
    fix. Without a fix the numbers are NaN and the status says so.
    """
    assert isinstance(source.spec, Gnss)
    has_origin = source.spec.origin is not None
    fix, velocity = source.rows(reading.fix), source.rows(reading.velocity, 1)
    where = source.rows(reading.geodetic if has_origin else reading.position, 1)
    variances = position_variances(source.spec, source.period_s)
    messages = []
    for row in np.flatnonzero(source.rows(reading.valid)).tolist():
        in_world = header(reading.time_ns, source.roots[row])
        if has_origin:
            fields = {
                "header": header(reading.time_ns, source.frames[row]),
                "status": {"status": _STATUS_FIX if fix[row] else _STATUS_NO_FIX, "service": _SERVICE_GPS},
                "latitude": float(where[row, 0]),
                "longitude": float(where[row, 1]),
                "altitude": float(where[row, 2]),
                "position_covariance": diagonal(variances) if variances.any() else UNKNOWN,
                "position_covariance_type": _COVARIANCE_DIAGONAL if variances.any() else _COVARIANCE_UNKNOWN,
            }
            messages.append((row, "fix", Message("sensor_msgs/msg/NavSatFix", reading.time_ns, fields)))
        else:
            fields = {"header": in_world, "point": vector(where[row])}
            messages.append((row, "position", Message("geometry_msgs/msg/PointStamped", reading.time_ns, fields)))
        twist = {"linear": vector(velocity[row]), "angular": vector((0.0, 0.0, 0.0))}
        fields = {"header": in_world, "twist": twist}
        messages.append((row, "vel", Message("geometry_msgs/msg/TwistStamped", reading.time_ns, fields)))
    return messages


def position_variances(spec: Gnss, period_s: float) -> NDArray[np.float64]:
    """East, north and up [m^2]: white noise and the wander, which is the largest error of such a receiver."""
    variances = white_variance(spec.position.noise, width=3, period_s=period_s)
    wander_m = spec.wander_std_m or spec.position.noise.gauss_markov_std or 0.0
    return np.asarray(variances + np.asarray(wander_m, np.float64) ** 2)
