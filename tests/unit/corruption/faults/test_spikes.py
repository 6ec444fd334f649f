"""Spikes: how often, how high, which way."""

import numpy as np
import pytest
from scipy import stats

from sensorium.core.errors import SpecError
from sensorium.corruption import Chain, Spikes


def draw(samples=2000, width=5, worlds=10, step_ns=1_000_000, **fields):
    spikes = Spikes(**fields)
    times_ns = np.arange(1, samples + 1) * step_ns
    state = spikes.init((worlds, width), seed=11)
    return spikes.series(np.zeros((samples, worlds, width)), times_ns=times_ns, state=state)[0]


@pytest.mark.parametrize("probability", [1e-3, 0.03, 0.5])
def test_share_of_samples_hit(probability):
    out = draw(probability=probability, amplitude=2.0)
    assert stats.binomtest(int((out != 0).sum()), out.size, probability).pvalue > 1e-3
    assert set(np.unique(out)) == {-2.0, 0.0, 2.0}


def test_the_number_of_spikes_a_second_does_not_depend_on_the_sample_rate():
    for step_ns in (1_000_000, 10_000_000):
        out = draw(samples=4000, step_ns=step_ns, rate_hz=2.0, amplitude=1.0)
        chance = 1.0 - np.exp(-2.0 * step_ns * 1e-9)
        assert not out[0].any()  # no time has passed yet
        assert stats.binomtest(int((out[1:] != 0).sum()), out[1:].size, chance).pvalue > 1e-3


def test_rare_spikes_are_as_rare_as_asked_for():
    """Probabilities below the steps of a 32-bit word come out right: 2^-33, seen 4 million times as often."""
    never, always = draw(probability=0.0, amplitude=1.0), draw(probability=1.0, amplitude=1.0)
    assert not never.any()
    assert (np.abs(always) == 1.0).all()
    from sensorium.corruption.engine.draws import happens
    from sensorium.corruption.engine.op import CLOCK, ROW

    # Where the first word ties with the limit, the second one decides
    ops, clock, ids = np.zeros((1, ROW), np.int64), np.zeros((1, CLOCK), np.int64), np.zeros((2, 1), np.int64)
    hits = 0
    for world in range(4000):
        ids[0, 0] = world
        hits += happens(0.3 * 2.0**-32, np.uint32(0), ops, 0, clock, 0, ids, 0, 0, 0)
    assert stats.binomtest(hits, 4000, 0.3).pvalue > 1e-3
    assert not happens(0.3 * 2.0**-32, np.uint32(1), ops, 0, clock, 0, ids, 0, 0, 0)


def test_heights_follow_their_law():
    uniform = draw(probability=0.3, amplitude=2.0, law="uniform")
    assert stats.kstest(uniform[uniform != 0.0], stats.uniform(-2.0, 4.0).cdf).pvalue > 1e-3
    normal = draw(probability=0.3, amplitude=2.0, law="normal")
    assert stats.kstest(normal[normal != 0.0], stats.norm(0.0, 2.0).cdf).pvalue > 1e-3


def test_a_sign_may_be_given():
    assert draw(probability=0.1, amplitude=1.0, law="normal", sign="plus").min() == 0.0
    assert draw(probability=0.1, amplitude=1.0, law="uniform", sign="minus").max() == 0.0
    both = draw(probability=0.3, amplitude=1.0)
    hits = both[both != 0.0]
    assert stats.binomtest(int((hits > 0.0).sum()), hits.size, 0.5).pvalue > 1e-3


def test_channels_and_samples_are_independent():
    hit = draw(samples=20000, worlds=1, width=5, probability=0.2, amplitude=1.0)[:, 0] != 0.0
    correlation = np.corrcoef(np.concatenate([hit[1:].T, hit[:-1].T]))
    assert np.abs(correlation - np.eye(10)).max() < 5.0 / np.sqrt(len(hit))


def test_a_batch_equals_single_runs():
    spikes = Spikes(probability=0.2, amplitude=1.0, law="normal")
    times_ns = np.arange(50)
    all_worlds = draw(samples=50, worlds=8, width=6, step_ns=1, probability=0.2, amplitude=1.0, law="normal")
    for world in range(8):
        state = spikes.init((6,), seed=11, first_world=world)
        alone, _ = spikes.series(np.zeros((50, 6)), times_ns=times_ns, state=state)
        np.testing.assert_array_equal(alone, all_worlds[:, world])


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"amplitude": 1.0}, "exactly one of them"),
        ({"amplitude": 1.0, "probability": 0.1, "rate_hz": 1.0}, "exactly one of them"),
        ({"amplitude": 1.0, "probability": 1.1}, "probability is 1.1; it must be from 0 to 1"),
        ({"amplitude": 1.0, "rate_hz": -1.0}, "rate_hz is -1; it must not be negative"),
        ({"amplitude": -1.0, "rate_hz": 1.0}, "amplitude is -1; it must not be negative"),
        ({"amplitude": 1.0, "rate_hz": 1.0, "law": "cauchy"}, "law"),
    ],
)
def test_bad_data_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        Spikes(**fields)


def test_it_survives_as_data():
    chain = Chain([Spikes(rate_hz=(1.0, 2.0), amplitude=3.0, law="uniform", sign="minus")])
    assert Chain.model_validate(chain.model_dump()) == chain
