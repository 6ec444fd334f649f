"""Channels of a cone sensor: angles of the ideal point, points of corrupted angles, speeds of two readings in a row."""

import math

import numpy as np
import pytest

from sensorium.sensors.cone import channels as cc
from sensorium.sensors.cone.verdict import Verdict, new_rule

RULE = new_rule(1.0, 0.1, 0.05)
SPEEDS = slice(cc.SPEED, cc.DIFFERENCED_RATE + 1)


def measured(point, object_id, memory, *, interval_s=0.1, rate=0.0):
    """The ideal channels of one point, as one row."""
    point, out = np.array(point, float).reshape(1, 1, 3), np.zeros((1, cc.COLUMNS))
    range_m = np.linalg.norm(point, axis=2)
    ids = np.array([[object_id]], np.int32)
    cc.measure(point, range_m, np.full((1, 1), rate), ids, interval_s, RULE, memory, out)
    return out


def fresh():
    return cc.new_memory(1, RULE)


def test_ideal_channels_are_range_angles_rate_and_point():
    out = measured((2.0, 1.0, -2.0), 4, fresh(), rate=-7.0)[0]
    assert out[cc.RANGE] == 3.0
    assert out[cc.AZIMUTH] == pytest.approx(math.atan2(1.0, 2.0), abs=1e-15)
    assert out[cc.ELEVATION] == pytest.approx(-math.asin(2.0 / 3.0), abs=1e-15)
    assert out[cc.RANGE_RATE] == -7.0
    assert out[cc.POINT : cc.POINT + 3].tolist() == [2.0, 1.0, -2.0]


def test_nothing_is_no_value_to_the_chain():
    out = measured((0.0, 0.0, 0.0), -1, fresh())[0]
    assert np.isnan(np.delete(out, cc.VERDICT)).all()
    assert out[cc.VERDICT] == float(Verdict.UNKNOWN)


def test_speeds_need_two_readings_of_one_object():
    memory = fresh()
    assert np.isnan(measured((4.0, 0.0, 0.0), 2, memory)[0, SPEEDS]).all()
    out = measured((4.0, 3.0, 0.0), 2, memory, interval_s=0.5)[0]
    assert out[SPEEDS].tolist() == [6.0, 2.0]  # 3 m across in half a second, 1 m farther

    # Another object, and the first again: each starts anew
    assert np.isnan(measured((4.0, 3.0, 0.0), 1, memory)[0, SPEEDS]).all()
    assert np.isnan(measured((4.0, 3.0, 0.0), 2, memory)[0, SPEEDS]).all()
    assert measured((4.0, 3.0, 0.0), 2, memory)[0, SPEEDS].tolist() == [0.0, 0.0]

    # So does what was out of sight
    measured((0.0, 0.0, 0.0), -1, memory)
    assert np.isnan(measured((4.0, 3.0, 0.0), 2, memory)[0, SPEEDS]).all()


def test_points_follow_errors_and_stay_where_there_are_none():
    ids = np.array([[3]], np.int32)
    ideal = measured((0.1, 0.2, 0.3), 3, fresh())
    x = ideal.copy()
    cc.derive(ideal, ids, 0.1, RULE, fresh(), x)
    assert (x[0, : cc.SPEED] == ideal[0, : cc.SPEED]).all()

    x[0, cc.RANGE], x[0, cc.AZIMUTH], x[0, cc.ELEVATION] = 2.0, math.pi / 2, math.pi / 6
    cc.derive(ideal, ids, 0.1, RULE, fresh(), x)
    assert x[0, cc.POINT : cc.POINT + 3] == pytest.approx([0.0, math.sqrt(3.0), 1.0])


def test_a_verdict_needs_three_readings_of_one_object_and_starts_again_with_another():
    memory, found = fresh(), []
    for number in (2, 2, 2, 2, 1, 1, 1, -1, 1, 1, 1):
        found.append(measured((8.0 - 0.5 * len(found), 0.0, 0.0), number, memory)[0, cc.VERDICT])
    unknown, coming = Verdict.UNKNOWN, Verdict.APPROACHING
    assert found == [unknown, unknown, coming, coming, unknown, unknown, coming, *[unknown] * 3, coming]
