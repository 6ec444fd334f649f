"""sensor_msgs/Imu, sensor_msgs/MagneticField and increments as geometry_msgs/Vector3Stamped."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.record.ros2.message import (
    ABSENT,
    UNKNOWN,
    Message,
    Source,
    diagonal,
    header,
    quaternion,
    vector,
    white_variance,
)
from sensorium.sensors.inertial.reading import INTEGRALS, RATES, InertialReading
from sensorium.sensors.inertial.triaxial import AXES, Triaxial

Float = NDArray[np.float64]

_GROUPS = dict(zip(RATES, ("linear", "angular", "magnetic"), strict=True))


def inertial(reading: InertialReading, source: Source) -> list[tuple[int, str, Message]]:
    """Messages of a reading: `data_raw` (Imu), `mag`, `delta_velocity`, `delta_angle`.

    There is no orientation, hence the name (REP 145), which the message says by -1 too; so it does of an acceleration
    or a rate that is not measured.
    Values are in each group's own axes; an axis that is not read out is NaN.
    """
    outputs = reading._layout.outputs
    values = {name: source.rows(getattr(reading, name), 1) for name in outputs}
    valid = source.rows(reading.valid)
    messages: list[tuple[int, str, Message]] = []
    for row in np.flatnonzero(valid).tolist():
        at = header(reading.time_ns, source.frames[row])
        if "acceleration" in outputs or "angular_velocity" in outputs:
            fields: dict[str, Any] = {
                "header": at,
                "orientation": quaternion((1.0, 0.0, 0.0, 0.0)),
                "orientation_covariance": ABSENT,
            }
            for name, field in (("angular_velocity", "angular_velocity"), ("acceleration", "linear_acceleration")):
                known = name in outputs
                xyz = _three(source, name, values[name][row]) if known else np.zeros(3)
                fields |= {field: vector(xyz), f"{field}_covariance": _covariance(source, name) if known else ABSENT}
            messages.append((row, "data_raw", Message("sensor_msgs/msg/Imu", reading.time_ns, fields)))
        if "magnetic_field" in outputs:
            fields = {
                "header": at,
                "magnetic_field": vector(_three(source, "magnetic_field", values["magnetic_field"][row])),
                "magnetic_field_covariance": _covariance(source, "magnetic_field"),
            }
            messages.append((row, "mag", Message("sensor_msgs/msg/MagneticField", reading.time_ns, fields)))
        for name in INTEGRALS:
            if name in outputs:
                fields = {"header": at, "vector": vector(_three(source, INTEGRALS[name], values[name][row]))}
                messages.append((row, name, Message("geometry_msgs/msg/Vector3Stamped", reading.time_ns, fields)))
    return messages


def _group(source: Source, rate: str) -> Triaxial:
    """The part of the specification that measures a rate: a group of an IMU, or the sensor itself."""
    group = getattr(source.spec, _GROUPS[rate], source.spec)
    assert isinstance(group, Triaxial)
    return group


def _three(source: Source, rate: str, picked: Float) -> Float:
    """Values of the axes that are read out, each in its place."""
    out = np.full(3, np.nan)
    out[[AXES.index(axis) for axis in _group(source, rate).axes]] = picked
    return out


def _covariance(source: Source, rate: str) -> Float:
    variances = white_variance(_group(source, rate).noise, width=3, period_s=source.period_s)
    return diagonal(variances) if variances.any() else UNKNOWN
