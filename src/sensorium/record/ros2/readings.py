"""Which messages each reading becomes, by the registration of its sensor."""

from collections.abc import Callable, Iterable
from typing import Any

from sensorium.record.ros2 import cdr
from sensorium.record.ros2.laser_scan import laser_scan
from sensorium.record.ros2.message import Message, Source, range_image
from sensorium.record.ros2.point_cloud import point_cloud, single_range
from sensorium.record.ros2.run_topics import true_pose
from sensorium.record.ros2.waveforms import waveforms
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan
from sensorium.sensors.registry import kind_of, loaded

Messages = Callable[[Any, Source], Iterable[tuple[int, str, Message]]]
"""Makes the messages of a reading: row of the source, end of the topic, message."""


def messages_function(reading: Any, source: Source) -> Messages | None:
    """What makes messages of a sensor's readings; None if there is none.

    Types of messages that the sensor's registration brings can be encoded from then on.

    Args:
        reading: The first.
        source: Whose it is.
    """
    sensor = kind_of(source.spec, type(reading))
    if sensor.messages is None:
        return None
    cdr.add_types(sensor.message_types)
    made: Messages = loaded(sensor.messages)
    return made


def messages_of(reading: Any, source: Source) -> list[tuple[str, Message]]:
    """Topics and messages of one reading; several where there are worlds, sensors or quantities."""
    function = messages_function(reading, source)
    found = () if function is None else function(reading, source)
    return [(source.topic(row, end), message) for row, end, message in found]


def scan_messages(scan: Scan, source: Source) -> list[tuple[int, str, Message]]:
    """The points; for a lidar of one ray the range, of one plane the laser scan; and what else there is.

    That is samples, range images and drawn placements.
    """
    flat = [*single_range(scan, source), *laser_scan(scan, source)]
    messages = [*point_cloud(scan, source), *flat, *waveforms(scan, source)]
    for row, frame in enumerate(source.frames):
        if scan.range_image is not None:
            messages.append((row, "range_image", range_image(scan.one(row), frame_id=frame)))
        if isinstance(source.spec, Lidar) and source.spec.randomize is not None:
            messages.append((row, "pose", true_pose(scan.X_WS, row, source, scan.time_ns)))
    return messages
