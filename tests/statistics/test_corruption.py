"""The laws of errors over many samples: distributions, spectra, Allan deviations, independence.

Seeds are fixed, so a test passes or fails for good; p-values below 1e-4 would mean a wrong law.
"""

import numpy as np
import pytest
from scipy import special

from sensorium.corruption import BiasInstability, Chain, GaussMarkov, Noise, Quantize, RandomWalk, White
from sensorium.corruption.errors.flicker import FLOOR, allan_variance

SMALLEST_P = 1e-4
MILLION = 1_000_000


def _series(model, samples, *, worlds=1, width=1, rate_hz=100.0, seed=1, name="signal"):
    """Errors of a signal of zeros, shape (samples, worlds, width)."""
    times_ns = np.round(np.arange(samples) * (1e9 / rate_hz)).astype(np.int64)
    state = model.init((worlds, width), seed=seed, name=name, period_s=1.0 / rate_hz)
    return model.series(np.zeros((samples, worlds, width)), times_ns=times_ns, state=state)[0]


def _allan_variance(x, rate_hz, m):
    """Overlapping Allan variance of samples (samples, ...) at m of them, mean over what follows the first axis."""
    angle = np.concatenate([np.zeros((1, *x.shape[1:])), np.cumsum(x, axis=0)]) / rate_hz
    second = angle[2 * m :] - 2 * angle[m:-m] + angle[: -2 * m]
    return (second**2).mean() / (2 * (m / rate_hz) ** 2)


def _tolerance(x, m):
    """Four relative deviations of an Allan variance, whose spans of m samples are as good as independent."""
    return 4 * np.sqrt(2 * m / x.size)


def _laplace(x):
    tail = 0.5 * np.exp(-np.sqrt(2) * np.abs(x))
    return np.where(x < 0, tail, 1 - tail)


CDF = {"normal": special.ndtr, "uniform": lambda x: np.clip(x / np.sqrt(12) + 0.5, 0, 1), "laplace": _laplace}


@pytest.mark.parametrize("law", sorted(CDF))
def test_white_noise_has_its_law_over_a_million_samples(law):
    from scipy import stats

    x = _series(White(std=2.0, law=law), 1000, worlds=250, width=4).ravel() / 2.0
    assert x.size == MILLION
    assert stats.kstest(np.sort(x), CDF[law]).pvalue > SMALLEST_P

    # Chi-square over bins of equal chance, by the distribution itself
    observed = np.bincount((CDF[law](x) * 500).astype(int).clip(0, 499), minlength=500)
    assert stats.chisquare(observed).pvalue > SMALLEST_P
    assert x.mean() == pytest.approx(0.0, abs=5 / np.sqrt(MILLION))
    assert x.var() == pytest.approx(1.0, abs=5 * np.sqrt(5 / MILLION))


@pytest.mark.parametrize("law", ["uniform", "normal", "laplace"])
def test_channels_worlds_and_samples_are_uncorrelated(law):
    x = _series(White(std=1.0, law=law), 2000, worlds=100, width=5)
    n = x[1:].size
    assert abs((x[1:] * x[:-1]).mean()) < 5 / np.sqrt(n)
    assert abs((x[:, 1:] * x[:, :-1]).mean()) < 5 / np.sqrt(n)
    for a in range(5):
        for b in range(a):
            assert abs((x[:, :, a] * x[:, :, b]).mean()) < 5 / np.sqrt(n / 5)
            assert abs(((x[:, :, a] ** 2 - 1) * (x[:, :, b] ** 2 - 1)).mean()) < 5 * 5 / np.sqrt(n / 5)


def test_signals_of_two_names_have_independent_noise():
    # physics.md E-32: in Basilisk an accelerometer and a gyroscope share their sequence
    noise = Noise(std=1.0, walk=0.1, gauss_markov_std=1.0, gauss_markov_tau_s=0.05, bias_std=1.0)
    a, b = (_series(noise, 20, worlds=20_000, width=3, name=name) for name in ("accelerometer", "gyroscope"))
    assert abs(np.corrcoef(a[-1].ravel(), b[-1].ravel())[0, 1]) < 5 / np.sqrt(60_000)
    assert abs(np.corrcoef(np.diff(a, axis=0).ravel(), np.diff(b, axis=0).ravel())[0, 1]) < 5 / np.sqrt(60_000 * 19)


def test_a_gauss_markov_process_is_normal_and_stationary_with_its_covariance():
    from scipy import stats

    model = GaussMarkov(std=2.0, tau_s=0.2)
    x = _series(model, 100, worlds=2500, width=4) / 2.0
    for k in (0, 1, 30, 99):
        assert stats.kstest(x[k].ravel(), special.ndtr).pvalue > SMALLEST_P
    np.testing.assert_allclose(x.var(axis=(1, 2)), 1.0, atol=5 * np.sqrt(2 / 10_000))

    # Cov(m) = sigma^2 phi^m with phi = exp(-dt / tau)
    for m in (1, 2, 5, 20, 60):
        assert (x[m:] * x[:-m]).mean() == pytest.approx(np.exp(-0.01 * m / 0.2), abs=0.01)

    # What is new in a sample is white: innovations are normal and independent
    phi = np.exp(-0.01 / 0.2)
    new = (x[1:] - phi * x[:-1]) / np.sqrt(1 - phi**2)
    assert new.size == 990_000
    assert stats.kstest(np.sort(new.ravel()), special.ndtr).pvalue > SMALLEST_P
    assert abs((new[1:] * new[:-1]).mean()) < 5 / np.sqrt(new.size)


