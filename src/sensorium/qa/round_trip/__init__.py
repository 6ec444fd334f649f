"""Round trips: simulate a device, and measure the values of its data sheet from its output."""

import os

from sensorium.devices import Device, describe
from sensorium.qa.round_trip.camera import camera_rows
from sensorium.qa.round_trip.depth_camera import depth_camera_rows
from sensorium.qa.round_trip.encoder import encoder_rows
from sensorium.qa.round_trip.inertial import inertial_rows
from sensorium.qa.round_trip.lidar import lidar_rows
from sensorium.qa.round_trip.radar import radar_rows
from sensorium.qa.round_trip.row import Row

_KINDS = {
    "lidar": lidar_rows,
    "imu": inertial_rows,
    "magnetometer": inertial_rows,
    "encoder": encoder_rows,
    "camera": camera_rows,
    "depth_camera": depth_camera_rows,
    "radar": radar_rows,
}


def round_trip(name: str | os.PathLike[str], *, folder: str | os.PathLike[str] | None = None) -> list[Row]:
    """Values of a device's data sheet, stated and measured from its simulated output, in the sheet's units.

    Args:
        name: One of `sensorium.devices.names()`, or the path of a TOML file.
        folder: A folder of further sheets.
    """
    return measured(describe(name, folder=folder))


def measured(device: Device) -> list[Row]:
    """The same for a device at hand."""
    return _KINDS[device.kind](device)


__all__ = ["Row", "measured", "round_trip"]
