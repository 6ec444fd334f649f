"""Drawn Allan variances have the means and the scatter that theory gives for their noise."""

import numpy as np
import pytest

from sensorium.analysis.allan_covariance import degrees_of_freedom
from sensorium.analysis.allan_monte_carlo import DRAWS, monte_carlo

SAMPLES = 1024
COUNTS = (1, 4, 16, 64, 256, 340)


@pytest.fixture(scope="module")
def drawn():
    return monte_carlo(COUNTS, SAMPLES)


def test_only_long_averaging_times_are_drawn(drawn):
    assert drawn.first == 2
    assert drawn.counts.tolist() == [16, 64, 256, 340]
    assert drawn.products.shape == (6, DRAWS, 4)


@pytest.mark.parametrize("noise", range(3), ids=["white", "flicker", "walk"])
def test_variances_are_right_on_average_and_scatter_by_their_degrees_of_freedom(drawn, noise):
    """A variance of d degrees of freedom has the variance 2 / d about its mean: d from Greenhall and Riley's sums."""
    own = drawn.products[(0, 3, 5)[noise]]
    power = np.zeros(3)
    power[noise] = 1.0
    shares = np.tile([0.0, *power], (len(COUNTS), 1))
    degrees = degrees_of_freedom(COUNTS, SAMPLES, shares)[drawn.first :]
    expected = 2.0 / degrees
    np.testing.assert_array_less(np.abs(own.mean(axis=0)), 4.5 * np.sqrt(expected / DRAWS))
    np.testing.assert_allclose(own.var(axis=0), expected, rtol=0.25)

    # A mixture of one noise alone is that noise
    weights = np.array([0.0, 1.0, 0.0, 0.0])
    scatter = drawn.scatter(4.0 * power, weights)
    np.testing.assert_allclose(scatter, 4.0 * drawn.scale[noise, 1] ** 2 * own[:, 1], rtol=1e-12)


def test_independent_noises_have_no_product_on_average(drawn):
    for pair in (1, 2, 4):
        cross = drawn.products[pair]
        assert (np.abs(cross.mean(axis=0)) < 4.5 * cross.std(axis=0) / np.sqrt(DRAWS)).all()


def test_a_ramp_adds_the_means_of_the_differences(drawn):
    power, weights, ramp = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0]), 1e-3
    added = drawn.scatter(power, weights, ramp) - drawn.scatter(power, weights)
    expected = drawn.means[0, :, 2] * drawn.scale[0, 2] * np.sqrt(2.0) * ramp * 256
    np.testing.assert_allclose(added, expected, rtol=1e-9, atol=1e-15)


def test_the_same_draws_for_everybody(drawn):
    monte_carlo.cache_clear()
    assert monte_carlo(COUNTS, SAMPLES).products.tobytes() == drawn.products.tobytes()
