"""Where shares of returns cross a probability."""

import numpy as np
from scipy import stats

from sensorium.qa.round_trip.lidar import crossing


def test_the_interval_holds_the_range_of_the_law():
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(300):
        true_m, ratio, p = rng.uniform(10.0, 200.0), rng.uniform(2.0, 8.0), rng.uniform(0.5, 0.95)
        range_m, rays = true_m * np.linspace(0.94, 1.06, 7), np.full(7, 20_000.0)
        snr = (ratio + stats.norm.ppf(p)) * (true_m / range_m) ** 2
        share = rng.binomial(20_000, stats.norm.cdf(snr - ratio)) / rays
        middle, low, high = crossing(range_m, share, rays, p)
        assert low < middle < high
        assert high - low < 0.02 * true_m
        inside += low < true_m < high
    assert inside >= 297  # 99.9 % intervals
