import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorium.core.errors import WorldError
from sensorium.core.frames import Pose
from sensorium.worlds.base import WorldState
from sensorium.worlds.history import History

MS = 1_000_000


def random_pose(rng, worlds=2, bodies=3):
    return Pose(rng.normal(size=(worlds, bodies, 3)), rng.normal(size=(worlds, bodies, 4)))


def state_at(time_ns, X_WB):
    zeros = np.zeros((*X_WB.shape, 3))
    none = np.zeros((X_WB.shape[0], 0))
    return WorldState(time_ns, X_WB, zeros, zeros, none, none)


def history_of(times_ns, seed=0, worlds=2, bodies=3):
    rng = np.random.default_rng(seed)
    states = [state_at(t, random_pose(rng, worlds, bodies)) for t in times_ns]
    history = History(states[0])
    for state in states[1:]:
        history.add(state)
    return history, states


def ns(*times):
    return np.array(times, np.int64)


def test_a_state_s_own_time_gives_that_state_bit_for_bit():
    history, states = history_of([0, 7, 20, 21])
    # also where others in the same question need interpolation
    poses = history.poses(ns(0, 3, 7, 20, 21))
    for row, state in ((0, states[0]), (2, states[1]), (3, states[2]), (4, states[3])):
        assert poses[row].position.tobytes() == state.X_WB.position.tobytes()
        assert poses[row].quaternion.tobytes() == state.X_WB.quaternion.tobytes()


def test_between_states_lines_and_slerp():
    history, states = history_of([0, 10 * MS, 14 * MS])
    times = ns(1, 5 * MS, 9_999_999, 11 * MS)
    poses = history.poses(times)
    assert poses.shape == (4, 2, 3)
    for i, (before, after, s) in enumerate([(0, 1, 1e-7), (0, 1, 0.5), (0, 1, 0.9999999), (1, 2, 0.25)]):
        assert poses[i].almost_equal(states[before].X_WB.interpolate(states[after].X_WB, s), 1e-12)


def test_between_states_the_shorter_arc():
    # q and -q are the same rotation
    one, other = Pose(np.zeros((1, 1, 3)), [1.0, 0, 0, 0]), Pose(np.zeros((1, 1, 3)), [-0.9, 0.1, 0.0, 0.0])
    history = History(state_at(0, one))
    history.add(state_at(100, other))
    half = history.poses(ns(50))
    _, turn = half.log()
    _, whole = other.log()
    np.testing.assert_allclose(turn[0], whole / 2, atol=1e-12)


def test_a_span_holds_the_states_around_an_interval():
    history, states = history_of([0, 10, 25, 40])
    for (start, end), expected in (((0, 0), [0]), ((3, 9), [0, 10]), ((10, 25), [10, 25]), ((11, 26), [10, 25, 40])):
        span = history.span(start, end)
        assert [state.time_ns for state in span.states] == expected
        np.testing.assert_array_equal(span.table[1], expected)
        np.testing.assert_array_equal(span.table[0], [state.numbers.ctypes.data for state in span.states])
    assert history.span(11, 26) is span
    history.restart(np.array([True, False]), state_at(40, states[0].X_WB))
    assert history.span(11, 26) is not span


def test_kernels_are_told_the_states_around_an_instant():
    history, states = history_of([0, 10, 25])
    addresses, table = [state.numbers.ctypes.data for state in states], np.zeros((2, 2), np.int64)
    history.write_around(12, table)
    assert table.tolist() == [addresses[1:], [10, 25]]
    for time_ns, state in ((0, 0), (10, 1), (25, 2)):
        history.write_around(time_ns, table)
        assert table[:, 1].tolist() == [addresses[state], time_ns]
    for time_ns in (-1, 26):
        with pytest.raises(WorldError, match=f"{time_ns} to {time_ns} ns are asked for; the history has 0 to 25 ns"):
            history.write_around(time_ns, table)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_a_copy_reads_its_own_numbers(copied):
    history, states = history_of([0, 10])
    history.span(0, 10)  # which is remembered
    other, state = copied(history), copied(states[1])
    assert state.address == state.numbers.ctypes.data != states[1].address
    table = np.zeros((2, 2), np.int64)
    other.write_around(5, table)
    assert table[0].tolist() == [kept.numbers.ctypes.data for kept in other._states]
    assert other.span(0, 10).table[0].tolist() == table[0].tolist()

    # A state that came from elsewhere is read where it lies here
    later = history_of([0])[0]
    later.add(state)
    np.testing.assert_array_equal(later.poses(ns(10)).position[0], states[1].X_WB.position)


def test_motion_is_poses_as_arrays_of_ones_own():
    history, _ = history_of([0, 10, 25])
    times = ns(0, 4, 10, 24)
    for body in (None, 1):
        position, quaternion = history.motion(times, body)
        poses = history.poses(times, body)
        assert position.tobytes() == poses.position.tobytes()
        assert quaternion.tobytes() == poses.quaternion.tobytes()
        assert position.flags.writeable
        assert position.shape == (4, 2, 3 if body is None else 1, 3)


