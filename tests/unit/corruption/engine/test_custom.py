"""Corruptions of one's own: in chains, faults, sensors and files like those of the library."""

import re
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, Chain, Corruption, CustomCorruption, Fault, FaultSchedule, Quantize, Scale, White
from sensorium.corruption.engine.op import Op
from sensorium.runtime import worker_pool

MS = 1_000_000


class Deadband(CustomCorruption):
    """What changes by less than the width since the last value given is not noticed."""

    kind: Literal["test_deadband"] = "test_deadband"
    slots = 1
    width: float = 0.5

    def corrupted(self, x, state, moment):
        last = state[:, 0]
        moved = np.isnan(last) | (np.abs(x - last) >= self.width)
        last[moved] = x[moved]
        return last.copy()


class Popcorn(CustomCorruption):
    """Random numbers of its own: adds a normal number where a uniform one is below a half, and the time."""

    kind: Literal["test_popcorn"] = "test_popcorn"

    def corrupted(self, x, state, moment):
        assert state.shape == (x.shape[0], 0, x.shape[1])
        return x + np.where(moment.uniform(1) < 0.5, moment.normal(2), 0.0) + moment.elapsed_s


class Wrong(CustomCorruption):
    kind: Literal["test_wrong"] = "test_wrong"

    def corrupted(self, x, state, moment):
        return x[:, :1]


class Nothing(Corruption):
    """What the page said before: an operation of a kind that no kernel runs."""

    kind: Literal["test_nothing"] = "test_nothing"

    def operations(self, layout):
        return [Op(kind=42)]


def series(model, signals, times_ns=None, seed=1, **options):
    times_ns = np.arange(len(signals)) * MS if times_ns is None else times_ns
    return model.series(signals, times_ns=times_ns, state=model.init(signals.shape[1:], seed=seed, **options))[0]


def deadband(signal, width):
    """The same with a loop."""
    out, last = np.empty_like(signal), np.full(signal.shape[1:], np.nan)
    for k, x in enumerate(signal):
        last = np.where(np.isnan(last) | (np.abs(x - last) >= width), x, last)
        out[k] = last
    return out


def test_it_does_what_it_says_with_state_of_its_own():
    signal = np.random.default_rng(0).normal(size=(60, 5, 2)).cumsum(axis=0) * 0.3
    np.testing.assert_array_equal(series(Deadband(), signal), deadband(signal, 0.5))


def test_in_a_chain_it_stands_between_others():
    signal = np.random.default_rng(0).normal(size=(60, 2)).cumsum(axis=0) * 0.3
    chain = Chain([Scale(error=1.0), Deadband(width=0.4), Bias(0.01), Deadband(width=0.2), Quantize(lsb=0.25)])
    inside = deadband(deadband(2.0 * signal, 0.4) + 0.01, 0.2)
    expected = 0.25 * np.where(inside >= 0, np.floor(inside / 0.25 + 0.5), np.ceil(inside / 0.25 - 0.5))
    np.testing.assert_allclose(series(chain, signal), expected, atol=1e-12)


def test_it_changes_no_random_number_of_others():
    signal = np.zeros((20, 3))
    alone, beside = series(White(std=1.0), signal), series(Chain([White(std=1.0), Popcorn()]), signal)
    more = series(Chain([Popcorn(), White(std=1.0)]), signal)
    assert (beside != alone).any()
    np.testing.assert_allclose(beside, more, atol=1e-12)


def test_a_fault_switches_it_row_by_row_and_each_onset_begins_anew():
    signal = np.random.default_rng(1).normal(size=(400, 6, 2)).cumsum(axis=0) * 0.2
    fault = Fault(Deadband(), onsets_per_s=30.0, duration_s=0.02, channels=(1,))
    times_ns = np.arange(400) * MS
    out, state = fault.series(signal, times_ns=times_ns, state=fault.init((6, 2), seed=2))
    expected = signal.copy()
    for event in state.faults.log:
        end_ns = 400 * MS if event.end_ns is None else event.end_ns
        inside = np.flatnonzero((times_ns >= event.start_ns) & (times_ns < end_ns))
        expected[inside, event.world, 1] = deadband(signal[inside, event.world, 1], 0.5)
    assert state.faults.log.total > 30
    np.testing.assert_array_equal(out, expected)


def test_samples_batches_and_threads_agree():
    chain = Chain(
        [White(std=0.1), Popcorn(), Deadband(width=0.2), Fault(Popcorn(), onsets_per_s=200.0, duration_s=0.01)]
    )
    signal = np.random.default_rng(3).normal(size=(30, 6, 3))
    times_ns = np.cumsum(np.random.default_rng(4).integers(1, 9 * MS, 30))
    whole = series(chain, signal, times_ns)
    assert len(np.unique(whole[:, 0])) > 50
    for world in range(6):
        state = chain.init((3,), seed=1, first_world=world)
        for k in range(30):
            out, state = chain.apply(signal[k, world], time_ns=int(times_ns[k]), state=state)
            np.testing.assert_array_equal(out, whole[k, world])
    before = worker_pool.get_threads()
    try:
        worker_pool.set_threads(1)
        np.testing.assert_array_equal(series(chain, signal, times_ns), whole)
    finally:
        worker_pool.set_threads(before)


