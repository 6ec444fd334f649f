"""Allan deviations and fits over many recordings: intervals hold what they say, coefficients come back.

Flicker is made in three ways that know nothing of the library: by shaping the spectrum of white noise with 1 / f, as a
sum of Gauss-Markov processes, one a decade, and (in the fit's own draws) from its autocovariance.
"""

import math

import numpy as np
import pytest
from scipy import signal, stats

from sensorium.analysis import allan_deviation, fit_allan

# One world, 1000 s: white noise meets the floor of bias instability at 1 s, the floor meets the walk at 30 s
RATE = 100.0
SAMPLES = 100_000
WHITE = 6e-5
INSTABILITY = WHITE / math.sqrt(1.0) / 0.664282
WALK = 0.664282 * INSTABILITY * math.sqrt(3.0 / 30.0)


def white(rng, worlds, *, rate=RATE, samples=SAMPLES):
    return WHITE * math.sqrt(rate) * rng.standard_normal((worlds, samples))


def walk(rng, worlds, *, rate=RATE, samples=SAMPLES):
    return WALK / math.sqrt(rate) * rng.standard_normal((worlds, samples)).cumsum(axis=1)


def flicker_by_fourier(rng, worlds, *, samples=SAMPLES):
    """Noise of the density B^2 / (2 pi f) [u^2/Hz] on both sides, down to a fourth of a period in the recording."""
    whole = 4 * samples
    bins = np.arange(1, whole // 2 + 1)
    size = np.sqrt(whole * whole / (2.0 * math.pi * bins))
    result = np.zeros((worlds, samples))
    for world in range(worlds):
        spectrum = np.zeros(whole // 2 + 1, complex)
        spectrum[1:] = size * (rng.standard_normal(whole // 2) + 1j * rng.standard_normal(whole // 2)) / math.sqrt(2)
        result[world] = np.fft.irfft(spectrum, whole)[:samples]
    return INSTABILITY * result


def flicker_by_sum(rng, worlds, *, rate=RATE, samples=SAMPLES):
    """Gauss-Markov processes with correlation times of a sample to a hundred recordings."""
    std = INSTABILITY * math.sqrt(math.log(10) / math.pi)
    result = np.zeros((worlds, samples))
    for time_s in 10.0 ** np.arange(round(math.log10(1 / rate)), round(math.log10(samples / rate)) + 3):
        phi = math.exp(-1.0 / (rate * time_s))
        kicks = std * math.sqrt(1 - phi**2) * rng.standard_normal((worlds, samples))
        kicks[:, 0] /= math.sqrt(1 - phi**2)
        result += signal.lfilter([1.0], [1.0, -phi], kicks, axis=1)
    return result


def fit_worlds(flicker, seed, worlds=128):
    """Fit as many worlds, made a few at a time."""
    rng = np.random.default_rng(seed)
    parts = [white(rng, 32) + walk(rng, 32) + flicker(rng, 32) for _ in range(worlds // 32)]
    return fit_allan(allan_deviation(np.concatenate(parts).T, RATE))


@pytest.fixture(scope="module", params=[flicker_by_fourier, flicker_by_sum], ids=["fourier", "sum"])
def fit(request):
    return fit_worlds(request.param, seed=11)


@pytest.mark.slow
def test_coefficients_set_together_are_recovered(fit):
    assert np.abs(fit.N / WHITE - 1.0).max() < 0.01
    assert np.mean(fit.B) == pytest.approx(INSTABILITY, rel=0.02)
    assert np.mean(fit.K) == pytest.approx(WALK, rel=0.05)
    # as often too high as too low
    for found, true in ((fit.B, INSTABILITY), (fit.K, WALK)):
        low, high = stats.binom.interval(0.9999, 128, 0.5)
        assert low <= (found > true).sum() <= high


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say(fit):
    for term, true in (("N", WHITE), ("B", INSTABILITY), ("K", WALK)):
        low, high = fit.intervals[term]
        assert 0.90 <= np.mean((low <= true) & (true <= high)) <= 0.985, term


@pytest.mark.slow
def test_no_world_needs_a_model_error(fit):
    assert np.quantile(fit.model_error, 0.9) <= 0.004


@pytest.mark.parametrize("make", [white, flicker_by_fourier, walk])
def test_intervals_of_the_deviation_hold_the_truth(make):
    rng = np.random.default_rng(3)
    worlds, samples = 400, 4096
    allan = allan_deviation(make(rng, worlds, samples=samples).T, RATE)
    law = {
        "white": WHITE / np.sqrt(allan.tau_s),
        "flicker_by_fourier": np.full(len(allan.tau_s), 0.664282 * INSTABILITY),
        # a walk in steps of a sample, not of a continuous one: exact for means over m steps
        "walk": WALK * np.sqrt(allan.tau_s / 3.0 * (1.0 + 0.5 / allan.counts**2)),
    }[make.__name__][:, None]
    inside = ((allan.low <= law) & (law <= allan.high)).mean(axis=1)
    # from 8 samples on, where flicker made in samples is that of continuous time; where the curve does not tell what
    # kind of noise it is, intervals are on the safe side
    telling = (allan.counts >= 8) & (allan.degrees.mean(axis=1) > 60.0)
    assert telling.sum() >= 8
    assert inside[telling].min() > 0.91
    assert inside[telling].max() < 0.985
    assert inside[allan.counts >= 8].min() > 0.91
    # and on the average over worlds the law itself
    mean = np.sqrt(np.mean(allan.deviation**2, axis=1, keepdims=True))
    np.testing.assert_allclose((mean / law)[allan.counts >= 8], 1.0, atol=0.15)


@pytest.mark.slow
def test_the_same_density_is_the_same_curve_at_any_rate():
    """100 Hz and 1 kHz over 100 s: N in its density and K in the walk's variance K^2 t do not know the step (E-45)."""
    rng = np.random.default_rng(4)
    taus = np.array([0.05, 0.2, 1.0, 5.0, 20.0])
    curves = []
    for rate in (100.0, 1000.0):
        samples = round(100 * rate)
        noise = white(rng, 100, rate=rate, samples=samples) + 30 * walk(rng, 100, rate=rate, samples=samples)
        curves.append(np.sqrt(np.mean(allan_deviation(noise.T, rate, taus_s=taus).deviation ** 2, axis=1)))
    law = np.sqrt(WHITE**2 / taus + (30 * WALK) ** 2 * taus / 3)
    np.testing.assert_allclose(curves[0], law, rtol=0.2)
    np.testing.assert_allclose(curves[1] / curves[0], 1.0, atol=0.2)
    np.testing.assert_allclose((curves[1] / curves[0])[:3], 1.0, atol=0.05)


def test_the_walk_s_end_has_the_variance_of_its_time_whatever_the_step():
    rng = np.random.default_rng(5)
    for rate in (10.0, 100.0, 1000.0):
        ends = walk(rng, 4000, rate=rate, samples=round(rate))[:, -1]
        assert ends.var() == pytest.approx(WALK**2 * 1.0, rel=5 * math.sqrt(2 / 4000))


@pytest.mark.slow
def test_a_million_samples_of_one_recording():
    """N = 0.01 and K = 0.003: 0.0100 and 0.00173 at 1 s; N within 1 %."""
    rng = np.random.default_rng(6)
    noise = 0.01 * math.sqrt(RATE) * rng.standard_normal(1_000_000)
    only_white = allan_deviation(noise, RATE, taus_s=[1.0])
    assert only_white.deviation[0] == pytest.approx(0.0100, abs=3e-4)
    steps = 0.003 / math.sqrt(RATE) * rng.standard_normal(1_000_000).cumsum()
    assert allan_deviation(steps, RATE, taus_s=[1.0]).deviation[0] == pytest.approx(0.00173, abs=6e-5)
    fit = fit_allan(allan_deviation(noise + steps, RATE), terms="NK")
    assert pytest.approx(0.01, rel=0.01) == fit.N
    assert fit.intervals["K"][0] < 0.003 < fit.intervals["K"][1]
