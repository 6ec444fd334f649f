"""sensor_msgs/JointState, byte by byte."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.record.ros2.joints import joint_state
from sensorium.sensors.common.sampled import Sample
from sensorium.sensors.joints.edge_counter import POSITION, VELOCITY
from sensorium.sensors.joints.encoder_reading import EncoderLayout, EncoderReading


def reading_of(sensor, position, velocity, valid):
    x = np.zeros((len(position), 4))
    x[:, POSITION], x[:, VELOCITY] = position, velocity
    sample = Sample(5 * 10**9 + 123, 0.01, x, x, np.array(valid))
    return EncoderReading(sample, EncoderLayout(sensor.rig, True, False, 0, 0))


@pytest.mark.parametrize("name", ["e", "en", "enc", "enco", "encod", "encode", "encoder", "encoders"])
def test_a_joint_is_told_by_its_name_wherever_numbers_begin(attached, decoded, name):
    """Names of all lengths up to a word of 8 bytes, so that numbers need all paddings there are."""
    sensor, source = attached(sn.Encoder(timing=sn.Timing(rate_hz=100)), joint="elbow", body="car", name=name)
    ((row, topic, message),) = joint_state(reading_of(sensor, [1.25], [-0.5], [True]), source)
    assert (row, topic, message.kind) == (0, "joint_states", "sensor_msgs/msg/JointState")
    bytes_of = decoded(message)
    assert bytes_of.header() == (5 * 10**9 + 123, name)
    assert bytes_of.take("I") == [1]
    assert bytes_of.text() == "elbow"
    assert bytes_of.numbers("d") == [1.25]
    assert bytes_of.numbers("d") == [-0.5]
    assert bytes_of.numbers("d") == []  # effort, which no encoder measures
    assert bytes_of.bytes_left() == 0


def test_worlds_have_messages_of_their_own_and_one_without_a_position_has_none(attached, decoded):
    sensor, source = attached(sn.Encoder(timing=sn.Timing(rate_hz=100)), joint="elbow", body="car", name="e", worlds=3)
    found = joint_state(reading_of(sensor, [1.0, np.nan, 3.0], [0.0, 0.0, 0.0], [True, True, True]), source)
    assert [row for row, _, _ in found] == [0, 2]
    assert [decoded(message).header()[1] for _, _, message in found] == ["world_0/e", "world_2/e"]
    void = joint_state(reading_of(sensor, [1.0, 2.0, 3.0], [0.0] * 3, [False, False, True]), source)
    assert [row for row, _, _ in void] == [2]


def test_an_encoder_on_no_body_has_no_frame(attached, decoded):
    sensor, source = attached(sn.Encoder(timing=sn.Timing(rate_hz=100)), joint="elbow", name="e")
    ((_, _, message),) = joint_state(reading_of(sensor, [1.25], [-0.5], [True]), source)
    assert decoded(message).header()[1] == ""
