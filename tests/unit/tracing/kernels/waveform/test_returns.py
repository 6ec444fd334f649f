import numpy as np
import pytest

from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.returns import _alone, choose_returns, keep_between


def found(*rows):
    """Returns as (place, height)."""
    table = np.zeros((wt.MOST_FOUND, wt.FOUND_COLUMNS))
    for i, (place, height) in enumerate(rows):
        table[i, wt.F_PLACE], table[i, wt.F_HEIGHT] = place, height
    return table, len(rows)


@pytest.mark.parametrize(
    ("returns", "slots", "expected"),
    [
        (tb.STRONGEST, 1, [1]),
        (tb.FIRST, 1, [0]),
        (tb.LAST, 1, [3]),
        (tb.DUAL, 2, [1, 3]),
        (tb.ALL, 2, [1, 2]),
        (tb.ALL, 3, [0, 1, 2]),
        (tb.ALL, 6, [0, 1, 2, 3, -1, -1]),
    ],
)
def test_which_are_reported(returns, slots, expected):
    table, count = found((10, 2.0), (20, 9.0), (30, 5.0), (40, 1.0))
    order = np.zeros(slots, np.int64)
    choose_returns(table, count, returns, slots, order)
    assert order.tolist() == expected


def test_where_the_strongest_is_the_last_the_second_strongest_is_the_other():
    table, count = found((10, 2.0), (20, 3.0), (30, 5.0))
    order = np.zeros(2, np.int64)
    choose_returns(table, count, tb.DUAL, 2, order)
    assert order.tolist() == [2, 1]
    choose_returns(*found((10, 2.0)), tb.DUAL, 2, order)
    assert order.tolist() == [0, -1]


def test_a_false_alarm_at_the_end_of_the_list_is_put_in_its_place():
    table, count = found((20, 9.0), (30, 5.0), (12, 6.0))
    order = np.zeros(3, np.int64)
    choose_returns(table, count, tb.ALL, 3, order)
    assert order.tolist() == [2, 0, 1]
    choose_returns(table, count, tb.FIRST, 1, order)
    assert order[0] == 2


def test_returns_outside_of_the_limits_are_dropped():
    table, count = found((5, 9.0), (20, 1.0), (99, 5.0))
    assert keep_between(table, count, (10.0, 4.0), (50.0, 110.0)) == 1
    assert table[0, wt.F_PLACE] == 20.0


def test_returns_that_noise_may_bring_between_the_limits_are_left_where_there_are_no_others():
    table, count = found((5, 9.0), (3, 8.0), (99, 5.0))
    assert keep_between(table, count, (10.0, 4.0), (50.0, 110.0)) == 2
    assert table[:2, wt.F_PLACE].tolist() == [5.0, 99.0]


def test_the_only_sender_answers_with_the_face_whose_light_arrived_nearest():
    faces = np.full((1, 60), -1, np.int32)
    faces[0, [20, 27]] = 4, 8
    sole = np.array([6])
    alone = _alone.py_func
    assert alone(sole, faces, 0, 21, 2) == (6, 4, True)
    assert alone(sole, faces, 0, 25, 2) == (6, 8, True)
    assert alone(sole, faces, 0, 45, 2) == (-1, -1, True)  # more than four half widths from all light
