"""Recordings of real sensors for tests, which are skipped by name where the folder is missing."""

from pathlib import Path

import pytest

from sensorium.recordings.opening import recordings_folder

LIDARS = {
    "vlp16": ("lidar_nebula/vlp16", "VLP16.yaml"),
    "vls128": ("lidar_nebula/vls128", "VLS128.yaml"),
    "pandar64": ("lidar_nebula/pandar64", "Pandar64.csv"),
    "40p": ("lidar_nebula/40p", "Pandar40P.csv"),
    "qt64": ("lidar_nebula/qt64", "PandarQT64.csv"),
    "xt32": ("lidar_nebula/xt32", "PandarXT32.csv"),
    "os0": ("lidar_ouster/OS-0-128-U1_v2.3.0_1024x10.pcap", None),
    "os0-at-rest": ("lidar_ouster/OS-0-128_v3.0.1_1024x10_20241017_141645.osf", None),
    "os1": ("lidar_ouster/OS-1-128_v2.3.0_1024x10_lb_n3.pcap", None),
    "os1-32": ("lidar_ouster/OS-1-32-G_v2.1.1_1024x10.pcap", None),
}


def real(name: str) -> Path:
    """A file or folder of the recordings; skips the test without it."""
    path = recordings_folder() / name
    if not path.exists():
        pytest.skip(f"no recording {name} in {recordings_folder().name}")
    return path


def lidar(name: str) -> tuple[Path, Path | None]:
    """Recording and calibration of a lidar."""
    place, calibration = LIDARS[name]
    path = real(place)
    if path.is_dir():
        path = next(path.glob("*.db3"))
    return path, None if calibration is None else real(f"lidar_nebula/calibration/{calibration}")
