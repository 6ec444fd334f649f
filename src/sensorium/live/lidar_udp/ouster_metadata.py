"""Ouster: the metadata that its drivers need, made from the lidar's specification."""

from typing import Any

import numpy as np

from sensorium.core.frames import Pose
from sensorium.live.lidar_udp.options import OusterUdp
from sensorium.live.lidar_udp.ouster import COLUMNS_PER_PACKET, OusterPackets, session_of

FIRMWARE = "ousteros-image-prod-bootes-v3.0.1"
_BUILD = "v3.0.1"

# Height of the lidar frame above the sensor frame [mm]; metadata 3_0_1_os-122246000293-128.json of ouster-sdk
_LIDAR_HEIGHT_MM = 38.195


def metadata_of(
    packets: OusterPackets, options: OusterUdp, *, product: str, X_LI: Pose | None, destination: str
) -> dict[str, Any]:
    """Metadata in the groups of firmware 3, as `/api/v1/sensor/metadata` answers and as JSON files have them.

    Args:
        packets: Of the lidar.
        options: Its options.
        product: Product line, such as OS-1-128.
        X_LI: Pose of the IMU in the lidar frame; None if it has no IMU or another body.
        destination: Address that packets go to.
    """
    pattern, origin_mm = packets.pattern, 1e3 * packets.origin_m
    azimuth_deg = [-offset for offset in pattern.azimuth_offset_deg or [0.0] * packets.channels]
    lidar_to_sensor = np.diag([-1.0, -1.0, 1.0, 1.0])
    lidar_to_sensor[2, 3] = _LIDAR_HEIGHT_MM
    imu_to_sensor = np.eye(4)
    if X_LI is not None:
        imu_to_lidar = np.eye(4)
        imu_to_lidar[:3] = X_LI.matrix * [1.0, 1.0, 1.0, 1e3]
        imu_to_sensor = lidar_to_sensor @ imu_to_lidar
    beam_to_lidar = np.eye(4)
    beam_to_lidar[0, 3] = origin_mm
    ports = {"udp_port_lidar": options.lidar_port, "udp_port_imu": options.imu_port}
    profiles = {"udp_profile_lidar": packets.profile, "udp_profile_imu": "LEGACY"}
    return {
        "sensor_info": {
            "build_date": "2023-02-03T21:45:40Z",
            "build_rev": _BUILD,
            "image_rev": FIRMWARE,
            "initialization_id": session_of(options),
            "prod_line": product,
            "prod_pn": "",
            "prod_sn": str(options.serial),
            "status": "RUNNING",
        },
        "beam_intrinsics": {
            "beam_altitude_angles": list(pattern.elevation_deg),
            "beam_azimuth_angles": azimuth_deg,
            "beam_to_lidar_transform": _rows(beam_to_lidar),
            "lidar_origin_to_beam_origin_mm": origin_mm,
        },
        "lidar_intrinsics": {"lidar_to_sensor_transform": _rows(lidar_to_sensor)},
        "imu_intrinsics": {"imu_to_sensor_transform": _rows(imu_to_sensor)},
        "calibration_status": {"reflectivity": {"timestamp": "", "valid": True}},
        "lidar_data_format": {
            "column_window": [0, packets.columns - 1],
            "columns_per_frame": packets.columns,
            "columns_per_packet": COLUMNS_PER_PACKET,
            "pixel_shift_by_row": [round(angle / 360.0 * packets.columns) for angle in azimuth_deg],
            "pixels_per_column": packets.channels,
            **profiles,
        },
        "config_params": {
            "azimuth_window": [0, 360000],
            "columns_per_packet": COLUMNS_PER_PACKET,
            "lidar_mode": packets.mode,
            "operating_mode": "NORMAL",
            "phase_lock_enable": False,
            "signal_multiplier": 1,
            "timestamp_mode": "TIME_FROM_INTERNAL_OSC",
            "udp_dest": destination,
            **ports,
            **profiles,
        },
    }


def _rows(matrix: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    """The sixteen numbers of a matrix, row by row."""
    return [float(number) for number in matrix.reshape(-1)]
