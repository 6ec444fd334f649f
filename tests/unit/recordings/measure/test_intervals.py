"""Intervals cover the truth as often as they state."""

import numpy as np
import pytest

from sensorium.recordings.measure import intervals

CASES = 400
# 95 % of 400 cases, five standard deviations wide
LEAST, MOST = 0.95 - 0.055, 1.0


def coverage(truth, estimate) -> float:
    rng = np.random.default_rng(28)
    found = [estimate(rng) for _ in range(CASES)]
    return float(np.mean([each.low <= truth <= each.high for each in found]))


def test_mean_and_standard_deviation_cover_the_truth():
    assert LEAST <= coverage(3.0, lambda rng: intervals.mean(rng.normal(3.0, 2.0, 12))) <= MOST
    assert LEAST <= coverage(2.0, lambda rng: intervals.standard_deviation(rng.normal(3.0, 2.0, 12))) <= MOST


@pytest.mark.parametrize("part", [0.003, 0.1, 0.6])
def test_shares_cover_the_truth(part):
    assert coverage(part, lambda rng: intervals.share(int(rng.binomial(500, part)), 500)) >= LEAST


def test_a_share_of_nothing_is_unknown():
    assert intervals.share(0, 0) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("part", [0.01, 0.25, 0.5])
def test_quantiles_cover_the_truth_of_any_distribution(part):
    truth = -np.log(1.0 - part)
    assert coverage(truth, lambda rng: intervals.quantile(rng.exponential(1.0, 700), part)) >= LEAST


def test_quantiles_of_blocks_that_differ_cover_the_truth():
    def estimate(rng):
        spread = np.repeat(rng.choice([1.0, 2.0], 50), 20)
        values = np.abs(spread * rng.standard_normal(1000))
        return intervals.quantile(values, 0.25, np.arange(1000) // 20)

    large = np.random.default_rng(1)
    truth = float(np.quantile(np.abs(large.choice([1.0, 2.0], 4_000_000) * large.standard_normal(4_000_000)), 0.25))
    assert LEAST <= coverage(truth, estimate) <= MOST
    rng = np.random.default_rng(2)
    alone = [intervals.quantile(rng.random(1000), 0.25, np.arange(1000)) for _ in range(50)]
    assert np.mean([each.high - each.low for each in alone]) < 1.1 * 2.0 * 1.96 * np.sqrt(0.25 * 0.75 / 1000)


@pytest.mark.parametrize("trials", [1, 7, 500, 13_801])
def test_a_share_lies_in_its_interval(trials):
    for hits in {0, 1, trials // 2, trials}:
        found = intervals.share(hits, trials)
        assert 0.0 <= found.low <= found.value <= found.high <= 1.0


def test_the_jackknife_covers_a_standard_deviation_of_correlated_values():
    def estimate(rng):
        # Blocks of different size; values of a block share half of their variance
        sizes = rng.integers(5, 60, 40)
        values = [rng.standard_normal() + rng.standard_normal(size) for size in sizes]
        sums = np.array([(len(each), np.sum(each**2)) for each in values])
        return intervals.jackknife_root(sums, lambda total: total[..., 1] / total[..., 0])

    assert LEAST <= coverage(np.sqrt(2.0), estimate) <= MOST


def test_estimates_are_scaled_with_their_ends():
    assert intervals.Estimate(2.0, 1.0, 3.0).scaled(2.0) == (4.0, 2.0, 6.0)


def test_a_standard_deviation_of_values_that_share_their_ends_is_covered():
    def estimate(rng):
        return intervals.standard_deviation(np.diff(rng.normal(0.0, 2.0, 400)), lags=20)

    assert LEAST <= coverage(2.0 * np.sqrt(2.0), estimate) <= MOST
