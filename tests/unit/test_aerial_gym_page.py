"""The page "Coming from Aerial Gym": every key of theirs is there, and every field it names here exists."""

import re
from inspect import signature
from pathlib import Path

import pytest

import sensorium as sn
from sensorium.corruption import Noise
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.common.spec import SensorSpec

PAGE = (Path(__file__).parents[2] / "docs" / "coming-from-aerial-gym.md").read_text()

# The keys of the simulator's page on sensors, in its order
KEYS = re.split(
    r"\s+",
    "enable_camera camera_config enable_lidar lidar_config enable_imu imu_config height width horizontal_fov_deg_min "
    "horizontal_fov_deg_max vertical_fov_deg_min vertical_fov_deg_max max_range min_range calculate_depth "
    "return_pointcloud pointcloud_in_world_frame segmentation_camera normalize_range calculate_pointcloud num_envs "
    "num_sensor_per_robot num_sensor_per_env randomize_placement min_translation max_translation "
    "min_euler_rotation_deg max_euler_rotation_deg nominal_position nominal_orientation_euler_deg sensor_noise "
    "enable_sensor_noise pixel_dropout_prob pixel_std_dev_multiplier BaseDepthCameraConfig BaseLidarConfig "
    "BaseImuConfig OSDome_64_Config",
)

# Names that are not reached as sn.<name>
ELSEWHERE = {
    "Pinhole": sn.patterns.Pinhole,
    "Raster": sn.patterns.Raster,
    "AttachedSensor": AttachedSensor,
    "SensorSpec": SensorSpec,
    "Noise": Noise,
}

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and not line.startswith(("| ---", "| theirs"))
]


@pytest.mark.parametrize("key", KEYS)
def test_every_key_of_theirs_has_a_row(key):
    assert any(f"`{key}`" in row[0] for row in ROWS)


def exists(name: str) -> bool:
    """Whether a class, and a field, attribute or argument of it, is there."""
    owner, _, field = name.partition(".")
    kind = ELSEWHERE[owner] if owner in ELSEWHERE else getattr(sn, owner, None)
    if kind is None or not field:
        return kind is not None
    return field in getattr(kind, "model_fields", ()) or hasattr(kind, field) or field in signature(kind).parameters


def test_every_row_has_something_here_and_all_it_names_exists():
    assert len(ROWS) > 30
    for theirs, here, remark in ROWS:
        assert re.findall(r"`[A-Z]", here), f"nothing stands for {theirs}"
        for name in re.findall(r"`([A-Z]\w*(?:\.\w+)?)`", f"{here} {remark}"):
            assert exists(name), f"{name}, beside {theirs}, does not exist"


def test_what_does_not_exist_is_noticed():
    assert exists("DepthCamera.max_range_m")
    assert exists("Environment.worlds")
    for wrong in ("DepthCamera.max_range", "DepthCam", "Environment.num_envs", "Pinhole.horizontal_fov_deg"):
        assert not exists(wrong)
