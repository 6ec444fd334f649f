"""The laws of the random streams: distribution, moments and independence over a million numbers.

Every stream is fixed, so a test passes or fails for good; p-values below 1e-4 would mean a wrong law.
"""

import numpy as np
import pytest

from sensorium.random import Stream

COUNT = 1_000_000
STREAM = Stream(20240229, "laws")
SMALLEST_P = 1e-4


def _kolmogorov_p(sample, cdf):
    from scipy import stats

    return stats.kstest(np.sort(sample.ravel()).astype(np.float64), cdf).pvalue


def _chi_square_p(observed, expected):
    from scipy import stats

    assert expected.min() > 20
    return stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_uniform_numbers_fill_equal_bins_equally(dtype):
    u = STREAM.uniform(0, 0, 0, elements=COUNT, dtype=dtype)
    observed, _ = np.histogram(u, bins=1000, range=(0, 1))
    assert _chi_square_p(observed, np.full(1000, COUNT / 1000)) > SMALLEST_P
    assert _kolmogorov_p(u, lambda x: x) > SMALLEST_P
    assert 0 < u.min() < u.max() < 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normal_numbers_have_the_normal_law(dtype):
    from scipy import special

    pair = STREAM.normal_pair(1, 0, 0, elements=COUNT, dtype=dtype)
    for z in pair:
        assert _kolmogorov_p(z, special.ndtr) > SMALLEST_P

        # The first four moments, within five of their own deviations
        powers = [(z.astype(np.float64) ** n).mean() for n in (1, 2, 3, 4)]
        deviations = np.sqrt(np.array([1, 2, 15, 96]) / COUNT)
        np.testing.assert_array_less(np.abs(np.array(powers) - [0, 1, 0, 3]), 5 * deviations)


def test_normal_tails_have_their_share_beyond_four_deviations():
    from scipy import stats

    z = STREAM.normal(2, 0, 0, elements=COUNT, worlds=4, dtype=np.float32)
    beyond = int((np.abs(z) > 4).sum())
    low, high = stats.poisson.interval(1 - SMALLEST_P, 4 * COUNT * 2 * stats.norm.sf(4))
    assert low <= beyond <= high


def test_the_two_normals_of_a_pair_are_independent():
    a, b = STREAM.normal_pair(3, 0, 0, elements=COUNT)
    octants = np.floor((np.arctan2(b, a) / np.pi + 1) * 32).astype(int).ravel()
    assert _chi_square_p(np.bincount(octants, minlength=64)[:64], np.full(64, COUNT / 64)) > SMALLEST_P
    assert abs(np.corrcoef(a**2, b**2)[0, 1]) < 5 / np.sqrt(COUNT)


@pytest.mark.parametrize("neighbor", ["draw", "stage", "tick", "first_element", "first_world", "name"])
def test_neighboring_draws_are_uncorrelated(neighbor):
    where = {"stage": 4, "draw": 0, "tick": 0, "first_element": 0, "first_world": 0}
    other = Stream(20240229, "other") if neighbor == "name" else STREAM
    changed = where if neighbor == "name" else where | {neighbor: where[neighbor] + 1}
    a = STREAM.normal(**where, elements=COUNT)
    b = other.normal(**changed, elements=COUNT)
    assert abs((a * b).mean()) < 5 / np.sqrt(COUNT)
    assert abs(((a**2 - 1) * (b**2 - 1)).mean()) < 5 * 2 / np.sqrt(COUNT)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponential_numbers_have_their_law(dtype):
    x = STREAM.exponential(5, 0, 0, elements=COUNT, dtype=dtype)
    assert _kolmogorov_p(x, lambda v: -np.expm1(-v)) > SMALLEST_P
    assert x.min() > 0


SLOW = pytest.mark.slow


@pytest.mark.parametrize("shape", [0.5, *(pytest.param(shape, marks=SLOW) for shape in (0.05, 1.0, 9.5, 200.0, 1e4))])
def test_gamma_numbers_have_the_gamma_law(shape):
    from scipy import special

    x = STREAM.gamma(6, 0, 0, shape=shape, scale=0.52, elements=COUNT)
    assert _kolmogorov_p(x, lambda v: special.gammainc(shape, v / 0.52)) > SMALLEST_P
    assert x.mean() == pytest.approx(shape * 0.52, abs=5 * 0.52 * np.sqrt(shape / COUNT))


@pytest.mark.parametrize("mean", [0.1, 3.0, 15.9, 16.1, 250.0, 1e5, 1e9])
def test_poisson_numbers_have_the_poisson_law(mean):
    from scipy import stats

    k = STREAM.poisson(7, 0, 0, mean=mean, elements=COUNT).ravel()

    # Bins of equal chance where the law is wide, single values where it is narrow
    edges = np.unique(stats.poisson.ppf(np.linspace(0.001, 0.999, 200), mean))
    observed = np.bincount(np.searchsorted(edges, k), minlength=len(edges) + 1)
    below = np.concatenate([[0], stats.poisson.cdf(edges, mean), [1]])
    expected = np.diff(below) * COUNT
    assert _chi_square_p(observed[expected > 0], expected[expected > 0]) > SMALLEST_P
    assert k.mean() == pytest.approx(mean, abs=5 * np.sqrt(mean / COUNT))
    assert k.var() == pytest.approx(mean, abs=5 * np.sqrt((2 * mean**2 + mean) / COUNT))
