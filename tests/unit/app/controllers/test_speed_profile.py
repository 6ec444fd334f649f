"""Speeds by the clock."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.app.controllers import SpeedProfile
from sensorium.core.errors import SpecError


def test_a_body_drives_as_the_table_says():
    world = sn.worlds.Commanded({"car": sn.Pose()}, step_s=0.01)
    env = sn.Environment(sn.Scene(), world)
    control = SpeedProfile(body="car", speeds=((0.0, 0.0), (2.0, 8.0), (3.0, 8.0))).start(env)
    for _ in env.run(4.0):
        control.step(env)
    assert env.state.v_WB[0, 0, 0] == 8.0
    assert env.state.X_WB.position[0, 0, 0] == pytest.approx(8.0 + 16.0, abs=0.05)
    np.testing.assert_array_equal(env.state.X_WB.position[0, 0, 1:], 0.0)


def test_times_must_rise():
    with pytest.raises(SpecError, match="they must rise"):
        SpeedProfile(body="car", speeds=((1.0, 0.0), (1.0, 2.0)))
