"""A step as sinks get it."""

import pytest

import sensorium as sn
from sensorium.live import LiveStep
from sensorium.record.ros2.step_messages import StepMessages


def test_messages_are_made_at_the_first_access_and_once():
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0)), name="gyro")
    env.step()
    step = LiveStep(env, StepMessages())
    assert step.messages is step.messages
    assert [one.topic for one in step.messages] == ["/clock", "/tf_static", "/gyro/data_raw"]
    assert step.time_ns == 10_000_000


def test_messages_of_a_past_step_are_not_made():
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    env.step()
    step = LiveStep(env, StepMessages())
    env.step()
    with pytest.raises(AssertionError):
        step.messages  # noqa: B018
