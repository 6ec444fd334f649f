"""Thresholds over correlated cells: independent ones as the special case, and windowed noise by experiment."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import radio
from sensorium.physics.radio.correlated_cfar import correlated_factors, false_alarm_rate_correlated, training_cells
from sensorium.physics.radio.windows import WINDOWS, window_samples

SETTINGS = {"samples": 64, "training": 8, "guard": 4}


def test_training_cells_lie_beyond_the_guard_and_none_twice():
    np.testing.assert_array_equal(training_cells(64, training=2, guard=1), [-3, -2, 2, 3])
    short = training_cells(16, training=8, guard=3)
    assert len(short) == 9
    assert len(set(short.astype(int) % 16)) == 9
    assert (np.abs(short) > 3).all()
    with pytest.raises(SpecError, match="samples is 8; a threshold needs 2 cells"):
        training_cells(8, training=8, guard=3)


@pytest.mark.parametrize("rank", [None, 0.75, 0.5])
def test_independent_cells_have_the_closed_form(rank):
    alpha = np.array([2.0, 8.0, 20.0])
    found = false_alarm_rate_correlated(alpha, correlation=np.eye(16), rank=rank)
    law = (1 + alpha / 16) ** -16.0 if rank is None else radio.false_alarm_rate(alpha, cells=16, rank=rank)
    np.testing.assert_allclose(found, law, rtol=0.05 if rank else 1e-12)
    factors = correlated_factors("rectangular", false_alarm=1e-4, rank=rank, **SETTINGS)
    plain = radio.threshold_factors(8, false_alarm=1e-4)
    np.testing.assert_array_equal(
        factors, plain if rank is None else radio.ordered_factors(8, false_alarm=1e-4, rank=rank)
    )


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("rank", [None, 0.75])
def test_windowed_noise_exceeds_the_threshold_as_often_as_asked_for(window, rank):
    """Samples of white noise, windowed and transformed, 200,000 times: the middle cell against those around, and
    against the eight of one side and three of the other, as at the end of a row."""
    from scipy.stats import binomtest

    trials, rng = 200_000, np.random.default_rng(3)
    at = training_cells(64, training=8, guard=6)
    n = np.arange(64)
    transform = np.exp(-2j * np.pi * np.outer(np.concatenate([[0.0], at]), n) / 64) * window_samples(window, count=64)
    crossed = np.zeros(2, int)
    factors = correlated_factors(window, samples=64, training=8, guard=6, false_alarm=1e-3, rank=rank)
    for _ in range(10):
        noise = rng.standard_normal((trials // 10, 64)) + 1j * rng.standard_normal((trials // 10, 64))
        power = np.abs(noise @ transform.T) ** 2
        for number, some in enumerate((power[:, 1:], power[:, 6:])):
            count = some.shape[1]
            level = some.mean(axis=1) if rank is None else np.sort(some, axis=1)[:, round(rank * count) - 1]
            crossed[number] += (power[:, 0] > factors[count] * level).sum()
    for total in crossed:
        assert binomtest(int(total), trials, 1e-3).pvalue > 1e-3


def test_correlated_noise_needs_a_higher_threshold():
    """Over fewer cells that are independent, noise is known worse; the factor of independent ones crosses 10 times."""
    rect, hann = (correlated_factors(w, false_alarm=1e-6, rank=0.75, **SETTINGS)[16] for w in ("rectangular", "hann"))
    assert hann > 1.2 * rect
    at = training_cells(64, training=8, guard=4)
    C = radio.noise_correlation("hann", at[:, None] - at, count=64)
    assert false_alarm_rate_correlated(rect, correlation=C, rank=0.75) > 5e-6


def test_many_cells_have_factors_between_those_that_are_worked_out():
    factors = correlated_factors("hann", samples=512, training=100, guard=2, false_alarm=1e-4, rank=0.75)
    assert np.isinf(factors[:100]).all()
    assert (factors[100:] < 12.0).all()
    assert (factors[100:] > 6.0).all()
    assert np.abs(np.diff(factors[100:])).max() < 0.1
    with pytest.raises(SpecError, match="training is 1; noise is taken from at least 2 cells"):
        correlated_factors("hann", samples=64, training=1, guard=2, false_alarm=1e-4, rank=0.75)
