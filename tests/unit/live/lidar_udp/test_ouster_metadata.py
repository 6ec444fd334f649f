"""Metadata against those of a recording, and read by the reader of recordings."""

import json

import numpy as np
import pytest

import sensorium as sn
from sensorium.live.lidar_udp.options import OusterUdp
from sensorium.live.lidar_udp.ouster import OusterPackets
from sensorium.live.lidar_udp.ouster_metadata import metadata_of
from sensorium.recordings.readers.ouster import metadata_of as read
from tests.unit.recordings.real import real


def test_metadata_of_the_sheet_are_those_of_the_unit_that_it_describes():
    spec = sn.Lidar.from_device("ouster-os1-128")
    options = OusterUdp(serial=122246000293, profile="RNG19_RFL8_SIG16_NIR16")
    packets = OusterPackets(spec, options, name="top")
    pose = sn.Pose(position=(0.1, 0.2, 0.3))
    found = metadata_of(packets, options, product="OS-1-128", X_LI=pose, destination="127.0.0.1")
    unit = json.loads(real("lidar_ouster/metadata/3_0_1_os-122246000293-128.json").read_text())
    for group, keys in {
        "beam_intrinsics": unit["beam_intrinsics"],
        "lidar_intrinsics": unit["lidar_intrinsics"],
        "lidar_data_format": ("column_window", "columns_per_frame", "columns_per_packet", "pixel_shift_by_row"),
        "sensor_info": ("prod_line", "prod_sn", "status"),
        "config_params": ("lidar_mode", "azimuth_window", "udp_port_lidar", "udp_port_imu", "timestamp_mode"),
    }.items():
        for key in keys:
            if isinstance(unit[group][key], list):
                np.testing.assert_allclose(found[group][key], unit[group][key], atol=1e-9, err_msg=key)
            else:
                assert found[group][key] == pytest.approx(unit[group][key]), key
    # The sensor frame is turned by 180 degrees about z, and 38.195 mm below the lidar frame
    matrix = np.array(found["imu_intrinsics"]["imu_to_sensor_transform"]).reshape(4, 4)
    np.testing.assert_allclose(matrix[:3, 3], [-100.0, -200.0, 338.195])
    np.testing.assert_allclose(matrix[:3, :3], np.diag([-1.0, -1.0, 1.0]))
    assert read(found).profile == "RNG19_RFL8_SIG16_NIR16"
    assert read(found).columns_per_turn == 1024
