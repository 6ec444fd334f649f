"""Devices by name: data sheets as data, each value with its source and grade.

`sn.Lidar.from_device("ouster-os1-128")` makes a sensor from one; `print(sn.devices.describe("ouster-os1-128"))` lists
its values with their sources and grades.
"""

from sensorium.devices.camera_sheet import CameraSheet
from sensorium.devices.depth_camera_sheet import DepthCameraSheet
from sensorium.devices.encoder_sheet import EncoderSheet
from sensorium.devices.inertial_sheet import ImuSheet, MagnetometerSheet
from sensorium.devices.library import Device, describe, merged, names, specification
from sensorium.devices.lidar_sheet import LidarSheet
from sensorium.devices.radar_sheet import RadarSheet
from sensorium.devices.sheet import GRADES, Quantity, Sheet

__all__ = [
    "GRADES",
    "CameraSheet",
    "DepthCameraSheet",
    "Device",
    "EncoderSheet",
    "ImuSheet",
    "LidarSheet",
    "MagnetometerSheet",
    "Quantity",
    "RadarSheet",
    "Sheet",
    "describe",
    "merged",
    "names",
    "specification",
]
