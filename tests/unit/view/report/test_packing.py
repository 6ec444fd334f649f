import base64

import numpy as np

from sensorium.view.report.packing import levels, packed


def test_bytes_are_little_endian_and_say_what_they_are():
    told = packed(np.array([1.5, -2.0], ">f4"))
    assert told["kind"] == "f4"
    assert np.frombuffer(base64.b64decode(told["data"]), "<f4").tolist() == [1.5, -2.0]
    assert packed(np.arange(3, dtype=np.uint8))["kind"] == "u1"


def test_levels_span_the_scale_and_stop_at_its_ends():
    assert levels(np.array([-9.0, 0.0, 5.0, 10.0, 99.0]), 0.0, 10.0, np.uint16).tolist() == [0, 0, 32768, 65535, 65535]


def test_a_place_is_off_by_half_a_level_at_most():
    x = np.random.default_rng(1).uniform(-30.0, 70.0, 1000)
    back = -30.0 + 100.0 * levels(x, -30.0, 70.0, np.uint16) / 65535.0
    assert np.abs(back - x).max() <= 0.5 * 100.0 / 65535.0 * 1.0001


def test_a_cloud_without_height_is_at_level_zero():
    assert levels(np.full(3, 2.0), 2.0, 2.0, np.uint16).tolist() == [0, 0, 0]