def test_one_body_is_a_column_of_all():
    history, _ = history_of([0, 10, 25])
    times = ns(0, 4, 10, 24)
    everything = history.poses(times)
    for body in range(3):
        alone = history.poses(times, body)
        assert alone.shape == (4, 2)
        assert alone == everything[:, :, body]


def test_many_worlds_are_many_histories():
    # enough worlds that several threads share the work
    history, states = history_of([0, 10, 20], worlds=100, bodies=2)
    times = ns(0, 3, 17, 20)
    poses = history.poses(times)
    for world in (0, 1, 63, 99):
        single = History(state_at(0, states[0].X_WB[world : world + 1]))
        for state in states[1:]:
            single.add(state_at(state.time_ns, state.X_WB[world : world + 1]))
        assert single.poses(times).position.tobytes() == np.ascontiguousarray(poses.position[:, world]).tobytes()


@pytest.mark.parametrize("times", [(-1, 5), (5, 21), (21,)])
def test_what_is_not_known_is_not_guessed(times):
    history, _ = history_of([0, 20])
    with pytest.raises(WorldError, match="0 to 20 ns"):
        history.poses(ns(*times))


def test_time_goes_forward():
    history, states = history_of([0, 20])
    for late in (20, 19):
        with pytest.raises(WorldError, match="forward"):
            history.add(state_at(late, states[0].X_WB))
    assert history.newest is states[1]


@given(
    steps=st.lists(st.integers(1, 50), min_size=1, max_size=12),
    fraction=st.floats(-0.2, 1.2),
)
@settings(max_examples=60, deadline=None)
def test_forgetting_changes_no_answer_from_then_on(steps, fraction):
    times = np.concatenate([[0], np.cumsum(steps)])
    history, _ = history_of(times.tolist(), worlds=1, bodies=1)
    cut = round(fraction * times[-1])
    later = np.arange(max(cut, 0), times[-1] + 1)
    before = history.poses(later) if len(later) else None
    history.forget_before(cut)
    if before is not None:
        assert history.poses(later) == before
    # and nothing is kept that no such time needs: at most one state before the cut
    assert history.start_ns == max(times[times <= cut], default=0)
    assert history.newest.time_ns == times[-1]


@pytest.mark.parametrize("worlds", [1, 3])
def test_a_state_of_another_number_of_worlds_is_refused(worlds):
    # Kernels read as many worlds as there were at first from the state's address, whatever lies there
    history, _ = history_of([0, 10], worlds=2)
    X_WB = random_pose(np.random.default_rng(1), worlds)
    message = rf"state\(\) is of {worlds} worlds at 20 ns; it must be of 2"
    with pytest.raises(WorldError, match=message):
        history.add(state_at(20, X_WB))
    with pytest.raises(WorldError, match=message):
        history.restart(np.array([True, False]), state_at(20, X_WB))
    with pytest.raises(WorldError, match=message):
        History(state_at(20, X_WB), worlds=2)
    assert history.newest.time_ns == 10


def test_a_restart_moves_the_past_of_the_masked_worlds_only():
    history, states = history_of([0, 10, 20])
    fresh = random_pose(np.random.default_rng(9))
    X_WB = Pose(
        np.where([[[False]], [[True]]], fresh.position, states[2].X_WB.position),
        np.where([[[False]], [[True]]], fresh.quaternion, states[2].X_WB.quaternion),
    )
    times = ns(0, 4, 10, 16, 20)
    before = history.poses(times)
    history.restart(np.array([False, True]), state_at(20, X_WB))
    after = history.poses(times)
    assert after[:, 0] == before[:, 0]
    for i in range(5):
        assert after[i, 1].almost_equal(fresh[1], 1e-12)
    assert history.valid_from_ns[1] == 20
    assert history.valid_from_ns[0] < 0
    # and it goes on from there
    history.add(state_at(30, states[0].X_WB))
    assert history.poses(ns(25))[0, 1].almost_equal(fresh[1].interpolate(states[0].X_WB[1], 0.5), 1e-12)


def test_a_restart_leaves_the_masked_worlds_standing_before_it():
    rng = np.random.default_rng(4)

    def moving(time_ns, **known):
        v, w = rng.normal(size=(2, 2, 3, 3))
        return WorldState(time_ns, random_pose(rng), v, w, *rng.normal(size=(2, 2, 1)), **known)

    a, alpha = rng.normal(size=(2, 2, 3, 3))
    history = History(moving(0, a_WB=a, alpha_WB=alpha))
    history.add(moving(10))
    new = moving(10)
    old = history._states[0]
    history.restart(np.array([False, True]), new)
    stood = history._states[0]
    for name in ("v_WB", "w_WB", "a_WB", "alpha_WB", "joint_velocity"):
        np.testing.assert_array_equal(getattr(stood, name)[0], getattr(old, name)[0])
        assert not getattr(stood, name)[1].any()
    np.testing.assert_array_equal(stood.joint_position, [old.joint_position[0], new.joint_position[1]])
    assert history.newest is new


