"""What is left of heavy tails when differences beyond 6 robust standard deviations are left out as outliers.

Range noise is taken for Johnson's S_U law, as the lidar model draws it. The difference d of two such numbers has the
density of their correlation; within |d| <= 6 x 1.4826 median |d| it keeps a part of its variance, and shows less
kurtosis than it has. Both are tabulated over the excess kurtosis of one number, and the second is inverted.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.random import johnson_numbers
from sensorium.recordings.measure.intervals import Estimate

OUTLIER = 6.0
"""Robust standard deviations beyond which a difference is an outlier, and not counted as noise."""

ROBUST = 1.482602218505602
"""Standard deviation of a normal law over the median of its sizes."""

MOST_EXCESS = 10.0
"""Largest excess kurtosis that is reported; of heavier tails the clip leaves hardly more."""

# Points of the grid of values, and its step in standard deviations
_POINTS, _STEP = 8192, 0.02


class _Table(NamedTuple):
    """Rising excess kurtosis of one number, what the clip leaves of it, and of the variance; shape (n,) each."""

    excess: NDArray[np.float64]
    shown: NDArray[np.float64]
    variance: NDArray[np.float64]


def true_excess(shown: Estimate) -> Estimate:
    """Excess kurtosis of one range from that of clipped differences; ends of the interval are turned alike.

    A value below 0 has no tails that a clip could cut, and stays.
    """
    table = _table()
    ends = [float(np.interp(each, table.shown, table.excess)) if each > 0.0 else each for each in shown]
    return Estimate(*ends)


def kept_variance(excess: float) -> float:
    """Part of the variance of differences that the clip leaves, for an excess kurtosis of one range [1]."""
    table = _table()
    return float(np.interp(excess, table.excess, table.variance))


@cache
def _table() -> _Table:
    excess = np.concatenate([[0.0], np.geomspace(0.05, MOST_EXCESS, 40)])
    rows = np.array([_clipped(float(each)) for each in excess])
    return _Table(excess, *rows.T)


def _clipped(excess: float) -> tuple[float, float]:
    """Excess of one number that the clipped difference of two shows, and the part of the variance that it keeps."""
    x = _STEP * np.arange(-_POINTS // 2, _POINTS // 2)
    if excess > 0.0:
        shape, scale = johnson_numbers(excess)
        z = np.arcsinh(x / scale) / shape
        density = np.exp(-0.5 * z**2) / (shape * np.hypot(x, scale))
    else:
        density = np.exp(-0.5 * x**2)
    both = np.fft.fftshift(np.fft.irfft(np.abs(np.fft.rfft(density)) ** 2, _POINTS))
    both /= both.sum()
    cumulative = np.cumsum(both)
    limit = OUTLIER * ROBUST * float(np.interp(0.75, cumulative - 0.5 * both, x))
    inside = np.abs(x) <= limit
    mass, second, fourth = (float(np.sum((both * x**power)[inside])) for power in (0, 2, 4))
    return 2.0 * (fourth * mass / second**2 - 3.0), second / mass / float(np.sum(both * x**2))
