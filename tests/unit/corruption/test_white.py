import numpy as np
import pytest

from sensorium.corruption import White
from sensorium.corruption.base import Layout
from sensorium.errors import SpecError


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
        ({"covariance": np.eye(3), "law": "uniform"}, "law is 'uniform' with a covariance"),
    ],
)
def test_noise_that_contradicts_itself_is_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        White(**fields)


def test_a_filter_cannot_be_wider_than_half_the_rate():
    with pytest.raises(SpecError, match="bandwidth_hz is 51; it must not exceed half the rate of 100 Hz"):
        White(density=1.0, bandwidth_hz=51.0).init((3,), seed=1, period_s=0.01)
