"""Faults in chains and schedules: what they switch, on which channels, in which order."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import (
    Bias,
    Chain,
    Dropout,
    Fault,
    FaultSchedule,
    Freeze,
    GaussMarkov,
    Noise,
    Part,
    Program,
    Quantize,
    RandomWalk,
    Saturate,
    Scale,
    Spikes,
    SquareWave,
    Stuck,
    TimingErrors,
    White,
)
from sensorium.corruption.engine.base import Layout
from sensorium.runtime import worker_pool

MS = 1_000_000


def run(corruption, signals, *, seed=1, **options):
    signals = np.asarray(signals, float)
    state = corruption.init(signals.shape[1:], seed=seed, period_s=1e-3, **options)
    return corruption.series(signals, times_ns=np.arange(len(signals)) * MS, state=state)


EVERYTHING = Chain(
    [
        Bias(0.1, std=0.1),
        RandomWalk(density=0.1),
        Fault(White(std=1.0), onsets_per_s=40.0, duration_s=0.02, name="noise"),
        Fault(Stuck(mode="present"), onsets_per_s=20.0, duration_s=0.02, channels=(1, 4)),
        Fault(Spikes(probability=0.1, amplitude=3.0), onsets_per_s=10.0, duration_s=0.05, fixed_duration=True),
        Fault(Dropout(probability=0.3), start_s=0.02, end_s=0.06),
        Fault(GaussMarkov(std=1.0, tau_s=0.1), onsets_per_s=50.0, duration_s=0.01),
        Fault(Freeze(), onsets_per_s=10.0, duration_s=0.01),
        Fault(Noise(std=0.1, walk=0.1), onsets_per_s=10.0, duration_s=0.01),
        Fault(SquareWave(amplitude=1.0, frequency_hz=100.0, mode="add"), onsets_per_s=10.0, duration_s=0.01),
        Quantize(lsb=0.01),
        Saturate(min=-5.0, max=5.0),
    ]
)


def test_any_corruption_can_be_switched():
    fault = Fault(Bias(1.0), start_s=0.003, end_s=0.005)
    out, state = run(fault, np.zeros((8, 2)))
    np.testing.assert_array_equal(out, np.tile([0, 0, 0, 1, 1, 0, 0, 0], (2, 1)).T)
    assert state.faults.log.at(4 * MS) == ("bias",)


def test_a_chain_of_several_is_switched_as_one_and_its_order_is_kept():
    fault = Fault(Chain([Bias(1.0), Scale(error=1.0)]), start_s=0.001, end_s=0.002, name="both")
    out, state = run(Chain([fault, Bias(10.0)]), np.zeros((3, 1)))
    np.testing.assert_array_equal(out[:, 0], [10.0, 12.0, 10.0])
    assert [e.fault for e in state.faults.log] == ["both"]


def test_a_corruption_concerns_only_the_channels_of_its_fault():
    signals = np.random.default_rng(3).normal(size=(20, 5))
    plain, _ = run(White(std=1.0), signals)
    some, _ = run(Fault(White(std=1.0), channels=(4, 1)), signals)
    np.testing.assert_array_equal(some[:, [1, 4]], plain[:, [1, 4]])
    np.testing.assert_array_equal(some[:, [0, 2, 3]], signals[:, [0, 2, 3]])
    mixed, _ = run(Fault(Stuck(mode="off", channels=(0, 1)), channels=(1, 2)), signals)
    np.testing.assert_array_equal(mixed == 0.0, np.tile([False, True, False, False, False], (20, 1)))


def test_stuck_at_a_limit_takes_the_chains_and_ends_on_a_code():
    chain = Chain([Fault(Stuck(mode="max"), start_s=0.001), Quantize(lsb=0.4), Saturate(min=-1.0, max=1.0)])
    out, _ = run(chain, np.zeros((2, 1)))
    assert out[1, 0] == pytest.approx(0.8)
    with pytest.raises(SpecError, match="without limits"):
        Chain([Stuck(mode="max"), Fault(Saturate(min=-1.0, max=1.0))]).init((1,), seed=1)


def test_a_chain_inside_knows_its_own_limits():
    fault = Fault(Chain([Quantize(bits=1), Saturate(min=-2.0, max=2.0)]))
    out, _ = run(Chain([fault, Saturate(min=-9.0, max=9.0)]), np.array([[0.4], [-0.1]]))
    np.testing.assert_array_equal(out[:, 0], [2.0, -2.0])


def test_a_fault_that_is_off_or_whose_corruption_is_does_nothing():
    signals = np.ones((3, 2))
    for fault in (Fault(Bias(1.0), on=False), Fault(Bias(1.0, on=False))):
        out, state = run(Chain([fault]), signals)
        np.testing.assert_array_equal(out, signals)
        assert state.faults is None


def test_switching_one_off_changes_no_random_number_of_another():
    signals = np.zeros((20, 3))
    faults = [Fault(White(std=1.0), end_s=0.005), Fault(White(std=1.0), start_s=0.01)]
    both, _ = run(Chain(faults), signals)
    for off in (faults[0].model_copy(update={"on": False}), Fault(White(std=1.0, on=False), end_s=0.005)):
        second, _ = run(Chain([off, faults[1]]), signals)
        np.testing.assert_array_equal(second[10:], both[10:])
        assert not second[:10].any()
    # What lacks something is no hindrance while it is off
    schedule = FaultSchedule(faults=(Fault(Stuck(mode="max"), on=False), *faults))
    state = Program(schedule.parts(Layout(3)), columns=3).init((3,), seed=1, name="signal")
    clock = schedule.begin(seed=1)
    for k in range(20):
        x = np.zeros((1, 3))
        state.program.step(x, k * MS, state, clock.at(k * MS))
        np.testing.assert_array_equal(x[0], both[k])


def test_a_fault_strikes_the_group_it_is_aimed_at():
    faults = (Fault(Bias(1.0), target="linear"), Fault(Bias(2.0)), Fault(Bias(3.0), target="angular"))
    schedule = FaultSchedule(faults=faults)
    assert [part.fault for part in schedule.parts(Layout(3), target="linear")] == [0, 1]
    assert [part.fault for part in schedule.parts(Layout(3), target="angular")] == [1, 2]
    assert [part.fault for part in schedule.parts(Layout(3))] == [1]


def test_series_equals_apply_and_the_state_given_stays():
    signals = np.random.default_rng(4).normal(size=(150, 3, 5))
    state = EVERYTHING.init((3, 5), seed=1, period_s=1e-3)
    all_at_once, last = EVERYTHING.series(signals, times_ns=np.arange(150) * MS, state=state)
    again, _ = EVERYTHING.series(signals, times_ns=np.arange(150) * MS, state=state)
    np.testing.assert_array_equal(all_at_once, again)
    assert len(state.faults.log) == 0
    for k in range(150):
        before = state
        out, state = EVERYTHING.apply(signals[k], time_ns=k * MS, state=before)
        if k % 40 == 0:
            repeated, _ = EVERYTHING.apply(signals[k], time_ns=k * MS, state=before)
            np.testing.assert_array_equal(out, repeated)
        np.testing.assert_array_equal(out, all_at_once[k])
    assert state.faults.log == last.faults.log
    assert {e.fault for e in last.faults.log} >= {"noise", "stuck", "dropout", "gauss_markov"}


def test_step_equals_series():
    signals = np.random.default_rng(4).normal(size=(100, 3, 5))
    expected, _ = run(EVERYTHING, signals)
    state = EVERYTHING.init((3, 5), seed=1, period_s=1e-3)
    for k in range(100):
        x = signals[k].copy()
        state.program.step(x, k * MS, state)
        np.testing.assert_array_equal(x, expected[k])


def test_a_batch_equals_single_runs():
    signals = np.random.default_rng(5).normal(size=(200, 8, 5))
    together, state = run(EVERYTHING, signals)
    for world in range(8):
        alone, own = run(EVERYTHING, signals[:, world], first_world=world)
        np.testing.assert_array_equal(alone, together[:, world])
        assert list(own.faults.log) == state.faults.log.of(world=world)


def test_threads_change_no_byte():
    signals = np.random.default_rng(6).normal(size=(30, 700, 5))
    count = worker_pool.get_threads()
    try:
        results = []
        for n in (1, 2):
            worker_pool.set_threads(n)
            results.append(run(EVERYTHING, signals)[0].tobytes())
    finally:
        worker_pool.set_threads(count)
    assert results[0] == results[1]


def test_a_schedule_switches_parts_of_a_program_as_a_chain_would():
    faults = (
        Fault(Stuck(mode="min"), name="a", onsets_per_s=30.0, duration_s=0.02, channels=(2,)),
        Fault(timing=TimingErrors(delay_s=0.1), name="b", start_s=0.0),
        Fault(Bias((1.0, 2.0, 3.0)), name="c", onsets_per_s=30.0, duration_s=0.02),
        Fault(Freeze(), name="d", on=False),
    )
    schedule = FaultSchedule(faults=faults)
    saturate = Saturate(min=-2.0, max=2.0)
    limits = saturate.limits(3)
    parts = schedule.parts(Layout(3, 1e-3, limits), column=1, group=1)
    assert [(part.fault, part.column, part.width) for part in parts] == [(0, 1, 3), (2, 1, 3), (3, 1, 3)]
    after = Part(saturate.operations(Layout(3)), 1, 3)
    program = Program([*parts, after], columns=5, period_s=1e-3)

    # Two worlds with two sensors each, in the middle of a wider signal
    signals = np.random.default_rng(7).normal(size=(300, 2, 2, 5))
    state = program.init((2, 2, 5), seed=4, name="imu")
    clock = schedule.begin(2, 2, seed=4, name="imu")
    chain = Chain([faults[0], faults[2], saturate])
    expected, own = chain.series(
        signals[..., 1:4], times_ns=np.arange(300) * MS, state=chain.init((2, 2, 3), seed=4, name="imu", period_s=1e-3)
    )
    for k in range(300):
        x = signals[k].reshape(4, 5).copy()
        program.step(x, k * MS, state, clock.at(k * MS))
        np.testing.assert_array_equal(x[:, 1:4], expected[k].reshape(4, 3))
        np.testing.assert_array_equal(x[:, [0, 4]], signals[k].reshape(4, 5)[:, [0, 4]])
    assert [e for e in clock.log if e.fault != "b"] == list(own.faults.log)
    with pytest.raises(SpecError, match="must be run by `step`"):
        program.series(signals, np.arange(300) * MS, state)


def test_faults_of_a_schedule_and_of_a_chain_side_by_side():
    schedule = FaultSchedule(faults=(Fault(Bias(1.0), start_s=0.002, end_s=0.004),))
    inside = Fault(Bias(10.0), start_s=0.003, end_s=0.005)
    parts = [*schedule.parts(Layout(1)), Part(inside.operations(Layout(1)), 0, 1)]
    program = Program(parts, columns=1)
    state, clock = program.init((1,), seed=1, name="x"), schedule.begin(seed=1)
    given = []
    for k in range(6):
        x = np.zeros((1, 1))
        program.step(x, k * MS, state, clock.at(k * MS))
        given.append(x[0, 0])
    assert given == [0, 0, 1, 11, 10, 0]


def test_a_restart_begins_anew_also_with_faults():
    chain = Chain([Fault(Stuck(mode="value", value=1.0), onsets_per_s=1000.0)])
    state = chain.init((2, 1), seed=3)
    out, state = chain.series(np.zeros((100, 2, 1)), times_ns=np.arange(100) * MS, state=state)
    assert (out[-1] == 1.0).all()
    state.program.restart(state, np.array([True, False]))
    assert state.faults.log[0].end_ns == 99 * MS or state.faults.log[1].end_ns == 99 * MS
    assert [len(state.faults.log.of(world=w)) for w in range(2)] == [1, 1]
    assert state.faults.log.at(99 * MS, 0) == ()
    assert state.faults.log.at(99 * MS, 1) == ("stuck",)


def test_names_are_kinds_and_differ():
    faults = (Fault(Bias(1.0)), Fault(Bias(2.0)), Fault(Bias(3.0), name="bias_2"), Fault(White(std=1.0)))
    assert FaultSchedule(faults=faults).names == ("bias", "bias_3", "bias_2", "white")
    with pytest.raises(SpecError, match="two faults are named 'x'"):
        FaultSchedule(faults=(Fault(Bias(1.0), name="x"), Fault(Bias(2.0), name="x")))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({}, "exactly one of them must be given"),
        ({"corruption": Bias(1.0), "timing": TimingErrors()}, "exactly one of them must be given"),
        ({"corruption": Bias(1.0), "start_s": 2.0, "end_s": 1.0}, "it must end after it starts"),
        ({"corruption": Bias(1.0), "start_s": 1.0, "onsets_per_s": 1.0}, "random times or known ones"),
        ({"corruption": Bias(1.0), "start_s": 1.0, "duration_s": 1.0}, "give end_s"),
        ({"corruption": Bias(1.0), "onsets_per_s": 1.0, "fixed_duration": True}, "without duration_s"),
        ({"corruption": Bias(1.0), "onsets_per_s": 0.0}, "onsets_per_s"),
        ({"corruption": Bias(1.0), "onsets_per_s": 1.0, "duration_s": 0.0}, "duration_s"),
        ({"corruption": Bias(1.0), "name": ""}, "name"),
        ({"corruption": Chain([Fault(Bias(1.0))])}, "a fault must not switch another"),
        ({"corruption": {"kind": "gremlin"}}, "kind is 'gremlin'"),
        ({"timing": TimingErrors(), "channels": (1,)}, "time has none"),
    ],
)
def test_bad_data_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        Fault(**fields)


def test_what_only_shows_with_a_signal_is_refused_then():
    with pytest.raises(SpecError, match="must stand in the schedule of a sensor"):
        Chain([Fault(timing=TimingErrors())]).init((1,), seed=1)
    with pytest.raises(SpecError, match="channels has 3"):
        Fault(Bias(1.0), channels=(3,)).init((3,), seed=1)
    with pytest.raises(SpecError, match="one in common"):
        Fault(Stuck(mode="off", channels=(0,)), channels=(1,)).init((3,), seed=1)


def test_it_survives_as_data():
    schedule = FaultSchedule(
        faults=(
            Fault(Chain([Stuck(mode="off", off_value="nan"), Bias(1.0)]), start_s=1.0, end_s=2.0, channels=(0, 2)),
            Fault(timing=TimingErrors(loss=0.5), onsets_per_s=0.1, duration_s=2.0, name="net"),
        )
    )
    assert FaultSchedule.model_validate(schedule.model_dump()) == schedule
    assert FaultSchedule.model_validate_json(schedule.model_dump_json()) == schedule
    assert Chain.model_validate(EVERYTHING.model_dump()) == EVERYTHING
    loaded = FaultSchedule(faults=[{"corruption": {"kind": "stuck", "mode": "max"}, "start_s": 3}])
    assert loaded.faults[0] == Fault(Stuck(mode="max"), start_s=3.0)
