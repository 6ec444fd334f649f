"""Commands over control ranges; the handlers are tested with their autopilots."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.talkers.controls import Controls, handler_of, scaled_control
from sensorium.live.talkers.options import ControlOptions


@pytest.mark.parametrize(
    ("channel", "low", "high", "from_minus_one", "value"),
    [
        (0.0, 0.0, 8.0, False, 0.0),
        (0.25, 0.0, 8.0, False, 2.0),
        (-1.0, 0.0, 8.0, True, 0.0),
        (0.0, 0.0, 8.0, True, 4.0),
        (-1.0, -2.0, 2.0, False, -2.0),
        (0.5, -2.0, 2.0, False, 1.0),
        (0.5, -2.0, 2.0, True, 1.0),
        (7.0, -2.0, 2.0, False, 2.0),
        (-7.0, 1.0, 3.0, False, 1.0),
    ],
)
def test_scaled_control(channel, low, high, from_minus_one, value):
    assert scaled_control(channel, low, high, motors_from_minus_one=from_minus_one) == pytest.approx(value)


def test_channels_that_are_off_are_left_alone_or_stop_a_rover():
    car, tree = sn.worlds.Commanded({"car": sn.Pose()}, step_s=0.1), sn.worlds.Static({"tree": sn.Pose()}, step_s=0.1)
    env = sn.Environment(sn.Scene(), sn.worlds.Joined([car, tree]))
    handle = handler_of(env, ControlOptions(body="car", speed_channel=1, turn_channel=9), talker="test")
    for speed, given in ((2.5, 0.5), (5.0, 4.0), (0.0, np.nan)):
        handle(env, Controls(np.array([1.0, given]), False, None, 0))
        env.step()
        assert np.linalg.norm(env.state.v_WB[0, 0]) == pytest.approx(speed)
    assert handler_of(env, ControlOptions(), talker="test") is None


def test_an_actuator_needs_a_range_and_a_name():
    model = """<mujoco><worldbody><body><joint name="hinge"/><geom size="0.1"/></body></worldbody>
      <actuator><motor name="free" joint="hinge"/></actuator></mujoco>"""
    env = sn.Environment.from_mujoco(model)
    with pytest.raises(SpecError, match="the actuator 'free' has no ctrlrange"):
        handler_of(env, ControlOptions(actuators=("free",)), talker="test")
    with pytest.raises(SpecError, match="names the actuator 'fre'; the model has free"):
        handler_of(env, ControlOptions(actuators=("fre",)), talker="test")
