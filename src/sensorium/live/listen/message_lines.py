"""A ROS 2 message in one line, for a terminal."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.record.ros2 import cdr

# Most numbers in a line
_MOST = 8


def message_line(kind: str, data: bytes) -> str:
    """What a message says: the size of a cloud or picture, or its first values; of other bytes, why they are none.

    Args:
        kind: Full name of its type, such as sensor_msgs/msg/Imu.
        data: CDR.
    """
    try:
        message = cdr.decoded(kind, data)
    except SpecError as error:
        return str(error)
    if kind == "sensor_msgs/msg/PointCloud2":
        return f"{message.width * message.height:,} points in {message.header.frame_id}"
    if kind == "sensor_msgs/msg/Image":
        return f"{message.width} x {message.height} {message.encoding} in {message.header.frame_id}"
    values = []
    for name, value in _values(message, ""):
        values.append(f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}")
        if len(values) == _MOST:
            return ", ".join(values) + ", ..."
    return ", ".join(values)


def _values(message: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Numbers and texts of a message with their paths; headers, covariances and other arrays are left out."""
    for field in fields(message):
        value, name = getattr(message, field.name), f"{path}{field.name}"
        if field.name.startswith("__") or field.name == "header":
            continue
        if is_dataclass(value):
            yield from _values(value, f"{name}.")
        elif isinstance(value, list) and value and is_dataclass(value[0]):
            for number, item in enumerate(value):
                yield from _values(item, f"{name}[{number}].")
        elif not isinstance(value, list | np.ndarray):
            yield name, value
