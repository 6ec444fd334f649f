"""The counter by itself, fed positions: against the equations of physics.md 7, one sample after the other."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorium.sensors.joints.edge_counter import COUNT, INPUT, POSITION, VELOCITY, EdgeCounter, Span, Speed

MS = 1_000_000


class Given:
    """A signal that a test hands over."""

    columns = 2

    def __init__(self):
        self.begun, self.forgotten, self.u, self.v = [], 0, 0.0, 0.0

    def begin(self, time_ns):
        self.begun.append(time_ns)

    def forget(self):
        self.forgotten += 1

    def sample(self, time_ns, out):
        out[:, :2] = self.u, self.v


def counter(width, span, *, rows=1, stamp_ns=lambda time_ns: time_ns, **speed):
    return EdgeCounter(Given(), width=np.full(rows, width), span=span, speed=Speed(**speed), stamp_ns=stamp_ns)


def fed(count, positions, times_ns=None):
    """What a counter reads, one row a sample: (samples, 4)."""
    times_ns = MS * np.arange(len(positions)) if times_ns is None else times_ns
    out = []
    for u, time_ns in zip(positions, times_ns, strict=True):
        x = np.array([[u, np.nan, np.nan, np.nan]])
        count.read(int(time_ns), x, x.copy())
        out.append(x[0])
    return np.array(out)


def reference(positions, times_ns, width, span, decay=False, timeout_s=math.inf):
    """Readings and speeds as the equations say them, without state."""
    length, times_s = span.hi - span.lo, np.asarray(times_ns) * 1e-9
    u = width * np.floor(np.asarray(positions) / width)
    u = u - length * np.floor((u - span.lo) / length + 1e-9) if span.kind == "wrap" else np.clip(u, span.lo, span.hi)
    speeds = []
    for k in range(len(u)):
        edges = [i for i in range(1, k + 1) if abs(u[i] - u[i - 1]) > 1e-9]
        v = 0.0
        for before, edge in itertools.pairwise(edges):
            du = u[edge] - u[before]
            if span.kind == "wrap":
                du -= length * np.floor(du / length + 0.5)
            v = du / (times_s[edge] - times_s[before])
            following = [*edges, k + 1][edges.index(edge) + 1]
            waited = times_s[min(following - 1, k)] - times_s[edge]
            if waited > 0:
                v = math.copysign(min(abs(v), width / waited), v) if decay else v
                v = 0.0 if waited > timeout_s else v
        speeds.append(v)
    return u, np.array(speeds)


@given(
    steps=st.lists(st.integers(-330, 330), min_size=1, max_size=40),
    gaps_ms=st.integers(1, 5),
    kind=st.sampled_from(["wrap", "clamp"]),
    decay=st.booleans(),
    timeout_ms=st.sampled_from([None, 2.5, 7.5]),
)
@settings(max_examples=120, deadline=None)
def test_readings_and_speeds_are_those_of_the_equations(steps, gaps_ms, kind, decay, timeout_ms):
    # Positions off the edges, so that rounding decides nothing; steps below half of the range
    positions = np.cumsum([0.3137, *(np.array(steps) * 1e-3)])
    times_ns = MS * gaps_ms * np.arange(len(positions)) + 5 * MS
    span = Span(kind, -0.2, 0.8, 10 if kind == "wrap" else 0)
    timeout_s = None if timeout_ms is None else timeout_ms * 1e-3
    out = fed(counter(0.1, span, decay=decay, timeout_s=timeout_s), positions, times_ns)
    u, v = reference(positions, times_ns, 0.1, span, decay, timeout_s or math.inf)
    np.testing.assert_allclose(out[:, POSITION], u, atol=1e-12)
    np.testing.assert_allclose(out[:, VELOCITY], v, atol=1e-9)
    if kind == "wrap":
        np.testing.assert_array_equal(out[:, COUNT], np.floor(positions / 0.1))


@pytest.mark.parametrize(
    ("width", "span"), [(0.1, Span("free")), (0.0, Span("wrap", 0.0, 1.0)), (0.1, Span("clamp", 0, 1))]
)
def test_a_lost_sample_is_not_a_number_and_all_else_is_held(width, span):
    count = counter(width, span)
    before = fed(count, [0.05, 0.15, 0.25])
    lost = fed(count, [np.nan, np.inf], [3 * MS, 4 * MS])
    assert np.isnan(lost[:, POSITION]).all()
    np.testing.assert_array_equal(lost[:, VELOCITY], before[-1, VELOCITY])
    np.testing.assert_array_equal(lost[:, COUNT], before[-1, COUNT])

    # The next edge counts from the last that was seen
    after = fed(count, [0.35], [5 * MS])[0]
    assert after[POSITION] == pytest.approx(0.3 if width else 0.35)
    assert after[VELOCITY] == pytest.approx(0.1 / 3e-3)


def test_a_first_sample_that_is_lost_is_no_beginning():
    out = fed(counter(0.1, Span("free")), [np.nan, 5.05, 5.15, 5.25])
    np.testing.assert_array_equal(out[:, COUNT], [0, 50, 51, 52])
    np.testing.assert_allclose(out[:, VELOCITY], [0, 0, 0, 100.0])


def test_to_and_fro_over_one_line():
    """Of two crossings of one line the readings differ by a bin, the places by nothing."""
    positions = [0.09, 0.11, 0.09, 0.11, 0.09]
    np.testing.assert_allclose(fed(counter(0.1, Span("free")), positions)[:, VELOCITY], [0, 0, -100, 100, -100])
    exact = fed(counter(0.1, Span("free"), interpolated=True), positions)
    np.testing.assert_array_equal(exact[:, VELOCITY], 0.0)
    np.testing.assert_array_equal(exact[:, COUNT], [0, 1, 0, 1, 0])


def test_interpolated_edges_are_where_a_straight_line_meets_them():
    """Down over 0.2 midway in the second millisecond, and over 0.1 at a quarter of the fourth."""
    positions = [0.25, 0.22, 0.18, 0.11, 0.07]
    out = fed(counter(0.1, Span("free"), interpolated=True), positions)
    np.testing.assert_allclose(out[:, VELOCITY], [0, 0, 0, 0, -0.1 / (3.25e-3 - 1.5e-3)])


def test_decay_counts_from_the_edge_itself():
    """Edges at 0.5, 1.5 and 2.5 ms; at 4 ms the last was 1.5 ms ago."""
    count = counter(0.1, Span("free"), interpolated=True, decay=True, timeout_s=2.4e-3)
    out = fed(count, [0.05, 0.15, 0.25, 0.35, 0.35, 0.35])
    np.testing.assert_allclose(out[:, VELOCITY], [0, 0, 100.0, 100.0, 0.1 / 1.5e-3, 0.0])


def test_leaving_a_line_that_was_met_at_a_sample_is_no_division_by_zero():
    out = fed(counter(0.1, Span("free"), interpolated=True), [0.05, 0.1, 0.05, 0.0, -0.05])
    assert np.isfinite(out).all()
    np.testing.assert_array_equal(out[:, COUNT], [0, 1, 0, 0, -1])
    np.testing.assert_allclose(out[-1, VELOCITY], -0.1 / 2e-3)  # from 0.1 at 1 ms to 0 at 3 ms


@pytest.mark.parametrize("u", [0.1 * k for k in range(-30, 31)] + [k / 10 for k in range(-30, 31)])
def test_a_position_on_an_edge_is_in_its_bin_whatever_the_rounding(u):
    assert fed(counter(0.1, Span("free")), [u])[0, COUNT] == round(u * 10)


def test_readings_in_a_range_that_clamps_are_bins_within_it():
    out = fed(counter(0.1, Span("clamp", -0.25, 0.33)), [-9.0, -0.21, 0.05, 0.31, 9.0])
    np.testing.assert_allclose(out[:, POSITION], [-0.2, -0.2, 0.0, 0.3, 0.3])
    np.testing.assert_array_equal(out[:, COUNT], [-2, -2, 0, 3, 3])


def test_rounding_takes_no_reading_beyond_its_range():
    """3 * 0.1 is more than 0.3."""
    out = fed(counter(0.1, Span("clamp", -0.3, 0.3)), [-9.0, 9.0])
    np.testing.assert_array_equal(out[:, POSITION], [-0.3, 0.3])


@given(u=st.floats(-1e6, 1e6), lo=st.floats(-10, 10), length=st.floats(1e-3, 10))
@settings(max_examples=200, deadline=None)
def test_without_bins_a_wrapped_position_stays_in_its_range(u, lo, length):
    hi = lo + length
    position = fed(counter(0.0, Span("wrap", lo, hi)), [u])[0, POSITION]
    assert lo <= position < hi
    turns = (u - position) / (hi - lo)
    assert abs(turns - round(turns)) < 1e-6


def test_the_ideal_sample_has_the_range_but_no_bins():
    count = counter(0.1, Span("wrap", 0.0, 1.0, 10), rows=2)
    count._inner.u, count._inner.v = -0.33, 5.0
    out = np.empty((2, 4))
    count.sample(0, out)
    count.read(0, out.copy(), out)
    np.testing.assert_allclose(out[:, INPUT], -0.33)
    np.testing.assert_allclose(out[:, POSITION], 0.67)
    np.testing.assert_allclose(out[:, VELOCITY], 5.0)
    np.testing.assert_array_equal(out[:, COUNT], -4)


def test_beginning_and_resets_reach_the_signal():
    count = counter(0.1, Span("free"))
    count.begin(77)
    count.forget()
    assert (count._inner.begun, count._inner.forgotten) == ([77], 1)


def test_a_restart_is_of_the_masked_rows_alone():
    count = counter(0.1, Span("free"), rows=2)
    x = np.zeros((2, 4))
    for k in range(4):
        x[:, INPUT] = 0.05 + 0.1 * k
        count.read(k * MS, x, x.copy())
    np.testing.assert_allclose(x[:, VELOCITY], 100.0)
    count.restart(np.array([True, False]))
    x[:, INPUT] = 7.05, 0.45
    count.read(4 * MS, x, x.copy())
    np.testing.assert_array_equal(x[:, COUNT], [70, 4])
    np.testing.assert_allclose(x[:, VELOCITY], [0.0, 100.0])


def test_time_is_that_of_the_sensors_own_clock():
    out = fed(counter(0.1, Span("free"), stamp_ns=lambda time_ns: 2 * time_ns + 5), [0.05, 0.15, 0.25])
    assert out[-1, VELOCITY] == pytest.approx(50.0)


@pytest.mark.parametrize("interpolated", [False, True])
def test_a_clock_that_is_set_back_keeps_the_speed_until_it_is_known_again(interpolated):
    count = counter(0.1, Span("free"), interpolated=interpolated, decay=True, timeout_s=0.01)
    times_ns = MS * np.array([5, 6, 7, 8, 2, 3, 4, 5])
    out = fed(count, [0.05, 0.15, 0.25, 0.35, 0.35, 0.45, 0.55, 0.65], times_ns)
    np.testing.assert_allclose(out[2:, VELOCITY], 100.0)
    np.testing.assert_array_equal(out[:, COUNT], [0, 1, 2, 3, 3, 4, 5, 6])


def test_rows_are_the_same_on_any_number_of_threads():
    """Enough rows that threads share them; each is what it is alone."""
    rows = 20_000
    rng = np.random.default_rng(4)
    count = counter(0.1, Span("wrap", 0.0, 1.0, 10), rows=rows, interpolated=True)
    path = np.cumsum(rng.normal(0.0, 0.08, (6, rows)), axis=0)
    for k, u in enumerate(path):
        x = np.zeros((rows, 4))
        x[:, INPUT] = u
        count.read(k * MS, x, x.copy())
    for row in (0, 1, 9_999, rows - 1):
        alone = fed(counter(0.1, Span("wrap", 0.0, 1.0, 10), interpolated=True), path[:, row])
        np.testing.assert_array_equal(x[row], alone[-1])
