"""Covariances of overlapping Allan variances: plain sums, published degrees of freedom, drawn recordings."""

import math

import numpy as np
import pytest

from sensorium.analysis.allan_covariance import (
    GENERALIZED,
    degrees_of_freedom,
    estimator_covariance,
    variance_shares,
)

COUNTS = (1, 2, 3, 5, 8, 13, 40, 90, 200, 290)
SAMPLES = 600


def autocovariance(noise, lag):
    """Generalized autocovariance of theta for one of Q, N, B, K at integer lags."""
    return (lag == 0).astype(float) if noise == 0 else GENERALIZED[noise - 1](lag.astype(float))


def by_plain_sums(noise, other, first, second):
    """2 / (M_1 M_2) times the sum over every pair of terms, of which many have the same lag."""
    terms = SAMPLES + 1 - 2 * first, SAMPLES + 1 - 2 * second
    lag = np.arange(-terms[1] + 1, terms[0])
    share = np.convolve(np.ones(terms[0]), np.ones(terms[1])) / (terms[0] * terms[1])

    def products(which):
        shifts = [(w * v, a * first - b * second) for a, w in enumerate((1, -2, 1)) for b, v in enumerate((1, -2, 1))]
        return sum(w * autocovariance(which, lag + shift) for w, shift in shifts) / (2.0 * first * second)

    return 2.0 * share @ (products(noise) * products(other)), share @ products(noise)


@pytest.mark.parametrize("noise", range(4))
@pytest.mark.parametrize("other", range(4))
def test_sums_by_quadrature_are_the_plain_sums(noise, other):
    covariance = estimator_covariance(COUNTS, SAMPLES)
    plain = np.array([[by_plain_sums(noise, other, a, b) for b in COUNTS] for a in COUNTS])
    size = np.sqrt(np.diag(plain[..., 0]))
    np.testing.assert_allclose(
        covariance.squares[noise, other] / size[:, None] / size, plain[..., 0] / size[:, None] / size, atol=2e-3
    )
    if noise == other:
        # means of z: what a ramp's variance is uncertain by
        size = np.sqrt(np.diag(plain[..., 1]))
        np.testing.assert_allclose(
            covariance.means[noise] / size[:, None] / size, plain[..., 1] / size[:, None] / size, atol=2e-3
        )


def test_the_variances_follow_from_the_same_autocovariances():
    """z at lag 0: the coefficients of IEEE 952, 0.664282 among them."""
    for noise in range(4):
        for m in (1, 7):
            lag = np.array([-2, -1, 0, 1, 2]) * m
            variance = np.array([1, -4, 6, -4, 1]) @ autocovariance(noise, lag) / (2.0 * m * m)
            assert variance == pytest.approx(variance_shares(np.array([float(m)]))[0, noise], rel=1e-12)
    assert math.sqrt(variance_shares(np.array([5.0]))[0, 2]) == pytest.approx(0.664282, abs=5e-7)


@pytest.mark.parametrize("samples", [1000, 1_000_000, 10_000_000])
def test_degrees_of_freedom_are_the_published_ones(samples):
    """Closed approximations of NIST SP 1065, table 5; n of them counts points of theta."""
    n = samples + 1
    counts = tuple(m for m in (1, 2, 5, 20, 100, 1000, 30_000) if m <= samples // 10)
    m = np.array(counts, float)
    white = (3 * (n - 1) / (2 * m) - 2 * (n - 2) / n) * 4 * m**2 / (4 * m**2 + 5)
    flicker = np.where(m == 1, 2 * (n - 2) ** 2 / (2.3 * n - 4.9), 5 * n**2 / (4 * m * (n + 3 * m)))
    walk = (n - 2) / m * ((n - 1) ** 2 - 3 * m * (n - 1) + 4 * m**2) / (n - 3) ** 2
    for noise, expected, tolerance in ((1, white, 0.02), (2, flicker, 0.12), (3, walk, 0.12)):
        found = degrees_of_freedom(counts, samples, np.tile(np.eye(4)[noise], (len(counts), 1)))
        np.testing.assert_allclose(found, expected, rtol=tolerance)


def test_degrees_of_freedom_of_white_noise_at_one_sample():
    """Neighboring differences have a correlation of -1/2, so that M of them count as 2 M / 3."""
    found = degrees_of_freedom((1,), 1_000_000, np.array([[0.0, 1.0, 0.0, 0.0]]))
    assert found[0] == pytest.approx(2 / 3 * 999_999, rel=1e-4)


def test_quantization_has_about_half_a_degree_for_each_term():
    """Squares of 6, -4 and 1 at lags 0, m and 2 m: 36 / 70 of the terms."""
    found = degrees_of_freedom((50,), 1_000_000, np.array([[1.0, 0.0, 0.0, 0.0]]))
    assert found[0] == pytest.approx(36 / 70 * 999_900, rel=1e-3)


def test_the_covariance_is_that_of_drawn_recordings():
    """A mixture with a ramp, 4000 times."""
    rng = np.random.default_rng(1)
    samples, counts, ramp = 256, (2, 8, 32, 100), 0.02
    power = np.array([0.3, 1.0, 0.0, 0.01])
    angle = np.sqrt(power[0]) * rng.standard_normal((4000, samples + 1))
    rate = rng.standard_normal((4000, samples)) + ramp * np.arange(samples)
    # means over samples of a walk: half a kick before and half after
    kicks = 0.1 * rng.standard_normal((4000, samples + 1))
    more, less = 0.5 + 0.5 / np.sqrt(3), 0.5 - 0.5 / np.sqrt(3)
    rate += np.cumsum(more * kicks[:, 1:] + less * kicks[:, :-1], axis=1)
    theta = angle.copy()
    theta[:, 1:] += np.cumsum(rate, axis=1)
    variances = []
    for m in counts:
        z = theta[:, 2 * m :] - 2 * theta[:, m:-m] + theta[:, : -2 * m]
        variances.append(np.mean(z**2, axis=1) / (2 * m**2))
    drawn = np.cov(np.array(variances))
    expected = estimator_covariance(counts, samples).of(power, ramp)
    size = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(drawn / size[:, None] / size, expected / size[:, None] / size, atol=0.12)
    means = variance_shares(np.array(counts, float)) @ power + ramp**2 * np.array(counts) ** 2 / 2
    np.testing.assert_allclose(np.mean(variances, axis=1), means, atol=5 * size.max() / np.sqrt(4000))
