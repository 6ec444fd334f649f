import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import (
    Bias,
    BiasInstability,
    BoundedWalk,
    Chain,
    Coupling,
    DeadChannels,
    Drift,
    Dropout,
    Fault,
    FaultSchedule,
    Freeze,
    GaussMarkov,
    IntermittentBias,
    LinearProcess,
    LowPass,
    Nonlinearity,
    Overflow,
    Part,
    Program,
    Quantize,
    RandomWalk,
    Saturate,
    Scale,
    Spikes,
    SquareWave,
    Stuck,
    TemperatureDrift,
    White,
)
from sensorium.corruption.engine.base import Layout
from sensorium.corruption.engine.op import CUSTOM, FIRST_OF_OTHERS, MAX_GROUPS, MAX_REPEATS, Op, registered
from sensorium.corruption.errors.bias import BIAS
from sensorium.runtime import worker_pool

LAYOUT = Layout(3, 0.01)


def _ops(*models):
    return [op for model in models for op in model.compiled(LAYOUT)]


def test_parts_work_on_their_own_channels_with_their_own_luck():
    ops = _ops(Bias(1.0), White(std=0.1))
    program = Program([Part(ops, 0, 3, group=0), Part(ops, 4, 3, group=1)], columns=7)
    state = program.init((50, 7), seed=1, name="imu")
    x = np.zeros((50, 7))
    program.step(x, 0, state)
    assert (x[:, 3] == 0).all()
    assert (x[:, [0, 1, 2, 4, 5, 6]] != 0).all()
    assert abs(np.corrcoef(x[:, 0], x[:, 4])[0, 1]) < 0.5
    assert len(np.unique(x)) == 50 * 6 + 1

    # The luck of a group does not depend on which others there are
    other = Program([Part(ops, 0, 3, group=1)], columns=3)
    y = np.zeros((50, 3))
    other.step(y, 0, other.init((50, 3), seed=1, name="imu"))
    np.testing.assert_array_equal(y, x[:, 4:])


def test_steps_in_place_are_the_series():
    program = Program.of(_ops(RandomWalk(density=1.0), GaussMarkov(std=1.0, tau_s=0.1)), width=3, period_s=0.01)
    signals, times = np.random.default_rng(0).normal(size=(9, 4, 3)), 10_000_000 * np.arange(1, 10)
    expected, _ = program.series(signals, times, program.init((4, 3), seed=1, name="s"))
    state = program.init((4, 3), seed=1, name="s")
    for k in range(9):
        x = signals[k].copy()
        program.step(x, int(times[k]), state)
        np.testing.assert_array_equal(x, expected[k])
    assert state.tick == 9
    assert state.time_ns == times[-1]


def test_a_restart_begins_masked_worlds_anew_and_leaves_the_rest():
    program = Program.of(_ops(Bias(0.0, std=1.0), RandomWalk(density=1.0)), width=3, period_s=0.01)
    state = program.init((3, 2, 3), seed=1, name="s")
    for k in range(5):
        program.step(np.zeros((6, 3)), 1_000_000_000 * k, state)
    before = state.values.copy()
    program.restart(state, np.array([False, True, False]))
    np.testing.assert_array_equal(state.values[[0, 1, 4, 5]], before[[0, 1, 4, 5]])

    # Another episode has another bias, and its walk begins at zero
    again = state.values[2:4].reshape(2, 2, 3)
    assert (again[:, 0] != before[2:4].reshape(2, 2, 3)[:, 0]).all()
    assert (again[:, 1] == 0).all()


def test_faults_switch_operations_row_by_row_and_change_no_other_draw():
    ops = _ops(White(std=1.0))
    program = Program([Part(ops, 0, 3), Part(ops, 0, 3, group=1, fault=0)], columns=3)
    x, y = np.zeros((5, 3)), np.zeros((5, 3))
    active = np.array([[0], [1], [0], [1], [1]], np.uint8)
    program.step(x, 0, program.init((5, 3), seed=1, name="s"), np.zeros((5, 1), np.uint8))
    program.step(y, 0, program.init((5, 3), seed=1, name="s"), active)
    np.testing.assert_array_equal((x != y).any(axis=1), active[:, 0] == 1)


@pytest.mark.parametrize(("rows", "samples", "shared"), [(1000, 1, False), (20000, 1, True), (1000, 20, True)])
def test_threads_share_what_is_worth_waking_them_for(rows, samples, shared, monkeypatch):
    """A call is long by its rows or by its samples."""
    program = Program.of(_ops(*[White(std=1.0)] * 4), width=3, period_s=None)
    state = program.init((rows, 3), seed=1, name="s")
    seen = []
    run = worker_pool.run
    monkeypatch.setattr(worker_pool, "run", lambda *a, **k: (seen.append(a[1] >= k["serial_below"]), run(*a, **k))[1])
    program.series(np.zeros((samples, rows, 3)), np.arange(samples), state)
    assert seen == [shared]


def test_a_program_without_operations_hands_the_signal_on():
    program = Program.of([], width=2, period_s=None)
    out, state = program.series(np.ones((3, 2)), np.arange(3), program.init((2,), seed=1, name="s"))
    np.testing.assert_array_equal(out, np.ones((3, 2)))
    assert state.tick == 3


def test_limits_of_the_counter_are_told():
    with pytest.raises(SpecError, match=f"more than {MAX_REPEATS} corruptions of one kind"):
        Program.of(_ops(*[White(std=1.0)] * (MAX_REPEATS + 1)), width=3, period_s=None)
    with pytest.raises(SpecError, match=f"group is {MAX_GROUPS}; it must be 0 to {MAX_GROUPS - 1}"):
        Program([Part([], 0, 3, group=MAX_GROUPS)], columns=3)
    with pytest.raises(SpecError, match=r"its last number must be 6"):
        Program([Part(_ops(Bias(1.0)), 3, 3)], columns=6).init((3,), seed=1, name="s")