@pytest.mark.parametrize("dt_s", [0.1, 0.01, 0.001])
def test_the_variance_of_a_walk_does_not_depend_on_the_step(dt_s):
    # physics.md E-45: Var b(T) = K^2 T for any step; divided by sqrt(dt) instead it would be K^2 T / dt^2
    x = _series(RandomWalk(density=0.3), round(1 / dt_s) + 1, worlds=2000, width=4, rate_hz=1 / dt_s)
    assert x[-1].var() == pytest.approx(0.09, rel=5 * np.sqrt(2 / 8000))


@pytest.mark.parametrize(("sided", "ratio"), [("one", 1.0), ("two", np.sqrt(2.0))])
@pytest.mark.parametrize("rate_hz", [100.0, 1000.0])
def test_the_spectrum_of_a_data_sheets_density_is_that_density(sided, ratio, rate_hz):
    # physics.md E-19: Welch of N sqrt(f_s / 2) gives 1.000 N; with f_s for nu, as the paper has it, 1.415 N
    from scipy import signal

    x = _series(White(density=0.02, sided=sided), 65_536, width=8, rate_hz=rate_hz)[:, 0]
    _, power = signal.welch(x, fs=rate_hz, nperseg=1024, axis=0)
    density = np.sqrt(power[2:-2].mean())
    assert density / 0.02 == pytest.approx(ratio, abs=0.004)


@pytest.mark.slow
def test_the_same_density_has_the_same_allan_curve_at_any_rate():
    for rate_hz in (100.0, 1000.0):
        x = _series(White(density=0.05, sided="two"), round(200 * rate_hz), width=32, rate_hz=rate_hz)
        for averaging_s in (0.02, 0.1, 1.0, 5.0):
            m = round(averaging_s * rate_hz)
            assert _allan_variance(x, rate_hz, m) == pytest.approx(0.05**2 / averaging_s, rel=_tolerance(x, m))


@pytest.mark.parametrize("averaging_s", [0.1, 1.0, 10.0])
def test_the_allan_deviation_of_a_walk_rises_as_the_root_of_a_third(averaging_s):
    # K sqrt(tau / 3) for what is averaged within samples; of samples at instants 1 + 1 / (2 m^2) of the variance
    x = _series(RandomWalk(density=0.003), 40_000, worlds=16, width=4)
    m = round(averaging_s * 100)
    expected = 0.003**2 * averaging_s / 3 * (1 + 0.5 / m**2)
    assert _allan_variance(x, 100.0, m) == pytest.approx(expected, rel=_tolerance(x, m))


@pytest.mark.parametrize("averaging_s", [0.1, 0.5, 1.8926, 10.0, 40.0])
def test_the_allan_deviation_of_a_gauss_markov_process_is_its_closed_form(averaging_s):
    x = _series(GaussMarkov(std=0.5, tau_s=1.0), 40_000, worlds=16, width=4)
    m = round(averaging_s * 100)
    expected = float(allan_variance(m / 100.0, 0.5, 1.0))
    assert _allan_variance(x, 100.0, m) == pytest.approx(expected, rel=_tolerance(x, max(m, 100)))


@pytest.mark.slow
def test_the_allan_deviation_of_bias_instability_is_level_at_its_floor():
    model = BiasInstability(instability=0.2, tau_min_s=1.0, tau_max_s=1000.0)
    x = _series(model, 100_000, worlds=16, width=4, rate_hz=10.0)
    for averaging_s in (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0):
        deviation = np.sqrt(_allan_variance(x, 10.0, round(10 * averaging_s)))
        assert deviation == pytest.approx(FLOOR * 0.2, rel=0.02 + 0.5 * _tolerance(x, 10 * averaging_s))


@pytest.mark.slow
def test_coefficients_set_together_lie_on_one_allan_curve():
    noise = Noise(density=0.01, sided="two", instability=0.004, walk=0.0005, instability_tau_max_s=1000.0)
    x = _series(noise, 100_000, worlds=16, width=4, rate_hz=10.0)
    tau_s, std = BiasInstability(instability=1.0, tau_max_s=1000.0).processes()
    for averaging_s in (0.5, 1.0, 10.0, 100.0, 500.0):
        white, walk = 0.01**2 / averaging_s, 0.0005**2 * averaging_s / 3
        floor = 0.004**2 * allan_variance(averaging_s, std, tau_s).sum()
        measured = _allan_variance(x, 10.0, round(10 * averaging_s))
        assert measured == pytest.approx(white + walk + floor, rel=max(0.02, _tolerance(x, 10 * averaging_s)))


def test_the_allan_deviation_of_rounding_falls_with_time():
    # An angle rounded to steps has white errors of Q = lsb / sqrt(12), and its rate sqrt(3) Q / tau
    x = _series(Chain([White(std=10.0), Quantize(lsb=0.1)]), 20_000, width=16)
    error = x - _series(White(std=10.0), 20_000, width=16)
    assert error.var() == pytest.approx(0.1**2 / 12, rel=0.01)
    rate = np.diff(error, axis=0) * 100.0
    for m in (10, 100):
        expected = 3 * (0.1**2 / 12) / (m / 100.0) ** 2
        assert _allan_variance(rate, 100.0, m) == pytest.approx(expected, rel=0.05)
