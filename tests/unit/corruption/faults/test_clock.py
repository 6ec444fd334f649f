"""Which faults are active when: laws of random times, independence, the log."""

import numpy as np
import pytest
from scipy import stats

from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, Fault, FaultEvent, FaultSchedule, Stuck, TimingErrors

S = 1_000_000_000


def schedule(*faults):
    return FaultSchedule(faults=faults)


def random_fault(name="random", **fields):
    return Fault(Bias(1.0), name=name, **{"onsets_per_s": 2.0, "duration_s": 0.3, **fields})


def test_known_times_are_half_open():
    clock = schedule(
        Fault(Bias(1.0), name="a", start_s=1.0, end_s=2.0),
        Fault(Bias(1.0), name="b", start_s=1.5),
        Fault(Bias(1.0), name="c", end_s=1.2),
        Fault(Bias(1.0), name="d"),
        Fault(Bias(1.0), name="e", start_s=1.0, on=False),
    ).begin(2, 3, seed=1)
    expected = {
        S // 2: [0, 0, 1, 1, 0],
        S - 1: [0, 0, 1, 1, 0],
        S: [1, 0, 1, 1, 0],
        1_200_000_000: [1, 0, 0, 1, 0],
        2 * S - 1: [1, 1, 0, 1, 0],
        2 * S: [0, 1, 0, 1, 0],
        900 * S: [0, 1, 0, 1, 0],
    }
    for time_ns, active in expected.items():
        mask = clock.at(time_ns)
        assert mask.dtype == np.uint8
        np.testing.assert_array_equal(mask, np.tile(active, (6, 1)))
    assert clock.log.of("a", world=1) == [FaultEvent("a", 1, S, 2 * S)]
    assert clock.log.of("b") == [FaultEvent("b", 0, 1_500_000_000, None), FaultEvent("b", 1, 1_500_000_000, None)]
    assert clock.log.of("c", 0) == [FaultEvent("c", 0, S // 2, 1_200_000_000)]
    assert not clock.log.of("e")


def test_what_was_over_before_the_first_time_never_happened():
    clock = schedule(Fault(Bias(1.0), start_s=1.0, end_s=2.0)).begin(seed=1)
    assert not clock.at(2 * S).any()
    assert len(clock.log) == 0


def test_onsets_are_poisson_in_healthy_time():
    """Waits and durations are exponential (KS), and counts of a fault that hardly lasts are Poisson (chi-square)."""
    clock = schedule(random_fault(), random_fault("brief", duration_s=1e-9)).begin(400, seed=7)
    first_ns = 100 * S
    clock.at(first_ns)
    clock.at(first_ns + 20 * S)

    waits, durations, counts = [], [], np.zeros(400, int)
    of_world = {world: [] for world in range(400)}
    for event in clock.log:
        if event.fault == "brief":
            counts[event.world] += 1
        else:
            of_world[event.world].append(event)
    for events in of_world.values():
        starts = [event.start_ns for event in events]
        ends = [event.end_ns for event in events if event.end_ns is not None]
        waits += [start - end for start, end in zip(starts, [first_ns, *ends], strict=False)][:5]
        durations += [end - start for start, end in zip(starts, ends, strict=False)][:5]
    assert stats.kstest(np.array(waits) / S, stats.expon(scale=0.5).cdf).pvalue > 1e-3
    assert stats.kstest(np.array(durations) / S, stats.expon(scale=0.3).cdf).pvalue > 1e-3
    edges = stats.poisson.ppf(np.linspace(0.0, 1.0, 9)[1:-1], 40.0).astype(int)
    observed = np.bincount(np.searchsorted(edges, counts), minlength=len(edges) + 1)
    expected = np.diff(np.concatenate([[0.0], stats.poisson.cdf(edges, 40.0), [1.0]])) * 400
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_share_of_time_active():
    clock = schedule(random_fault(duration_s=0.3)).begin(200, seed=8)
    clock.at(0)
    times_ns = np.arange(20, 200) * (S // 2)
    share = clock.series(times_ns).mean(axis=(0, 2))
    expected = 2.0 * 0.3 / (1.0 + 2.0 * 0.3)
    assert share.mean() == pytest.approx(expected, abs=4.0 * share.std() / np.sqrt(200))


def test_a_fixed_duration_and_one_without_end():
    clock = schedule(
        random_fault("fixed", fixed_duration=True), random_fault("for good", duration_s=None, onsets_per_s=5.0)
    ).begin(20, seed=3)
    clock.at(0)
    clock.at(20 * S)
    assert {e.end_ns - e.start_ns for e in clock.log.of("fixed") if e.end_ns is not None} == {300_000_000}
    assert [e.end_ns for e in clock.log.of("for good")] == [None] * 20


def test_the_log_is_the_mask():
    clock = schedule(random_fault("a"), random_fault("b", onsets_per_s=7.0), Fault(Bias(1.0), name="c", start_s=3.0))
    clock = clock.begin(5, 2, seed=5, first_world=30)
    masks = {time_ns: clock.at(time_ns).copy() for time_ns in range(0, 10 * S, 37_000_000)}
    starts = [event.start_ns for event in clock.log]
    assert starts == sorted(starts)
    for time_ns, mask in masks.items():
        for world in range(5):
            active = clock.log.at(time_ns, 30 + world)
            for sensor in range(2):
                assert [name in active for name in "abc"] == mask[2 * world + sensor].astype(bool).tolist()


def test_asking_often_or_seldom_changes_nothing():
    plan = schedule(random_fault("a"), random_fault("b", onsets_per_s=7.0))
    often, seldom, at_once = (plan.begin(5, seed=5) for _ in range(3))
    times_ns = np.arange(0, 10 * S, 10_000_000)
    masks = np.stack([often.at(time_ns).copy() for time_ns in times_ns.tolist()])
    seldom.at(0)
    seldom.at(int(times_ns[-1]))
    assert often.log == seldom.log
    np.testing.assert_array_equal(masks, at_once.series(times_ns))
    assert at_once.log == often.log


def test_a_batch_equals_single_runs():
    plan = schedule(random_fault("a"), random_fault("b", fixed_duration=True), Fault(timing=TimingErrors(loss=0.1)))
    plan = schedule(*plan.faults, random_fault("t", onsets_per_s=1.0))
    times_ns = np.arange(0, 10 * S, 50_000_000)
    together = plan.begin(8, seed=9)
    masks = together.series(times_ns)
    events = []
    for world in range(8):
        alone = plan.begin(1, seed=9, first_world=world)
        np.testing.assert_array_equal(
            np.broadcast_to(alone.series(times_ns)[:, 0], masks[:, world].shape), masks[:, world]
        )
        events += list(alone.log)
    key = lambda e: (e.start_ns, plan.names.index(e.fault), e.world)  # noqa: E731
    assert sorted(events, key=key) == sorted(together.log, key=key)


def test_faults_worlds_signals_and_seeds_are_independent():
    def first(plan, **options):
        clock = plan.begin(**{"worlds": 3, "seed": 1, **options})
        clock.at(0)
        clock.at(20 * S)
        return [[e.start_ns for e in clock.log.of("a", world)] for world in range(3)]

    alone = first(schedule(random_fault("a")))
    assert alone == first(schedule(random_fault("b"), random_fault("a"), Fault(Stuck(mode="off"))))
    assert alone == first(schedule(random_fault("a"), random_fault("c", onsets_per_s=99.0)))
    assert alone[0] != alone[1]
    assert alone != first(schedule(random_fault("a")), name="other")
    assert alone != first(schedule(random_fault("a")), seed=2)


def test_a_reset_ends_what_struck_at_random_there_and_draws_anew():
    clock = schedule(random_fault("a", duration_s=None, onsets_per_s=50.0), Fault(Bias(1.0), name="b", start_s=0.0))
    clock = clock.begin(4, 2, seed=2)
    clock.at(0)
    assert clock.at(5 * S).all()
    clock.reset(np.array([True, False, True, False]), 5 * S)
    np.testing.assert_array_equal(clock.at(5 * S)[:, 0], [0, 0, 1, 1, 0, 0, 1, 1])
    assert clock.at(5 * S)[:, 1].all()
    assert [e.end_ns for e in clock.log.of("a", 0)] == [5 * S]
    clock.at(10 * S)
    waits = [[e.start_ns for e in clock.log.of("a", world)] for world in range(4)]
    assert [len(w) for w in waits] == [2, 1, 2, 1]
    assert waits[0][1] - 5 * S != waits[0][0]

    # Also of an onset that had not come yet
    healthy = schedule(random_fault("a", onsets_per_s=0.01)).begin(1, seed=2)
    healthy.at(0)
    due_ns = []
    for time_ns in (1, 2, 3):
        healthy.reset(np.array([True]), time_ns)
        due_ns.append(healthy._next_ns - time_ns)
    assert len(set(due_ns)) == 3


def test_a_copy_goes_on_by_itself():
    clock = schedule(random_fault("a", onsets_per_s=20.0)).begin(3, seed=2)
    clock.at(S)
    twin = clock.copy()
    before = clock.log[:]
    after = twin.at(5 * S).copy()
    assert clock.log == before
    np.testing.assert_array_equal(clock.at(5 * S), after)
    assert clock.log == twin.log


def test_timing_is_the_same_in_all_worlds_and_adds_up():
    plan = schedule(
        Fault(timing=TimingErrors(delay_s=0.1, loss=0.2), start_s=1.0, end_s=3.0),
        Fault(timing=TimingErrors(delay_s=0.2, loss=0.5, skew_ppm=5.0), start_s=2.0),
        Fault(timing=TimingErrors(jitter_s=0.5), name="now and then", onsets_per_s=1.0, duration_s=1.0),
    )
    assert plan.names == ("timing", "timing_2", "now and then")
    clock, other = plan.begin(4, seed=6), plan.begin(1, seed=6, first_world=77)
    shaken = []
    for time_ns in range(0, 20 * S, S // 4):
        errors = clock.timing(time_ns)
        second = S <= time_ns < 3 * S
        assert errors.delay_s == pytest.approx(0.1 * second + 0.2 * (time_ns >= 2 * S))
        assert errors.loss == pytest.approx(1.0 - (0.8 if second else 1.0) * (0.5 if time_ns >= 2 * S else 1.0))
        mask = clock.at(time_ns)
        assert (mask == mask[:1]).all()
        assert (errors.jitter_s == 0.5) == bool(mask[0, 2])
        assert other.timing(time_ns) == errors
        shaken.append(bool(mask[0, 2]))
    assert 5 < sum(shaken) < 75
    assert clock.log.at(19 * S, 3) == clock.log.at(19 * S, 0)

    # A world that begins anew leaves the clock of all alone
    before = clock.at(20 * S).copy()
    clock.reset(np.ones(4, bool), 20 * S)
    np.testing.assert_array_equal(clock.at(20 * S), before)


def test_nothing_to_do_is_next_to_free():
    clock = schedule(Fault(Bias(1.0), start_s=1.0)).begin(1000, seed=1)
    clock.at(0)
    assert clock.at(1) is clock.at(2)
    empty = FaultSchedule().begin(3, seed=1)
    assert empty.at(5).shape == (3, 0)
    assert empty.timing(6) == TimingErrors()
    assert len(empty.log) == 0


def test_time_goes_forward_only_and_masks_fit():
    clock = schedule(random_fault()).begin(2, seed=1)
    clock.at(10)
    clock.at(10)
    with pytest.raises(SpecError, match="time_ns is 9 after 10"):
        clock.at(9)
    with pytest.raises(SpecError, match="mask has shape"):
        clock.reset(np.array([True]), 11)
    with pytest.raises(SpecError, match="worlds is 0"):
        schedule(random_fault()).begin(0, seed=1)


def test_onsets_are_those_of_the_log_at_every_time():
    faults = (Fault(Bias(1.0), onsets_per_s=3.0, duration_s=0.2, name="a"), Fault(Bias(1.0), start_s=0.5, name="b"))
    schedule = FaultSchedule(faults=faults)
    times_ns = np.arange(1, 300) * 10_000_000
    clock = schedule.begin(3, 2, seed=4, name="imu")
    masks, onsets_ns = schedule.begin(3, 2, seed=4, name="imu").series_with_onsets(times_ns)
    np.testing.assert_array_equal(masks, schedule.begin(3, 2, seed=4, name="imu").series(times_ns))
    for k, time_ns in enumerate(times_ns.tolist()):
        mask = clock.at(time_ns)
        np.testing.assert_array_equal(mask, masks[k])
        np.testing.assert_array_equal(clock.onsets_ns[mask > 0], onsets_ns[k][mask > 0])
    for event in clock.log:
        end_ns = times_ns[-1] + 1 if event.end_ns is None else event.end_ns
        inside = (times_ns >= event.start_ns) & (times_ns < end_ns)
        rows, number = slice(2 * event.world, 2 * event.world + 2), "ab".index(event.fault)
        assert (onsets_ns[inside, rows, number] == event.start_ns).all()
    assert clock.log.total > 15


@pytest.mark.parametrize("seed", range(5))
def test_a_fault_switched_by_hand_stays_as_it_was_switched(seed):
    """The last switch up to a time decides; before the first one the schedule does."""
    rng = np.random.default_rng(seed)
    known = [(float(start), float(start + length)) for start, length in rng.uniform(0.1, 5.0, (3, 2))]
    faults = [Fault(Bias(1.0), name=f"f{n}", start_s=a, end_s=b) for n, (a, b) in enumerate(known)]
    clock = schedule(*faults, random_fault("random")).begin(3, 2, seed=seed)
    free = schedule(*faults, random_fault("random")).begin(3, 2, seed=seed)
    switches = []
    for now_ns in np.sort(rng.integers(0, 12 * S, 200)).tolist():
        if rng.random() < 0.1:
            name, on = f"f{rng.integers(3)}" if rng.random() < 0.7 else "random", bool(rng.random() < 0.5)
            clock.switch(name, on, now_ns)
            switches.append((clock.names.index(name), on))
        expected = free.at(now_ns).copy()
        for fault, on in switches:
            expected[:, fault] = on
        np.testing.assert_array_equal(clock.at(now_ns), expected)
        for name in clock.names:
            assert clock.active(name) == expected[:, clock.names.index(name)].any()
    assert switches


def test_a_switch_takes_effect_at_its_time_and_is_in_the_log():
    clock = schedule(Fault(Bias(1.0), name="a", start_s=5.0)).begin(seed=0)
    assert not clock.at(S).any()
    clock.switch("a", True, 2 * S)
    assert not clock.at(2 * S - 1).any()
    assert clock.at(2 * S).all()
    clock.switch("a", True, 3 * S)  # it is active already
    clock.switch("a", False, 4 * S)
    assert not clock.at(9 * S).any()
    assert clock.log.of("a") == [FaultEvent("a", 0, 2 * S, 4 * S)]


def test_after_a_reset_a_switched_random_fault_follows_its_own_times_again():
    clock = schedule(random_fault(onsets_per_s=100.0)).begin(seed=0)
    clock.switch("random", False, 0)
    assert not any(clock.at(k * S // 10).any() for k in range(20))
    clock.reset(np.ones(1, bool), 2 * S)
    assert any(clock.at(2 * S + k * S // 10).any() for k in range(20))


def test_only_faults_that_a_sensor_has_and_that_are_on_can_be_switched():
    clock = schedule(Fault(Bias(1.0), name="a", on=False)).begin(seed=0)
    with pytest.raises(SpecError, match="fault is 'b'; the sensor has a"):
        clock.switch("b", True, 0)
    with pytest.raises(SpecError, match="fault 'a' is off in its specification"):
        clock.switch("a", True, 0)
