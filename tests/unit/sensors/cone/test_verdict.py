"""Verdicts of ranges: a line through as many of the last as their scatter asks for."""

import numpy as np
import pytest
from scipy.stats import linregress, t

from sensorium.sensors.cone.verdict import CHANCE, Verdict, judged, new_rule, window_columns

PERIOD_S = 0.05


def verdicts(ranges, *, window_s=1.0, still_below_m_s=0.05, intervals=None):
    """Of each of the ranges, one after the other."""
    rule = new_rule(window_s, PERIOD_S, still_below_m_s)
    window = np.zeros(window_columns(rule))
    intervals = np.full(len(ranges), PERIOD_S) if intervals is None else intervals
    return [Verdict(int(judged(window, rule, float(dt), float(r)))) for dt, r in zip(intervals, ranges, strict=True)]


def by_regression(times, ranges, still_below_m_s):
    """The rule of the last range of a list, by SciPy."""
    for n in range(3, len(ranges) + 1):
        line = linregress(times[-n:], ranges[-n:])
        uncertain = t.isf(CHANCE, n - 2) * line.stderr
        if abs(line.slope) > uncertain and abs(line.slope) >= still_below_m_s:
            return Verdict.APPROACHING if line.slope < 0.0 else Verdict.RECEDING
        if uncertain <= still_below_m_s:
            return Verdict.STILL
    return Verdict.STILL if len(ranges) > 2 else Verdict.UNKNOWN


@pytest.mark.parametrize("still_below_m_s", [0.0, 0.05, 0.5])
def test_every_verdict_is_that_of_a_regression_over_the_window(still_below_m_s):
    random = np.random.default_rng(8)
    for _ in range(30):
        intervals = PERIOD_S * random.uniform(0.8, 1.2, 60)
        times = np.cumsum(intervals)
        speed, noise = random.normal() * random.choice([0.1, 1.0, 5.0]), random.choice([0.003, 0.05, 0.3])
        ranges = 50.0 + speed * times + random.normal(size=60) * noise
        found = verdicts(ranges, still_below_m_s=still_below_m_s, intervals=intervals)
        for k in range(60):
            inside = (times[: k + 1] >= times[k] - 1.0) & (np.arange(k + 1) > k - 21)
            expected = by_regression(times[: k + 1][inside], ranges[: k + 1][inside], still_below_m_s)
            assert found[k] == expected


@pytest.mark.parametrize(
    ("speed", "expected"),
    [
        (0.0, Verdict.STILL),
        (0.04, Verdict.STILL),
        (-0.04, Verdict.STILL),
        (0.06, Verdict.RECEDING),
        (-0.06, Verdict.APPROACHING),
        (-300.0, Verdict.APPROACHING),
    ],
)
def test_without_noise_the_third_reading_tells(speed, expected):
    found = verdicts(400.0 + speed * PERIOD_S * np.arange(12))
    assert found == [Verdict.UNKNOWN] * 2 + [expected] * 10


def test_what_turns_back_is_told_within_a_few_readings_and_what_stops_too():
    there = np.arange(20) * 0.1
    back = there[-1] - np.arange(1, 20) * 0.1
    found = verdicts(5.0 + np.concatenate([there, back, np.full(20, back[-1])]))
    assert found[2:20] == [Verdict.RECEDING] * 18
    assert found[22:39] == [Verdict.APPROACHING] * 17
    assert found[41:] == [Verdict.STILL] * 18


def test_ranges_that_stand_still_are_still_at_any_distance_even_without_a_limit():
    for range_m in (0.0, 0.3, 1e3):
        assert set(verdicts(np.full(30, range_m), still_below_m_s=0.0)[2:]) == {Verdict.STILL}
    rounded = 7.0 + np.random.default_rng(1).integers(-1, 2, 40) * np.spacing(7.0)
    assert set(verdicts(rounded, still_below_m_s=0.0)[2:]) == {Verdict.STILL}


def test_a_range_that_is_missing_has_no_verdict_and_takes_its_time():
    ranges = 9.0 - 2.0 * PERIOD_S * np.arange(10)
    ranges[5] = np.nan
    found = verdicts(ranges)
    assert found == [Verdict.UNKNOWN] * 2 + [Verdict.APPROACHING] * 3 + [Verdict.UNKNOWN] + [Verdict.APPROACHING] * 4

    # Ranges of before a long gap are out of the window: the three last count
    intervals = np.full(10, PERIOD_S)
    intervals[6] = 100.0
    jump = np.where(np.arange(10) < 6, 9.0, 3.0 + 0.3 * np.arange(10))
    assert verdicts(jump, intervals=intervals)[-1] == Verdict.RECEDING


def test_a_slow_sensor_looks_at_three_readings_though_they_are_older_than_the_window():
    assert verdicts([5.0, 4.0, 3.0], window_s=0.01)[-1] == Verdict.APPROACHING
