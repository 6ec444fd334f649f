"""Drift: what grows from zero at the onset of a fault, against the formula of each part."""

import numpy as np
import pytest
from scipy import stats

from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, Chain, Drift, Fault, FaultSchedule, Part, Program
from sensorium.corruption.engine.base import Layout

S = 1_000_000_000


def applied(corruption, signals, times_ns, seed=1, **options):
    state = corruption.init(np.shape(signals)[1:], seed=seed, **options)
    return corruption.series(signals, times_ns=times_ns, state=state)


def formula(age_s, rate=0.0, final=0.0, tau_s=1.0):
    return rate * age_s + final * (1.0 - np.exp(-age_s / tau_s))


def ages_s(log, times_ns, worlds):
    """Time since the onset at each time by the log, 0 where the fault is not active; shape (times, worlds)."""
    ages = np.zeros((len(times_ns), worlds))
    for event in log:
        end_ns = times_ns[-1] + 1 if event.end_ns is None else event.end_ns
        inside = (times_ns >= event.start_ns) & (times_ns < end_ns)
        ages[inside, event.world] = (times_ns[inside] - event.start_ns) / S
    return ages


@pytest.mark.parametrize("seed", range(6))
def test_ramp_and_approach_count_from_the_onset_to_the_nanosecond(seed):
    """Onset and end at random, mostly between samples; samples at random; three channels."""
    rng = np.random.default_rng(seed)
    times_ns = np.cumsum(rng.integers(1, S, 200))
    start_s, end_s = np.sort(rng.uniform(0, times_ns[-1] / S, 2)).round(9)
    rate, final, tau_s = rng.normal(size=3), rng.normal(size=3), rng.uniform(0.1, 30.0, 3)
    signal = rng.normal(size=(200, 3))
    fault = Fault(Drift(rate=rate, final=final, tau_s=tau_s), start_s=start_s, end_s=end_s)
    out, state = applied(fault, signal, times_ns)
    age_s = (times_ns - round(start_s * S))[:, None] / S
    active = (times_ns >= round(start_s * S)) & (times_ns < round(end_s * S))
    expected = np.where(active[:, None], formula(age_s, rate, final, tau_s), 0.0)
    np.testing.assert_allclose(out - signal, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(out[~active], signal[~active])
    (event,) = state.faults.log
    assert (event.start_ns, event.end_ns) == (round(start_s * S), round(end_s * S))


def test_each_onset_of_a_random_fault_begins_again_at_zero():
    fault = Fault(Drift(rate=2.0), onsets_per_s=0.8, duration_s=0.7)
    times_ns = np.arange(1, 4000) * 50_000_000
    out, state = applied(fault, np.zeros((3999, 4, 1)), times_ns)
    expected = 2.0 * ages_s(state.faults.log, times_ns, 4)
    assert state.faults.log.total > 300
    np.testing.assert_allclose(out[..., 0], expected, atol=1e-9)


def test_without_a_fault_it_counts_from_the_first_sample_and_anew_after_a_restart():
    drift = Drift(rate=1.0, final=3.0, tau_s=2.0)
    times_ns = np.array([5, 6, 9, 10]) * S
    out, state = applied(drift, np.zeros((4, 2, 1)), times_ns)
    np.testing.assert_allclose(out[:, 0, 0], formula(np.array([0.0, 1.0, 4.0, 5.0]), 1.0, 3.0, 2.0))
    state.program.restart(state, np.array([False, True]))
    out, _ = drift.series(np.zeros((2, 2, 1)), times_ns=[11 * S, 13 * S], state=state)
    np.testing.assert_allclose(out[:, :, 0], formula(np.array([[6.0, 0.0], [8.0, 2.0]]), 1.0, 3.0, 2.0))


def test_the_walk_starts_at_zero_at_the_onset_and_has_the_variance_of_its_age():
    """Onset 0.05 s before the first sample; steps of different lengths."""
    times_ns = np.cumsum([0, 3, 4, 1, 20, 2]) * S // 10
    fault = Fault(Drift(density=(0.5, 2.0)), start_s=-0.05, end_s=2.9)
    worlds = 20_000
    out, _ = applied(fault, np.zeros((6, worlds, 2)), times_ns)
    age_s = times_ns / S + 0.05
    inside = times_ns < 2.9 * S
    for k in np.flatnonzero(inside):
        scaled = out[k] / np.array([0.5, 2.0]) / np.sqrt(age_s[k])
        assert scaled.var() == pytest.approx(1.0, abs=5 * np.sqrt(2 / scaled.size))
        assert stats.kstest(scaled.ravel(), "norm").pvalue > 1e-4
    assert (out[~inside] == 0.0).all()

    # Increments are independent of where the walk is
    steps = (out[3] - out[2]) / np.sqrt(age_s[3] - age_s[2]) / np.array([0.5, 2.0])
    assert abs(np.corrcoef(steps.ravel(), out[2].ravel())[0, 1]) < 5 / np.sqrt(steps.size)


def test_an_onset_at_a_sample_is_zero_there():
    fault = Fault(Drift(rate=1.0, density=1.0, final=1.0, tau_s=1.0), start_s=1.0)
    out, _ = applied(fault, np.zeros((3, 1)), np.arange(3) * S)
    assert out[:2, 0].tolist() == [0.0, 0.0]
    assert out[2, 0] != 0.0


def test_a_fault_that_sets_in_again_between_two_samples_begins_again():
    """The signal never sees it switched off, but its onset is another."""
    clock_fault = Fault(Drift(rate=1.0), onsets_per_s=30.0, duration_s=0.02)
    times_ns = np.arange(1, 200) * 100_000_000
    out, state = applied(clock_fault, np.zeros((199, 3, 1)), times_ns)
    expected = ages_s(state.faults.log, times_ns, 3)
    both = (expected[1:] > 0) & (expected[:-1] > 0)
    assert both.sum() > 20
    np.testing.assert_allclose(out[..., 0], expected, atol=1e-9)


def test_a_schedule_must_tell_when_faults_set_in():
    schedule = FaultSchedule(faults=(Fault(Bias(1.0)), Fault(Drift(rate=1.0), start_s=0.5)))
    program = Program(schedule.parts(Layout(1)), columns=1)
    state, clock = program.init((1,), seed=0, name="x"), schedule.begin(seed=0)
    with pytest.raises(SpecError, match="onsets_ns must be given"):
        program.step(np.zeros((1, 1)), S, state, clock.at(S))
    x = np.zeros((1, 1))
    program.step(x, 2 * S, state, clock.at(2 * S), clock.onsets_ns)
    assert x[0, 0] == 2.5


def test_in_a_chain_beside_a_schedule():
    """Onsets of both are told, each to its own."""
    schedule = FaultSchedule(faults=(Fault(Drift(rate=1.0), start_s=1.0),))
    inside = Fault(Drift(rate=10.0), start_s=2.0)
    program = Program([*schedule.parts(Layout(1)), Part(inside.operations(Layout(1)), 0, 1)], columns=1)
    state, clock = program.init((1,), seed=0, name="x"), schedule.begin(seed=0)
    given = []
    for k in range(5):
        x = np.zeros((1, 1))
        program.step(x, k * S, state, clock.at(k * S), clock.onsets_ns)
        given.append(x[0, 0])
    assert given == [0.0, 0.0, 1.0, 12.0, 23.0]


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({}, "none of rate, final and density is given"),
        ({"final": 1.0}, "final is 1.0 and tau_s is None; give both, or neither"),
        ({"tau_s": 1.0, "rate": 1.0}, "give both, or neither"),
        ({"final": 1.0, "tau_s": 0.0}, "tau_s is 0; it must be positive"),
        ({"density": -1.0}, "density is -1; it must not be negative"),
    ],
)
def test_bad_data_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        Drift(**fields)


def test_a_list_of_the_wrong_length_is_named():
    with pytest.raises(SpecError, match=r"Drift\.rate has 2 values; it must be one number or 3"):
        Drift(rate=(1.0, 2.0)).init((3,), seed=0)


def test_it_survives_as_data():
    chain = Chain([Drift(rate=(1.0, 2.0)), Drift(final=1.0, tau_s=3.0, density=0.1)])
    assert Chain.model_validate(chain.model_dump()) == chain
    assert Chain.model_validate_json(chain.model_dump_json()) == chain
