"""Which sensors talkers send; refusals that their own tests do not have."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.talkers.choice import body_axes, chosen, forward_right_down, found_or_none, inertial_outputs
from tests.unit.live.talkers.rig import vehicle


def test_the_only_sensor_of_a_kind_need_not_be_named():
    env = vehicle()
    assert chosen(env, "gnss", None, talker="test") == "gnss"
    assert chosen(env, "gnss", "gnss", talker="test") == "gnss"
    assert found_or_none(env, "magnetometer", None, talker="test") is None


def test_several_mounts_are_several_devices():
    env = vehicle(sensors=())
    env.attach(sn.Imu(), body="car", pose=[sn.Pose((0, 1, 0)), sn.Pose((0, -1, 0))])
    with pytest.raises(SpecError, match="'imu' has 1 worlds and 2 sensors of its kind"):
        chosen(env, "imu", None, talker="test")


def test_one_world_with_an_axis_is_one_device():
    assert chosen(vehicle(worlds=1), "imu", None, talker="test") == "imu"


def test_an_imu_of_two_axes_is_refused():
    env = vehicle(sensors=())
    sensor = env.attach(sn.Imu(angular={"axes": "xz"}), body="car")
    with pytest.raises(SpecError, match="sends three axes; angular_velocity of 'imu' has 'xz'"):
        inertial_outputs(sensor, talker="test")


def test_axes_of_a_mount():
    env = vehicle(sensors=())
    sensor = env.attach(sn.Imu(), body="car", pose=sn.Pose.from_euler_deg(yaw=90.0))
    assert body_axes(sensor) @ np.array([1.0, 0.0, 0.0]) == pytest.approx((0, 1, 0), abs=1e-12)
    assert forward_right_down((1.0, 2.0, 3.0)) == (1.0, -2.0, -3.0)
