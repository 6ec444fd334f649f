"""Distances in whole steps."""

import numpy as np
import pytest

from sensorium.physics.imaging.depth_quantization import quantized


def test_steps_are_whole_and_the_error_is_even_within_half_of_one():
    z = np.random.default_rng(0).uniform(1.0, 2.0, 20000).astype(np.float32)
    found = quantized(z, 0.01)
    np.testing.assert_allclose(found / 0.01, np.rint(found / 0.01), atol=1e-4)
    assert np.abs(found - z).max() <= 0.005 * (1 + 1e-4)
    assert (found - z).std() == pytest.approx(0.01 / np.sqrt(12.0), rel=0.02)


def test_what_is_no_distance_stays():
    np.testing.assert_array_equal(quantized(np.array([0.0, np.inf], np.float32), 0.3), [0.0, np.inf])
