import numpy as np
import pytest
from scipy import signal

from sensorium.core.errors import SpecError
from sensorium.corruption import Noise, White
from sensorium.corruption.engine.base import Layout


def _samples(white, shape, **options):
    return white.apply(np.zeros(shape), time_ns=0, state=white.init(shape, seed=1, **options))[0]


@pytest.mark.parametrize(
    ("fields", "sigma"),
    [
        ({"sided": "one"}, np.sqrt(50.0)),
        ({"sided": "two"}, np.sqrt(100.0)),
        ({"bandwidth_hz": 10.0}, np.sqrt(10.0)),
        ({"bandwidth_hz": np.pi / 2 * 5.0}, np.sqrt(np.pi / 2 * 5.0)),
    ],
)
def test_a_density_becomes_a_deviation_by_the_bandwidth_it_belongs_to(fields, sigma):
    # physics.md E-19: one-sided over half the rate, two-sided over the rate, or the filter's own bandwidth
    white = White(density=(0.1, 0.2, 0.0), **fields)
    np.testing.assert_allclose(white.sigma(Layout(3, 0.01)), sigma * np.array([0.1, 0.2, 0.0]), rtol=1e-14)


def test_each_channel_has_its_deviation_and_zero_is_exactly_zero():
    out = _samples(White(std=(1.0, 0.0, 5.0)), (50_000, 3))
    np.testing.assert_allclose(out.std(axis=0), [1, 0, 5], rtol=5 / np.sqrt(1e5))
    assert (out[:, 1] == 0).all()


def test_laws_have_the_same_deviation_and_their_own_tails():
    kurtosis = {"normal": 3.0, "uniform": 1.8, "laplace": 6.0}
    for law, expected in kurtosis.items():
        out = _samples(White(std=2.0, law=law), (200_000, 4)) / 2.0
        assert out.var() == pytest.approx(1.0, abs=0.01)
        assert (out**4).mean() == pytest.approx(expected, rel=0.03)
    assert np.abs(_samples(White(std=2.0, law="uniform"), (200_000, 4))).max() < 2 * np.sqrt(3)


def test_dependent_channels_have_the_covariance_given_also_if_it_is_singular():
    for covariance in ([[4.0, 1.0, 0.0], [1.0, 2.0, -0.5], [0.0, -0.5, 1.0]], np.ones((6, 6))):
        width = len(covariance)
        out = _samples(White(covariance=covariance), (200_000, width))
        np.testing.assert_allclose(np.cov(out.T), covariance, atol=5 * 4 * np.sqrt(2 / 200_000))


def test_samples_are_independent_in_time():
    white = White(std=1.0)
    state = white.init((1,), seed=2)
    out, _ = white.series(np.zeros((100_000, 1)), times_ns=np.arange(100_000), state=state)
    x = out[:, 0]
    for lag in (1, 2, 3, 10):
        assert abs((x[lag:] * x[:-lag]).mean()) < 5 / np.sqrt(1e5)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "nothing is given; exactly one of std, density and covariance must be"),
        ({"std": 1.0, "density": 1.0}, "std and density is given; exactly one"),
        ({"std": -1.0}, "std is -1; it must not be negative"),
        ({"density": (1.0, -2.0)}, "density is -2; it must not be negative"),
        ({"std": 1.0, "sided": "two"}, "without a density"),
        ({"std": 1.0, "bandwidth_hz": 3.0}, "without a density"),
        ({"density": 1.0, "sided": "two", "bandwidth_hz": 3.0}, "belongs to a one-sided density"),
        ({"density": 1.0, "bandwidth_hz": 0.0}, "bandwidth_hz is 0"),
        ({"std": 1.0, "law": "cauchy"}, r"White.law is 'cauchy'; it must be 'normal', 'uniform' or 'laplace'"),
        ({"covariance": np.eye(3), "law": "uniform"}, "law is 'uniform' with covariance; that must be 'normal'"),
        ({"density": 1.0, "bandwidth_hz": 3.0, "law": "laplace"}, "law is 'laplace' with bandwidth_hz"),
    ],
)
def test_noise_that_contradicts_itself_is_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        White(**fields)


