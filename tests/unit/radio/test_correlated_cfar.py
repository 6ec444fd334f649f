"""Thresholds over correlated cells: independent ones as the special case, and windowed noise by experiment."""

import numpy as np
import pytest

from sensorium import radio
from sensorium.errors import SpecError
from sensorium.radio.correlated_cfar import correlated_factor, false_alarm_rate_correlated, training_cells
from sensorium.radio.windows import WINDOWS, window_samples

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
    factor = correlated_factor("rectangular", false_alarm=1e-4, rank=rank, **SETTINGS)
    plain = radio.threshold_factors(8, false_alarm=1e-4)
    assert factor == (plain if rank is None else radio.ordered_factors(8, false_alarm=1e-4, rank=rank))[16]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("rank", [None, 0.75])
def test_windowed_noise_exceeds_the_threshold_as_often_as_asked_for(window, rank):
    """Samples of white noise, windowed and transformed: the middle cell against those around, 200,000 times."""
    from scipy.stats import binomtest

    trials, rng = 200_000, np.random.default_rng(3)
    at = training_cells(64, training=8, guard=6)
    n = np.arange(64)
    transform = np.exp(-2j * np.pi * np.outer(np.concatenate([[0.0], at]), n) / 64) * window_samples(window, count=64)
    crossed = 0
    factor = correlated_factor(window, samples=64, training=8, guard=6, false_alarm=1e-3, rank=rank)
    for _ in range(10):
        noise = rng.standard_normal((trials // 10, 64)) + 1j * rng.standard_normal((trials // 10, 64))
        power = np.abs(noise @ transform.T) ** 2
        level = power[:, 1:].mean(axis=1) if rank is None else np.sort(power[:, 1:], axis=1)[:, 11]
        crossed += int((power[:, 0] > factor * level).sum())
    assert binomtest(crossed, trials, 1e-3).pvalue > 1e-3


def test_correlated_noise_needs_a_higher_threshold():
    """Over fewer cells that are independent, noise is known worse; the factor of independent ones crosses 10 times."""
    rect, hann = (correlated_factor(w, false_alarm=1e-6, rank=0.75, **SETTINGS) for w in ("rectangular", "hann"))
    assert hann > 1.2 * rect
    at = training_cells(64, training=8, guard=4)
    C = radio.noise_correlation("hann", at[:, None] - at, count=64)
    assert false_alarm_rate_correlated(rect, correlation=C, rank=0.75) > 5e-6
