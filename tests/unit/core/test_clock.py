"""Rates whose ticks are exact, and conversions that round once."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorium.core.clock import NS_PER_S, Rate, ns_to_seconds, seconds_to_ns
from sensorium.core.errors import SpecError

DAY_S = 86_400

# rate, as the whole ticks in a number of seconds
AWKWARD = [
    (3.0, 3, 1),
    (7, 7, 1),
    (29.97, 2997, 100),
    (0.3, 3, 10),
    (1e-3, 1, 1000),
    (600.1, 6001, 10),
    (1e6 / 3, None, None),
    (44_100.0, 44_100, 1),
    (Fraction(30_000, 1001), 30_000, 1001),
]


@pytest.mark.parametrize(("rate_hz", "ticks", "seconds"), AWKWARD)
def test_ticks_stay_within_half_a_nanosecond_for_a_day(rate_hz, ticks, seconds):
    rate = Rate(rate_hz, phase_ns=17)
    exact = rate_hz if isinstance(rate_hz, Fraction) else Fraction(str(rate_hz))
    for tick in (0, 1, 2, 999_999, int(DAY_S * rate_hz), int(365 * DAY_S * rate_hz)):
        assert abs(rate.time_ns(tick) - 17 - tick * NS_PER_S / exact) <= Fraction(1, 2)
    if ticks is not None:
        assert rate.time_ns(ticks * DAY_S) == 17 + seconds * DAY_S * NS_PER_S


@pytest.mark.parametrize("rate_hz", [row[0] for row in AWKWARD])
def test_each_tick_falls_in_one_step_and_none_is_missed(rate_hz):
    rate = Rate(rate_hz, phase_ns=1_234_567)
    step_ns = max(1, round(2.7 * rate.period_ns))
    found = []
    for k in range(200):
        after, upto = k * step_ns, (k + 1) * step_ns
        for tick in rate.ticks_between(after, upto):
            assert after < rate.time_ns(tick) <= upto
            found.append(tick)
    assert found == list(range(len(found)))
    assert rate.time_ns(len(found)) > 200 * step_ns


@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=NS_PER_S),
    st.integers(-(10**12), 10**12),
    st.integers(0, 10**15),
)
@settings(max_examples=300, deadline=None)
def test_interval_ends_on_ticks_are_open_below_and_closed_above(rate_hz, phase_ns, tick):
    rate = Rate(rate_hz, phase_ns)
    at = rate.time_ns(tick)
    assert tick in rate.ticks_between(at - 1, at)
    assert tick not in rate.ticks_between(at, at + 1)
    assert tick not in rate.ticks_between(at - 2, at - 1)


def test_intervals_before_the_phase_or_empty_have_no_ticks():
    rate = Rate(10.0, phase_ns=1000)
    assert list(rate.ticks_between(-5000, 999)) == []
    assert list(rate.ticks_between(-5000, 1000)) == [0]
    assert list(rate.ticks_between(10**9, 10**9)) == []
    assert list(rate.ticks_between(10**9, 0)) == []


def test_period_is_not_rounded():
    assert Rate(3.0).period_ns == pytest.approx(1e9 / 3, rel=1e-15)


@pytest.mark.parametrize("rate_hz", [0.0, -1.0, float("nan"), float("inf"), 1.1e9])
def test_impossible_rates_are_refused(rate_hz):
    with pytest.raises(SpecError, match="rate_hz is"):
        Rate(rate_hz)


def test_fractional_phase_is_refused():
    with pytest.raises(SpecError, match=r"phase_ns is 0\.5"):
        Rate(1.0, phase_ns=0.5)


@pytest.mark.parametrize(
    ("seconds", "time_ns"),
    [
        (0.01, 10_000_000),
        (1e-9, 1),
        (0.4e-9, 0),
        (-1.5, -1_500_000_000),
        (86_400.1, 86_400_100_000_000),
        (7, 7 * 10**9),
    ],
)
def test_seconds_round_to_whole_nanoseconds(seconds, time_ns):
    assert seconds_to_ns(seconds) == time_ns


@given(st.integers(-(2**52), 2**52))
def test_nanoseconds_survive_seconds_and_back(time_ns):
    assert seconds_to_ns(ns_to_seconds(time_ns)) == time_ns


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e10])
def test_times_that_do_not_fit_are_refused(seconds):
    with pytest.raises(SpecError, match="a time is"):
        seconds_to_ns(seconds)


def test_the_next_stretch_to_end():
    rate = Rate(10.0, phase_ns=5)
    ends = [5 + k * 100_000_000 + 30 for k in range(4)]
    assert rate.next_end_ns(-100, 30) == ends[0]
    for k in range(3):
        assert rate.next_end_ns(ends[k] - 1, 30) == ends[k]
        assert rate.next_end_ns(ends[k], 30) == ends[k + 1]


def test_a_tick_comes_within_the_times_that_there_are():
    assert Rate(1.1e-10).period_ns < 2**63
    with pytest.raises(SpecError, match=r"rate_hz is 1e-10; a tick must come within 2\^63 nanoseconds"):
        Rate(1e-10)
