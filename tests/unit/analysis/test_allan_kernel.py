"""Sums of squared second differences against NumPy's, over the ends of blocks, on any number of threads."""

import numpy as np
import pytest

from sensorium.analysis.allan_kernel import BLOCK, sum_squares

SAMPLES = 2 * BLOCK + 13


@pytest.fixture(scope="module")
def theta():
    total = np.zeros((2, SAMPLES + 1))
    total[:, 1:] = np.random.default_rng(1).standard_normal((2, SAMPLES)).cumsum(axis=1)
    return total


def sums_of(theta, counts, threads):
    """Every share of the blocks in turn, as threads would do them."""
    blocks = -(-SAMPLES // BLOCK)
    sums = np.full((len(theta), len(counts), blocks), np.nan)
    for first in range(threads):
        sum_squares(first, threads, len(theta) * blocks, theta, counts, sums)
    return sums


# One sample; a count that is no multiple of eight terms; one whose terms end in the first block; the longest
COUNTS = np.array([1, 5, 5000, SAMPLES // 2])


def test_sums_are_those_of_all_terms(theta):
    sums = sums_of(theta, COUNTS, 1)
    for i, m in enumerate(COUNTS):
        second = theta[:, 2 * m :] - 2.0 * theta[:, m:-m] + theta[:, : -2 * m]
        np.testing.assert_allclose(sums[:, i].sum(axis=-1), (second**2).sum(axis=-1), rtol=1e-12)
    assert (sums[:, 3, 1:] == 0.0).all()  # two terms, both in the first block


def test_the_bytes_do_not_depend_on_the_number_of_threads(theta):
    assert sums_of(theta, COUNTS, 1).tobytes() == sums_of(theta, COUNTS, 4).tobytes()


def test_an_offset_and_a_drift_of_the_signal_are_exact():
    """A constant signal has no second difference, and one that grows by c a sample has c m^2 everywhere."""
    time = np.arange(SAMPLES + 1.0)
    theta = np.stack([3.0 * time, 0.5 * time * (time - 1.0) / 2.0])
    sums = sums_of(theta, COUNTS, 1).sum(axis=-1)
    assert (sums[0] == 0.0).all()
    terms = SAMPLES + 1 - 2 * COUNTS
    np.testing.assert_allclose(sums[1], terms * (0.5 * COUNTS.astype(float) ** 2) ** 2, rtol=1e-12)
