"""95 % intervals of estimates, for figures of any device."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

NORMAL_95 = 1.959963984540054
"""Half width of the central 95 % of a normal distribution, in standard deviations."""


class Estimate(NamedTuple):
    """An estimate with its 95 % interval.

    Attributes:
        value: The estimate.
        low: Lower end.
        high: Upper end.
    """

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> "Estimate":
        """The estimate of a quantity a positive factor larger."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor)


def jackknife(sums: NDArray[np.float64], statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Estimate:
    """A statistic of sums over blocks that are independent of each other, by leaving out one block at a time.

    value +- t se with se^2 = (B - 1)/B sum_b (theta_b - mean theta)^2 and Student's t of B - 1 degrees of freedom
    (B. Efron, The Jackknife, the Bootstrap and Other Resampling Plans, 1982, section 3).

    Args:
        sums: Sums of each block, shape (B, k), B at least 2.
        statistic: Function of sums, shape (..., k) to (...).
    """
    from scipy.special import stdtrit

    total, count = sums.sum(axis=0), len(sums)
    value = float(statistic(total))
    without = statistic(total - sums)
    error = np.sqrt((count - 1) / count * np.sum((without - without.mean()) ** 2))
    half = float(stdtrit(count - 1, 0.975) * error)
    return Estimate(value, value - half, value + half)


def jackknife_root(
    sums: NDArray[np.float64], statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> Estimate:
    """The square root of a positive statistic, with its interval by the jackknife of the logarithm."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = jackknife(sums, lambda total: np.log(np.maximum(statistic(total), 1e-300)))
    return Estimate(*(float(np.exp(0.5 * each)) for each in found))


def share(hits: int, trials: int) -> Estimate:
    """A share with Wilson's score interval (J. Am. Stat. Assoc. 22, 1927, 209)."""
    if trials == 0:
        return Estimate(0.0, 0.0, 1.0)
    z2 = NORMAL_95**2
    part, spread = hits / trials, trials + z2
    center = (hits + 0.5 * z2) / spread
    half = NORMAL_95 / spread * np.sqrt(hits * (trials - hits) / trials + 0.25 * z2)
    return Estimate(part, float(min(max(center - half, 0.0), part)), float(max(min(center + half, 1.0), part)))


def quantile(values: ArrayLike, part: float, block: NDArray[np.int64] | None = None) -> Estimate:
    """A quantile with the interval of order statistics, which holds for any distribution.

    The ranks n p +- 1.96 sqrt(n p (1 - p)) enclose it with 95 % (H. A. David, Order Statistics, 1981, section 2.5).
    With blocks, the variance of the number below is that of sums over blocks where it is more (R. S. Woodruff, J. Am.
    Stat. Assoc. 47, 1952, 635).

    Args:
        values: Shape (n,).
        part: The quantile, 0 to 1.
        block: Number of the block of each value, whose errors may depend on each other; None for independent values.
    """
    given = np.asarray(values, np.float64)
    ordered, n = np.sort(given), len(given)
    value, variance = float(np.quantile(ordered, part)), n * part * (1.0 - part)
    if block is not None:
        number = np.unique(block, return_inverse=True)[1]
        sums = np.bincount(number, (given <= value) - part)
        if len(sums) > 1:
            variance = max(variance, float(np.sum(sums**2)) * len(sums) / (len(sums) - 1))
    half = NORMAL_95 * np.sqrt(variance)
    low, high = np.floor(n * part - half), np.ceil(n * part + half)
    ends = ordered[np.clip([low - 1, high], 0, n - 1).astype(int)]
    return Estimate(value, float(ends[0]), float(ends[1]))


def mean(values: ArrayLike) -> Estimate:
    """A mean of independent values with Student's interval; at least 2 values."""
    from scipy.special import stdtrit

    given = np.asarray(values, np.float64)
    half = float(stdtrit(len(given) - 1, 0.975) * given.std(ddof=1) / np.sqrt(len(given)))
    value = float(given.mean())
    return Estimate(value, value - half, value + half)


def standard_deviation(values: ArrayLike, *, lags: int = 0) -> Estimate:
    """A standard deviation of normal values, with the interval by chi squared; at least 2 values.

    Values that follow each other in time may be correlated: with the correlations rho_k of the first lags, n values
    determine a variance as well as n / (1 + 2 sum rho_k^2) independent ones do (M. S. Bartlett, J. R. Stat. Soc. Suppl.
    8, 1946, 27).

    Args:
        values: In the order of time.
        lags: How many correlations are taken into account; 0 for independent values.
    """
    from scipy.special import chdtri

    given = np.asarray(values, np.float64)
    off = given - given.mean()
    total, count = float(np.sum(off**2)), len(given)
    correlated = 0.0
    if total > 0.0:
        correlated = sum(float(np.sum(off[k:] * off[:-k]) / total) ** 2 for k in range(1, min(lags, count // 4) + 1))
    free = max((count - 1) / (1.0 + 2.0 * correlated), 1.0)
    value = np.sqrt(total / (count - 1))
    low, high = (value * np.sqrt(free / chdtri(free, part)) for part in (0.025, 0.975))
    return Estimate(float(value), float(low), float(high))
