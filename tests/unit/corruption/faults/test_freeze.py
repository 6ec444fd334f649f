"""Freeze: the whole sample holds still, on command or by itself."""

import numpy as np
import pytest
from scipy import stats

from sensorium.core.errors import SpecError
from sensorium.corruption import Chain, Fault, Freeze

MS = 1_000_000


def run(corruption, samples, worlds=1, width=2, step_ns=MS, seed=4):
    """Of a signal that never repeats: which samples hold an older one, and the age of what is given [samples]."""
    signal = np.arange(float(samples))[:, None, None] + np.zeros((worlds, width))
    times_ns = np.arange(samples) * step_ns
    out, state = corruption.series(signal, times_ns=times_ns, state=corruption.init((worlds, width), seed=seed))
    assert (out == out[..., :1]).all()
    return np.arange(samples)[:, None] - out[..., 0], state


def test_without_a_rate_it_holds_the_first_sample():
    age, _ = run(Freeze(), 10)
    np.testing.assert_array_equal(age[:, 0], np.arange(10))


def test_a_fault_switches_it_and_each_onset_holds_a_new_sample():
    age, _ = run(Chain([Fault(Freeze(), start_s=0.003, end_s=0.006), Fault(Freeze(), start_s=0.008)]), 12)
    np.testing.assert_array_equal(age[:, 0], [0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 2, 3])


def test_fixed_times_last_as_long_as_they_should():
    age, _ = run(Freeze(rate_hz=50.0, duration_s=0.0095, fixed_duration=True), 5000, worlds=4)
    longest = age[np.flatnonzero(np.diff(age[:, 0]) < 0), 0]
    assert set(longest) == {9.0}  # held for 9.5 ms: nine more samples


def test_share_and_duration_of_random_freezing():
    rate_hz, duration_s, step_s = 5.0, 0.05, 1e-3
    age, _ = run(Freeze(rate_hz=rate_hz, duration_s=duration_s), 20000, worlds=40)

    # Ages at the thaw: the number of whole steps within an exponential time, so geometric from 0
    chance, stay = 1.0 - np.exp(-rate_hz * step_s), np.exp(-step_s / duration_s)
    frozen = age > 0
    per_onset = stay / (1.0 - stay)  # mean number of repeated samples
    share = chance * per_onset / (1.0 + chance * per_onset)
    assert frozen.mean() == pytest.approx(share, rel=0.05)
    last = np.concatenate([age[:-1, w][(age[:-1, w] > 0) & (age[1:, w] == 0)] for w in range(40)]).astype(int)
    edges = np.array([5, 15, 30, 50, 80, 120])
    observed = np.bincount(np.searchsorted(edges, last), minlength=len(edges) + 1)
    expected = np.diff(np.concatenate([[0.0], stats.geom.cdf(edges, 1.0 - stay), [1.0]])) * len(last)
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_worlds_are_independent_and_a_batch_equals_single_runs():
    freeze = Freeze(rate_hz=20.0, duration_s=0.02)
    together, _ = run(freeze, 500, worlds=8)
    assert len({together[:, w].tobytes() for w in range(8)}) == 8
    signal = np.arange(500.0)[:, None] + np.zeros(2)
    for world in range(8):
        state = freeze.init((2,), seed=4, first_world=world)
        out, _ = freeze.series(signal, times_ns=np.arange(500) * MS, state=state)
        np.testing.assert_array_equal(np.arange(500) - out[:, 0], together[:, world])


def test_missing_values_are_held_as_such():
    freeze = Freeze()
    state = freeze.init((2,), seed=1)
    for k, values in enumerate(([1.0, np.nan], [2.0, 5.0], [np.nan, 6.0])):
        x = np.array([values])
        state.program.step(x, k, state)
        np.testing.assert_array_equal(x[0], [1.0, np.nan])


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"rate_hz": 1.0}, "give both, or neither"),
        ({"duration_s": 1.0}, "give both, or neither"),
        ({"rate_hz": 0.0, "duration_s": 1.0}, "rate_hz"),
        ({"fixed_duration": True}, "without duration_s"),
    ],
)
def test_bad_data_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        Freeze(**fields)


def test_it_survives_as_data():
    chain = Chain([Freeze(), Freeze(rate_hz=1.0, duration_s=2.0, fixed_duration=True)])
    assert Chain.model_validate(chain.model_dump()) == chain
