"""Values of ray sensors of one's own: std_msgs/Float64, or sensor_msgs/Image, byte by byte."""

import struct

import numpy as np
import pytest

import sensorium as sn
from sensorium.record.ros2.values import ray_values
from sensorium.sensors.common.sampled import Sample
from sensorium.sensors.ray_sensor.ray_sensor import RayReading


@pytest.fixture
def messages(attached):
    """Makes messages of values; the rig is that of any sensor, since all have one."""

    def make(values, shape, valid=(True,), **options):
        sensor, source = attached(sn.Barometer(timing=sn.Timing(rate_hz=10)), body="car", name="tof", **options)
        x = np.array(values, float).reshape(len(valid), -1)
        sample = Sample(3 * 10**9 + 5, 0.1, x, x, np.array(valid))
        return ray_values(RayReading(sample, sensor.rig, shape, "m"), source)

    return make


def test_a_single_value_is_one_number_with_all_its_bits(messages, decoded):
    ((row, topic, message),) = messages([0.1], ())
    assert (row, topic, message.stamp_ns) == (0, "values", 3 * 10**9 + 5)
    reader = decoded(message)
    assert reader.take("d") == [0.1]
    assert reader.bytes_left() == 0


@pytest.mark.parametrize(("shape", "rows", "columns"), [((4,), 1, 4), ((2, 3), 2, 3), ((2, 2, 3), 4, 3)])
def test_a_table_is_an_image_of_floats(messages, decoded, shape, rows, columns):
    values = np.arange(rows * columns) + 0.5
    ((_, _, message),) = messages(values, shape)
    reader = decoded(message)
    assert reader.header() == (3 * 10**9 + 5, "tof")
    assert reader.take("I", "I") == [rows, columns]
    assert reader.text() == "32FC1"
    (is_bigendian, step) = reader.take("B", "I")
    assert step == 4 * columns
    data = bytes(reader.numbers("B"))
    order = ">" if is_bigendian else "<"
    assert struct.unpack(f"{order}{rows * columns}f", data) == tuple(values)
    assert reader.bytes_left() == 0


def test_worlds_that_measured_nothing_have_no_message(messages):
    found = messages([[1.0], [2.0], [3.0]], (), valid=(True, False, True), worlds=3)
    assert [row for row, _, _ in found] == [0, 2]