def test_a_coupling_reads_channels_of_the_signal_alone():
    for column, fits in ((0, True), (3, True), (4, False), (10**9, False)):
        coupling = Coupling(matrix=((0.1, 0.2, 0.3),) * 3, source_column=column)
        part = Part(coupling.operations(Layout(3, 0.1)), 0, 3)
        if fits:
            Program([part], columns=6)
            continue
        with pytest.raises(SpecError, match=f"source_column is {column} with channels up to {column + 2}; the signal"):
            Program([part], columns=6)


@pytest.mark.parametrize("kind", [0, -1, 25, 63, 64, 99])
def test_an_operation_that_nothing_runs_is_refused(kind):
    """Before, it was laid out, and the kernel did nothing."""
    for on in (True, False):
        with pytest.raises(SpecError, match=f"an operation has the kind {kind}; it must be one of"):
            Program.of([Op(kind, on=on)], width=3, period_s=None)


def test_operations_that_cannot_be_laid_out_are_refused():
    with pytest.raises(SpecError, match="an operation has 5 options; it must have 4 at most"):
        Program.of([Op(BIAS, np.zeros(3), options=(1,) * 5)], width=3, period_s=None)
    with pytest.raises(SpecError, match="kind CUSTOM must have one, and no other"):
        Program.of([Op(CUSTOM)], width=3, period_s=None)
    with pytest.raises(SpecError, match="kind CUSTOM must have one, and no other"):
        Program.of([Op(BIAS, np.zeros(3), act=lambda x, state, moment: x)], width=3, period_s=None)


# Each kind of operation, as a corruption that changes every value of the signal [0.1, 0.2, 0.3] at the second sample
ACTS = {
    BIAS: Bias(1.0),
    2: Scale(error=0.5),
    3: White(std=1.0),
    4: RandomWalk(density=1.0),
    5: GaussMarkov(std=1.0, tau_s=1.0),
    6: Quantize(lsb=0.7),
    7: Saturate(max=0.05),
    8: Coupling(matrix=np.eye(3).tolist(), source_column=0),
    9: BiasInstability(instability=1.0),
    10: BoundedWalk(bound=1.0, density=0.5),
    11: LinearProcess(propagation=0.9, covariance=1.0),
    12: TemperatureDrift(bias_per_k=0.1, ambient_c=30.0),
    13: Nonlinearity(full_scale=1.0, second=0.1),
    14: LowPass(cutoff_hz=1.0),
    15: Stuck(mode="present"),
    16: SquareWave(amplitude=1.0, frequency_hz=10.0),
    17: Spikes(probability=1.0, amplitude=1.0),
    18: Dropout(probability=1.0, fill="zero"),
    19: Freeze(),
    20: DeadChannels(channels=(0, 1, 2)),
    21: Drift(rate=1.0),
    22: IntermittentBias(value=1.0, duty=0.9, period_s=100.0, switching="periodic"),
    23: Overflow(min=-1.0, max=0.01),
}


@pytest.mark.parametrize("kind", [number for number in registered() if number < FIRST_OF_OTHERS])
def test_the_kernel_runs_every_kind_there_is(kind):
    model = ACTS[kind]
    ops = model.compiled(LAYOUT)
    assert {op.kind for op in ops} == {kind}
    signals = np.array([[0.5, 0.6, 0.7], [0.1, 0.2, 0.3]])
    out, _ = model.series(signals, times_ns=[0, 10_000_000], state=model.init((3,), seed=1, period_s=0.01))
    assert (out[1] != signals[1]).all()


def test_held_values_are_told_by_channel_and_operation():
    model = Chain([Fault(Stuck(mode="present"), start_s=0.01, channels=(1, 2)), Fault(Freeze(), start_s=0.03)])
    state = model.init((2, 3), seed=1)
    told = []
    for k in range(5):
        _, state = model.apply(np.full((2, 3), float(k)), time_ns=k * 10_000_000, state=state)
        told.append([mask.tolist() for mask in state.program.held(state, 0)])
    none, some, every = [[False] * 3] * 2, [[False, True, True]] * 2, [[True] * 3] * 2
    assert told == [[none, none], [none, none], [some, none], [some, none], [some, every]]
    assert state.program.can_hold(0)
    assert not state.program.can_hold(1)
    assert state.program.held(state, 1) == []
    assert not Bias(1.0).program(3).can_hold(0)


def test_a_fault_of_a_schedule_that_is_not_active_holds_nothing():
    program = Program(FaultSchedule(faults=(Fault(Freeze()),)).parts(Layout(2)), columns=2)
    state = program.init((2,), seed=0, name="x")
    for k, active in enumerate((1, 1, 0)):
        faults = np.array([[active]], np.uint8)
        program.step(np.full((1, 2), float(k)), k, state, faults)
        (mask,) = program.held(state, 0, faults)
        assert (mask is None) == (not active)
        if active:
            assert mask.all() == (k == 1)


def test_many_channels_of_several_sensors_would_share_random_numbers():
    channels = (1 << 20) + 1
    program = Program([], columns=channels)
    program.init((1, 1, channels), seed=0, name="one")
    with pytest.raises(SpecError, match="2 sensors of 1048577 channels share one state; they may have 1048576 each"):
        program.init((1, 2, channels), seed=0, name="two")