def test_its_random_numbers_have_their_laws_and_are_those_of_world_and_sensor():
    out = series(Popcorn(), np.zeros((40, 50, 4, 3)), times_ns=np.arange(40))
    added = out[1:][np.abs(out[1:]) > 1e-8]
    assert len(added) / out[1:].size == pytest.approx(0.5, abs=0.02)
    assert (added.mean(), added.std()) == (pytest.approx(0.0, abs=0.05), pytest.approx(1.0, abs=0.05))
    assert len(np.unique(added)) > 0.99 * len(added)


def test_under_a_sensor_and_as_a_fault():
    world = sn.worlds.Kinematic({}, {"wheel": sn.paths.JointLine(0.0, 3.0)}, step_s=0.01)
    faults = FaultSchedule(faults=(Fault(Deadband(width=1.0), start_s=0.1, end_s=0.2),))
    env = sn.Environment(sn.Scene(), world)
    timing = sn.Timing(rate_hz=100.0)
    healthy = env.attach(sn.Odometer(timing=timing, radius_m=1.0), joint="wheel", name="a")
    struck = env.attach(sn.Odometer(timing=timing, radius_m=1.0, faults=faults), joint="wheel", name="b")
    always = env.attach(sn.Odometer(timing=timing, radius_m=1.0, extra=(Deadband(width=0.1),)), joint="wheel", name="c")
    readings = []
    for _ in env.run(duration_s=0.3):
        readings.append([float(sensor.read().distance) for sensor in (healthy, struck, always)])
    ideal, fault, deaf = np.array(readings).T
    inside = (np.arange(1, len(ideal) + 1) >= 10) & (np.arange(1, len(ideal) + 1) < 20)
    np.testing.assert_array_equal(fault[~inside], ideal[~inside])
    assert (fault[inside] == ideal[inside][0]).all()
    np.testing.assert_allclose(deaf, deadband(ideal[:, None], 0.1)[:, 0])


def test_the_way_that_the_page_shows_works():
    """The program of the page is run as it stands, and its dead band does what it says."""
    page = (Path(__file__).parents[4] / "docs" / "corruption.md").read_text()
    (block,) = [b for b in re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE) if "(CustomCorr" in b]
    names = {"np": np, "sn": sn, **vars(sn.corruption)}
    exec(block, names)
    signal = np.random.default_rng(5).normal(size=(80, 3)).cumsum(axis=0) * 0.1
    np.testing.assert_array_equal(series(names["Deadband"](width=0.3), signal), deadband(signal, 0.3))
    assert len(np.unique(series(names["sticky"], signal))) < 40
    assert names["wheel"].faults.corrupt


def test_files_know_it_by_its_kind():
    chain = Chain.model_validate({"parts": [{"kind": "test_deadband", "width": 0.25}]})
    assert chain.parts == (Deadband(width=0.25),)
    assert Chain.model_validate_json(chain.model_dump_json()) == chain


def test_off_does_nothing_and_a_restart_begins_anew():
    signal = np.arange(4.0)[:, None, None] * 0.1 * np.ones((2, 1))
    np.testing.assert_array_equal(series(Deadband(on=False), signal), signal)
    model = Deadband()
    _, state = model.series(signal, times_ns=np.arange(4), state=model.init((2, 1), seed=1))
    state.program.restart(state, np.array([False, True]))
    out, _ = model.apply([[0.4], [0.4]], time_ns=9, state=state)
    assert out.tolist() == [[0.0], [0.4]]


def test_what_gives_another_shape_or_is_run_by_nothing_is_refused():
    with pytest.raises(SpecError, match=r"gave shape \(1, 1\); it must be \(1, 3\), rows first"):
        series(Wrong(), np.zeros((1, 3)))
    with pytest.raises(SpecError, match="has the kind 42; it must be one of those that"):
        Nothing().init((3,), seed=0)
    with pytest.raises(SpecError, match="an operation has the kind 42"):
        Fault(Nothing()).init((3,), seed=0)


def test_a_kind_of_the_library_is_not_taken_over():
    with pytest.raises(SpecError, match=r"Mine\.kind is 'bias'; that is the library's Bias, give it another"):

        class Mine(CustomCorruption):
            kind: Literal["bias"] = "bias"

    with pytest.raises(SpecError, match="give it another"):

        class Other(Bias):
            pass

    assert Corruption.kinds["bias"] is Bias
