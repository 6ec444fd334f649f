"""Which messages each kind of reading becomes."""

from collections.abc import Callable
from typing import Any

from sensorium.record.ros2.camera import camera
from sensorium.record.ros2.cone import cone
from sensorium.record.ros2.depth_camera import depth_camera
from sensorium.record.ros2.image import range_image
from sensorium.record.ros2.inertial import inertial
from sensorium.record.ros2.joints import joint_state, odometry
from sensorium.record.ros2.message import Message
from sensorium.record.ros2.point_cloud import point_cloud, single_range
from sensorium.record.ros2.radar import radar
from sensorium.record.ros2.run_topics import true_pose
from sensorium.record.ros2.satellite import satellite
from sensorium.record.ros2.source import Source
from sensorium.record.ros2.values import pressure, ray_values, sun_cosine
from sensorium.record.ros2.waveforms import waveforms
from sensorium.sensors.barometer import BarometerReading
from sensorium.sensors.camera.image import CameraImage
from sensorium.sensors.cone.reading import ConeReading
from sensorium.sensors.depth_camera.image import DepthImage
from sensorium.sensors.gnss import GnssReading
from sensorium.sensors.inertial.reading import InertialReading
from sensorium.sensors.joints.encoder_reading import EncoderReading
from sensorium.sensors.joints.odometer import OdometerReading
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan
from sensorium.sensors.radar.reading import RadarReading
from sensorium.sensors.ray_sensor.ray_sensor import RayReading
from sensorium.sensors.sun_sensor import SunSensorReading


def _scan(scan: Scan, source: Source) -> list[tuple[int, str, Message]]:
    """The points, for a lidar of one ray the range, and what else there is: samples, range images, drawn placements."""
    messages = [*point_cloud(scan, source), *single_range(scan, source), *waveforms(scan, source)]
    for row, frame in enumerate(source.frames):
        if scan.range_image is not None:
            messages.append((row, "range_image", range_image(scan.one(row), frame_id=frame)))
        if isinstance(source.spec, Lidar) and source.spec.randomize is not None:
            messages.append((row, "pose", true_pose(scan.X_WS, row, source, scan.time_ns)))
    return messages


_MESSAGES: dict[type, Callable[[Any, Source], list[tuple[int, str, Message]]]] = {
    Scan: _scan,
    CameraImage: camera,
    DepthImage: depth_camera,
    InertialReading: inertial,
    EncoderReading: joint_state,
    OdometerReading: odometry,
    GnssReading: satellite,
    BarometerReading: pressure,
    SunSensorReading: sun_cosine,
    RayReading: ray_values,
    ConeReading: cone,
    RadarReading: radar,
}


def has_messages(reading: Any) -> bool:
    """Whether a reading is of a kind that can be recorded."""
    return type(reading) in _MESSAGES


def messages_of(reading: Any, source: Source) -> list[tuple[str, Message]]:
    """Topics and messages of one reading; several where there are worlds, sensors or quantities."""
    found = _MESSAGES[type(reading)](reading, source)
    return [(source.topic(row, end), message) for row, end, message in found]
