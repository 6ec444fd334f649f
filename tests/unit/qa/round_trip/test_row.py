"""Rows of a round trip: the sheet's own unit and meaning, and when a stated value is inside."""

import numpy as np
import pytest

from sensorium.devices import Quantity
from sensorium.qa.round_trip.row import Row, in_sheet_unit, last_digit, limits, seed_of


def quantity(value, unit, **fields):
    return Quantity(value=value, unit=unit, grade="A", source="DS", **fields)


@pytest.mark.parametrize(("value", "half"), [(41.3, 0.05), (40.0, 0.5), (0.167, 0.0005), (1310720.0, 0.5)])
def test_half_of_the_last_digit(value, half):
    assert last_digit(value) == pytest.approx(half)


def test_a_measured_number_comes_back_in_the_unit_and_meaning_of_the_sheet():
    """Stated 10 deg/h as a floor is B = 7.3e-5 rad/s; measured 1 % more is 10.1 deg/h."""
    row = in_sheet_unit("x", "bias", quantity(10.0, "deg/h", means="allan floor"), 7.3e-5, (7.373e-5, 7.2e-5, 7.5e-5))
    assert row.measured == pytest.approx(10.1)
    assert (row.low, row.high) == pytest.approx((9.863, 10.274), abs=1e-3)
    assert row.exact


def test_codes_count_the_other_way():
    """1000 LSB/g with a step that is 1 % larger are 990."""
    row = in_sheet_unit("x", "code", quantity(1000.0, "LSB/g"), 9.8e-3, (9.898e-3, 9.8e-3, 9.996e-3))
    assert row.measured == pytest.approx(990.099)
    assert row.low < row.measured < row.high


def test_one_of_several_axes():
    row = in_sheet_unit("x", "z", quantity((160.0, 160.0, 190.0), "ug"), 1.9e-3, (2.0e-3, 1.8e-3, 2.2e-3), axis=2)
    assert (row.stated, row.measured) == (190.0, pytest.approx(200.0))


def test_rounded_numbers_are_inside_but_not_exact():
    row = Row("x", "field", 41.3, 41.34, 41.33, 41.35, "deg", "A", rounding=0.05)
    assert row.inside
    assert not row.exact
    assert not Row("x", "field", 41.3, 41.34, 41.33, 41.35, "deg", "A").inside
    assert not Row("x", "field", 41.2, 41.34, 41.33, 41.35, "deg", "A", rounding=0.05).inside


def test_seeds_differ_from_device_to_device():
    assert len({seed_of("a"), seed_of("b"), seed_of("a", 1.0)}) == 3


def test_limits_lie_between_the_last_that_is_seen_and_the_first_that_is_not():
    range_m = np.array([0.1, 0.3, 0.5, 8.0, 10.0, 12.0])
    seen = np.array([False, False, True, True, False, False])
    assert limits(seen, range_m, greatest=True) == (9.0, 8.0, 10.0)
    assert limits(seen, range_m, greatest=False) == (0.4, 0.3, 0.5)