@given(steps=st.lists(st.integers(1, 50), min_size=1, max_size=12), data=st.data())
@settings(max_examples=60, deadline=None)
def test_bracket_finds_the_states_around_an_instant(steps, data):
    times = np.concatenate([[0], np.cumsum(steps)]).tolist()
    history, states = history_of(times, worlds=1, bodies=1)
    time_ns = data.draw(st.integers(0, times[-1]))
    before, after, fraction = history.bracket(time_ns)
    if time_ns in times:
        assert before is after is states[times.index(time_ns)]
        assert fraction == 0.0
    else:
        assert before.time_ns < time_ns < after.time_ns
        assert states.index(after) == states.index(before) + 1
        assert fraction == (time_ns - before.time_ns) / (after.time_ns - before.time_ns)


@pytest.mark.parametrize("time_ns", [-1, 21])
def test_bracket_does_not_guess(time_ns):
    history, _ = history_of([0, 20])
    with pytest.raises(WorldError, match="0 to 20 ns"):
        history.bracket(time_ns)


@given(steps=st.lists(st.integers(1, 30), min_size=1, max_size=8), after=st.integers(0, 40), length=st.integers(1, 60))
def test_the_last_state_inside_an_interval(steps, after, length):
    times = np.cumsum([0, *steps]).tolist()
    history, _ = history_of(times, worlds=1, bodies=1)
    inside = history.state_times_ns(after, after + length)
    assert inside == [t for t in times if after < t < after + length]
    instant = min(after + length, times[-1])
    before = [t for t in times if after < t < instant]
    assert history.last_piece(after, instant) == (before[-1] if before else after, history.bracket(instant))


def test_times_within_an_interval():
    history, _ = history_of([0, 10, 20, 30])
    np.testing.assert_array_equal(history.times_within(10, 30), [10, 20, 30])
    np.testing.assert_array_equal(history.times_within(9, 21), [9, 10, 20, 21])
    np.testing.assert_array_equal(history.times_within(11, 19), [11, 19])
    np.testing.assert_array_equal(history.times_within(15, 15), [15])


@given(
    step=st.integers(1, 20),
    count=st.integers(2, 30),
    start=st.integers(0, 40),
    length=st.integers(1, 200),
    most=st.integers(1, 128),
)
@settings(max_examples=200, deadline=None)
def test_knots_are_even_and_fall_on_states_where_they_can(step, count, start, length, most):
    times = [k * step * MS for k in range(count)]
    history, _ = history_of(times, worlds=1, bodies=1)
    start, end = min(start * MS, times[-1] - 1), min((start + length) * MS, times[-1])
    if start >= end:
        return
    knots = history.knots(start, end, most=most)
    assert knots[0] == start
    assert knots[-1] == end
    assert 1 <= len(knots) - 1 <= most
    gaps = np.diff(knots)
    assert gaps.min() > 0
    assert gaps.max() - gaps.min() <= 1  # whole nanoseconds
    inside = [t for t in times if start < t < end]
    finest = np.gcd.reduce([t - start for t in [*inside, end]])
    if (end - start) // finest <= most:
        assert all(np.abs(knots - t).min() <= 1000 for t in inside)


def test_an_instant_has_one_knot():
    history, _ = history_of([0, 10])
    np.testing.assert_array_equal(history.knots(4, 4, most=128), [4])


@pytest.mark.parametrize("rate_hz", [60, 120, 240, 1000])
def test_states_at_rounded_times_are_even(rate_hz):
    """A sixtieth of a second is no whole number of nanoseconds; its knots fall on the states all the same."""
    times = [round(k * 1e9 / rate_hz) for k in range(rate_hz // 10 + 2)]
    history, _ = history_of(times)
    knots = history.knots(0, 100_000_000, most=128)
    assert len(knots) - 1 == rate_hz // 10
    assert np.abs(knots - times[: len(knots)]).max() <= 1000


def test_a_state_a_nanosecond_after_the_start_costs_no_memory():
    """A fifteenth of a second, rounded, may begin just before a state; even nanoseconds would be 67 million."""
    history, _ = history_of([0, 66_666_667, 133_333_334])
    tracemalloc.start()
    try:
        knots = history.knots(66_666_666, 133_333_334, most=128)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    assert (knots[0], knots[-1]) == (66_666_666, 133_333_334)
    assert 2 <= len(knots) - 1 <= 128


def test_uneven_states_take_a_few_segments_each():
    times = [0, 7_123_457, 15_999_331, 40_000_007, 71_000_113, 120_000_000]
    history, _ = history_of(times)
    assert len(history.knots(0, 100_000_000, most=128)) - 1 == 4 * 5