def test_a_filter_cannot_be_wider_than_half_the_rate():
    with pytest.raises(SpecError, match="bandwidth_hz is 51; it must not exceed half the rate of 100 Hz"):
        White(density=1.0, bandwidth_hz=51.0).init((3,), seed=1, period_s=0.01)


def _series(model, rate_hz, samples, channels=8, seed=1, times_ns=None):
    """A long record of some channels, shape (samples, channels)."""
    if times_ns is None:
        times_ns = np.round(np.arange(samples) * 1e9 / rate_hz).astype(np.int64)
    state = model.init((channels,), seed=seed, period_s=1.0 / rate_hz)
    return model.series(np.zeros((samples, channels)), times_ns=times_ns, state=state)[0]


@pytest.mark.parametrize("seed", range(8))
def test_noise_that_passed_a_filter_has_the_stated_density_below_its_corner(seed):
    """Welch's periodogram, one-sided as the density is, at random densities, rates and shares of the bandwidth."""
    rng = np.random.default_rng(seed)
    rate_hz, share, density = 10.0 ** rng.uniform(0, 4), 10.0 ** rng.uniform(-2.0, np.log10(0.5)), rng.uniform(0.1, 9)
    model = Noise(density=density, bandwidth_hz=share * rate_hz)
    x = _series(model, rate_hz, 400_000, seed=seed)
    frequency_hz, power = signal.welch(x, fs=rate_hz, nperseg=8192, detrend=False, axis=0)
    power = power.mean(axis=1)

    # Deep in the band, and the whole curve of the filter over twenty bands
    corner_hz = 2.0 * share * rate_hz / np.pi
    in_band = (frequency_hz > 0.0) & (frequency_hz < 0.1 * corner_hz)
    assert in_band.sum() >= 4
    means = 8 * 400_000 / 8192 * in_band.sum()
    assert power[in_band].mean() == pytest.approx(density**2, rel=0.01 + 5.0 / np.sqrt(means))
    r = 2.0 * share
    phi = (1.0 - r) / (1.0 + r)
    gain = (1.0 - phi) ** 2 / np.abs(1.0 - phi * np.exp(-2j * np.pi * frequency_hz / rate_hz)) ** 2
    bands = np.array_split(np.arange(1, 4096), 20)
    found, expected = (np.array([column[band].mean() for band in bands]) for column in (power, density**2 * gain))
    np.testing.assert_allclose(found, expected, rtol=0.05)

    # All of it is the filter's noise bandwidth, from the first sample on
    assert x.var() == pytest.approx(density**2 * share * rate_hz, rel=0.02 + 5.0 / np.sqrt(8 * 400_000 * share))
    first = _series(model, rate_hz, 1, channels=20_000, seed=seed)
    assert first.var() == pytest.approx(density**2 * share * rate_hz, rel=0.06)


def test_a_bandwidth_of_half_the_rate_is_no_filter():
    white, filtered = White(density=2.0), White(density=2.0, bandwidth_hz=50.0)
    np.testing.assert_array_equal(_series(filtered, 100.0, 500), _series(white, 100.0, 500))


def test_a_filter_remembers_by_time_and_not_by_samples():
    """Samples that come late depend on each other as the filter's correlation over that time says."""
    rate_hz, nu_hz = 100.0, 5.0
    model, rng = White(density=1.0, bandwidth_hz=nu_hz), np.random.default_rng(2)
    times_ns = np.cumsum(rng.choice([10_000_000, 70_000_000], size=60_000))
    x = _series(model, rate_hz, 60_000, times_ns=times_ns)
    gap = np.diff(times_ns)
    phi = (1.0 - 0.1) / (1.0 + 0.1)
    for steps in (1, 7):
        here = np.flatnonzero(gap == steps * 10_000_000)
        assert (x[here] * x[here + 1]).mean() == pytest.approx(nu_hz * phi**steps, rel=0.03)


def test_switching_a_filter_changes_no_other_noise():
    walk = {"walk": 0.1, "bias_std": 1.0}
    quiet = _series(Noise(**walk), 100.0, 200)
    for noise in ({"density": 0.0}, {"density": 0.0, "bandwidth_hz": 10.0}):
        np.testing.assert_array_equal(_series(Noise(**walk, **noise), 100.0, 200), quiet)
