"""Intermittent bias: on and off by the clock or at random, against duty, run lengths and autocovariance."""

import numpy as np
import pytest
from scipy import stats

from sensorium.core.errors import SpecError
from sensorium.corruption import Chain, Fault, IntermittentBias

MS = 1_000_000


def gate(model, samples, worlds=1, width=2, step_ns=MS, seed=3, fault=None):
    """Which samples have the bias, shape (samples, worlds, width)."""
    corruption = model if fault is None else Fault(model, **fault)
    state = corruption.init((worlds, width), seed=seed)
    times_ns = np.arange(samples) * step_ns
    out, _ = corruption.series(np.zeros((samples, worlds, width)), times_ns=times_ns, state=state)
    value = np.broadcast_to(model.value, (width,))
    assert np.isin(out / value, (0.0, 1.0)).all()
    return out != 0.0


@pytest.mark.parametrize("seed", range(5))
def test_periodic_switching_counts_from_the_onset(seed):
    rng = np.random.default_rng(seed)
    period_ns, duty = int(rng.integers(2 * MS, 300 * MS)), float(rng.uniform(0.05, 0.95))
    start_ns, step_ns = int(rng.integers(0, 400 * MS)), int(rng.integers(1, 20 * MS))
    model = IntermittentBias(value=(0.7, -2.0), duty=duty, period_s=period_ns / 1e9, switching="periodic")
    found = gate(model, 500, step_ns=step_ns, fault={"start_s": start_ns / 1e9})
    age_ns = np.arange(500) * step_ns - start_ns
    expected = (age_ns >= 0) & (age_ns % period_ns < duty * period_ns)
    np.testing.assert_array_equal(found, np.broadcast_to(expected[:, None, None], found.shape))


def test_periodic_switching_without_a_fault_counts_from_the_first_sample():
    found = gate(IntermittentBias(value=1.0, duty=0.25, period_s=0.008, switching="periodic"), 20)
    np.testing.assert_array_equal(found[:, 0, 0], np.arange(20) % 8 < 2)


@pytest.mark.parametrize(("duty", "period_s"), [(0.5, 0.05), (0.1, 0.2), (0.9, 0.03)])
def test_random_switching_has_the_duty_and_the_autocovariance_of_a_telegraph_signal(duty, period_s):
    g = gate(IntermittentBias(value=1.0, duty=duty, period_s=period_s), 4000, worlds=300)[:, :, 0].astype(float)
    tau_s = duty * (1.0 - duty) * period_s
    effective = g.size * 1e-3 / (2.0 * tau_s)
    assert g.mean() == pytest.approx(duty, abs=5 * np.sqrt(duty * (1 - duty) / effective))
    for lag in (1, 3, 10):
        found = ((g[lag:] - duty) * (g[:-lag] - duty)).mean()
        expected = duty * (1.0 - duty) * np.exp(-lag * 1e-3 / tau_s)
        assert found == pytest.approx(expected, abs=0.005)


def test_times_on_and_off_are_exponential():
    """Runs seen at samples are geometric: the chance to go on is that of the two-state process over one step."""
    duty, period_s = 0.3, 0.06
    g = gate(IntermittentBias(value=1.0, duty=duty, period_s=period_s), 20_000, worlds=40)[:, :, 0]
    stay = np.exp(-1e-3 / (duty * (1 - duty) * period_s))
    for state, share in ((True, duty), (False, 1.0 - duty)):
        runs = []
        for column in g.T:
            edges = np.flatnonzero(np.diff(np.concatenate([[False], column == state, [False]]).astype(int)))
            lengths = edges[1::2] - edges[::2]
            runs.append(lengths[1:-1])
        runs = np.concatenate(runs)
        chance = share + (1.0 - share) * stay
        bins = np.array([3, 8, 15, 30])
        observed = np.bincount(np.searchsorted(bins, runs), minlength=len(bins) + 1)
        expected = np.diff(np.concatenate([[0.0], stats.geom.cdf(bins, 1.0 - chance), [1.0]])) * len(runs)
        assert stats.chisquare(observed, expected).pvalue > 1e-4


def test_random_switching_does_not_depend_on_the_step():
    """Every tenth sample only: the same share, and the autocovariance of the same process."""
    model = IntermittentBias(value=1.0, duty=0.4, period_s=0.05)
    g = gate(model, 2000, worlds=300, step_ns=10 * MS)[:, :, 0].astype(float)
    assert g.mean() == pytest.approx(0.4, abs=0.005)
    found = ((g[1:] - 0.4) * (g[:-1] - 0.4)).mean()
    assert found == pytest.approx(0.24 * np.exp(-0.01 / (0.24 * 0.05)), abs=0.004)


def test_channels_are_switched_together_or_each_by_itself():
    plug = gate(IntermittentBias(value=1.0, period_s=0.01), 2000, width=6)
    assert (plug == plug[..., :1]).all()
    wires = gate(IntermittentBias(value=1.0, period_s=0.01, together=False), 2000, width=6)[:, 0]
    assert np.abs(np.corrcoef(wires.T) - np.eye(6)).max() < 0.15


def test_worlds_are_independent_and_a_batch_equals_single_runs():
    model = IntermittentBias(value=1.0, period_s=0.02)
    together = gate(model, 300, worlds=6)
    assert len({together[:, w].tobytes() for w in range(6)}) == 6
    for world in range(6):
        state = model.init((2,), seed=3, first_world=world)
        out, _ = model.series(np.zeros((300, 2)), times_ns=np.arange(300) * MS, state=state)
        np.testing.assert_array_equal(out != 0.0, together[:, world])


def test_at_an_onset_it_is_on_with_the_probability_of_its_duty():
    g = gate(IntermittentBias(value=1.0, duty=0.2, period_s=100.0), 3, worlds=20_000, fault={"start_s": 0.001})
    assert not g[0].any()
    assert g[1, :, 0].mean() == pytest.approx(0.2, abs=5 * np.sqrt(0.16 / 20_000))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"value": 1.0}, "period_s"),
        ({"value": 1.0, "period_s": 0.0}, "period_s"),
        ({"value": 1.0, "period_s": 1.0, "duty": 0.0}, "duty"),
        ({"value": 1.0, "period_s": 1.0, "duty": 1.0}, "duty"),
        ({"period_s": 1.0}, "value"),
    ],
)
def test_bad_data_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        IntermittentBias(**fields)


def test_it_survives_as_data():
    chain = Chain([IntermittentBias(value=(1.0, 2.0), period_s=1.0, switching="periodic", together=False)])
    assert Chain.model_validate(chain.model_dump()) == chain
