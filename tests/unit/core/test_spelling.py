"""Misspelt words: what they are taken for, and what is too far away to be a guess."""

import pytest

from sensorium.core.spelling import nearest, slips_between


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("LIDAR", ["radar", "lidar"], ["lidar"]),
        ("bodies", ["body", "bolts"], ["body"]),
        ("body", ["bodies"], ["bodies"]),
        ("sensor", ["sensors"], ["sensors"]),
        ("ladar", ["lidar", "radar", "camera"], ["lidar", "radar"]),  # one letter from both: either may be meant
        ("duration", ["seed", "duration_s"], ["duration_s"]),
        ("psoition", ["position", "quaternion"], ["position"]),
        ("imu", ["gnss", "camera"], []),
        ("sigma", ["gamma_shape", "base_m"], []),
        ("", ["a"], []),
        ("word", [], []),
    ],
)
def test_what_is_near(word, known, found):
    assert nearest(word, known) == found


@pytest.mark.parametrize(
    ("a", "b", "slips"), [("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3)]
)
def test_slips_are_counted_both_ways_alike(a, b, slips):
    assert slips_between(a, b) == slips_between(b, a) == slips
