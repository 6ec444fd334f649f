"""CFAR thresholds over cells whose noise is correlated by a window."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked
from sensorium.physics.radio.cfar import threshold_factors
from sensorium.physics.radio.ordered_cfar import ordered_factors, rank_of
from sensorium.physics.radio.windows import noise_correlation

# Directions over which the rate of a rank is averaged, at most, and the seed they are drawn with: one for all radars
_DIRECTIONS, _SEED = 50_000, 1983

# Numbers of a set of directions, at most
_MOST_NUMBERS = 2_000_000

# Steps of the search for a factor, which converges to rounding
_STEPS = 30

# Added to a correlation matrix, which windows make all but singular
_LOADING = 1e-9

# Up to this many cells each number has a factor of its own; beyond, every n-th, and the others are interpolated
_EACH, _APART = 64, 16


def training_cells(samples: int, *, training: int, guard: int) -> Array:
    """Distances from a cell to those that its threshold is taken from, shape (N,).

    Up to `training` on each side beyond `guard`. A short cyclic row of samples has fewer, and none twice.
    """
    if samples < 2 * guard + 3:
        raise SpecError(f"samples is {samples}; a threshold needs 2 cells beyond {guard} guard cells on each side")
    most = min(2 * training, samples - 2 * guard - 1)
    ahead = (most + 1) // 2
    return np.concatenate([-guard - 1.0 - np.arange(most - ahead)[::-1], guard + 1.0 + np.arange(ahead)])


def training_correlation(window: str, at: Array, *, samples: int) -> Array:
    """Correlation matrix of the noise of cells at whole places, shape (N, N)."""
    lag = np.abs(at[:, None] - at).astype(np.int64)
    return noise_correlation(window, np.arange(lag.max() + 1), count=samples)[lag]


def false_alarm_rate_correlated(alpha: ArrayLike, *, correlation: ArrayLike, rank: float | None) -> Array:
    """P_fa of exponential noise over alpha times the mean of N correlated cells, or times the cell of a rank.

    The amplitudes of the cells are complex normal with the correlation matrix C. Over the mean

        P_fa = E exp(-alpha mean) = 1 / det(I + alpha C / N).

    Over a rank, amplitudes are L g with C = L L^T and g of independent normal parts; |g|^2 has a gamma law of order N
    for any direction of g, so that P_fa = E (1 + alpha U)^-N over directions alone, where U is the cell of the rank for
    |g| = 1. The mean over 50,000 fixed directions has an error of 2 % of a P_fa of 1e-3, and at 1e-6 of 5 % over 32
    cells and of 15 % over 16. The cell under test is taken as independent of the others, which it is beyond the main
    lobe of the window.

    Args:
        alpha: Factor, any shape [1].
        correlation: C, shape (N, N).
        rank: k / N [1]; None is the mean.
    """
    factor, C = checked("alpha", alpha, at_least=0.0), checked("correlation", correlation)
    return _Rates(C, rank).rate(factor, len(C))[0]


@lru_cache(maxsize=256)
def correlated_factors(
    window: str, *, samples: int, training: int, guard: int, false_alarm: float, rank: float | None
) -> Array:
    """Alpha for noise behind a window, for every number of training cells that there may be around a cell.

    At the ends of a row there are N cells, `training` beyond the guard on one side and the rest on the other.

    Args:
        window: A key of `WINDOWS`.
        samples: That the window runs over.
        training: Cells on each side that noise is taken from.
        guard: Cells between them and the one under test.
        false_alarm: P_fa [1].
        rank: k / N [1]; None is the mean.

    Returns:
        Shape (2 x training + 1,); infinity for numbers that are fewer than at an end.
    """
    chance = float(checked("false_alarm", false_alarm, above=0.0, at_most=0.5))
    if window == "rectangular":
        if rank is None:
            return threshold_factors(training, false_alarm=chance)
        return ordered_factors(training, false_alarm=chance, rank=rank)
    if training < 2:
        raise SpecError(f"training is {training}; noise is taken from at least 2 cells on each side")

    # In the order in which they come in, from the far end of a row on
    one = guard + 1.0 + np.arange(training)
    at = np.concatenate([one, -one])
    rates = _Rates(training_correlation(window, at, samples=samples), rank)
    least, most = max(2, min(training, samples - guard - 1)), 2 * training
    counts = [
        count for count in range(least, most + 1) if count in (least, most) or count <= _EACH or count % _APART == 0
    ]
    found: list[float] = []
    for count in counts:
        found.append(rates.factor(chance, count, found[-1] if found else 1.0))
    factors = np.full(most + 1, np.inf)
    factors[least:] = np.interp(np.arange(least, most + 1), counts, found)
    return factors


class _Rates:
    """False alarms over a factor, for one correlation matrix and its first cells."""

    def __init__(self, correlation: Array, rank: float | None) -> None:
        self._correlation, self._rank, self._cells = correlation, rank, len(correlation)
        if rank is not None:
            count = min(_DIRECTIONS, _MOST_NUMBERS // self._cells)
            parts = np.random.default_rng(_SEED).standard_normal((2, count, self._cells))
            g = parts[0] + 1j * parts[1]

            # Lower triangular: the first cells depend on the first parts of g alone
            L = np.linalg.cholesky(correlation + _LOADING * np.eye(self._cells))
            self._power, self._size = np.abs(g @ L.T) ** 2, np.cumsum(np.abs(g) ** 2, axis=1)

    def rate(self, alpha: Array, count: int) -> tuple[Array, Array]:
        """P_fa of factors of any shape over the first cells, and minus its derivative by them [1]."""
        if self._rank is None:
            share = np.linalg.eigvalsh(self._correlation[:count, :count]) / count
            rest = 1.0 / (1.0 + alpha[..., None] * share)
            chance = np.prod(rest, axis=-1)
            return chance, chance * np.sum(share * rest, axis=-1)
        unit = self._unit(count)
        rest = 1.0 / (1.0 + alpha[..., None] * unit)
        power = rest**count
        return np.mean(power, axis=-1), count * np.mean(unit * rest * power, axis=-1)

    def factor(self, chance: float, count: int, start: float) -> float:
        """Alpha of a rate of false alarms, by Newton's steps on the logarithm, which falls ever more slowly."""
        alpha = start
        for _ in range(_STEPS):
            rate, slope = self.rate(np.asarray(alpha), count)
            step = float(np.log(rate / chance) * rate / slope)
            alpha = max(alpha + step, 0.1 * alpha)
            if abs(step) < 1e-9 * alpha:
                break
        return alpha

    def _unit(self, count: int) -> Array:
        """Power of the cell of the rank among the first cells, for each direction; the last result is cached."""
        assert self._rank is not None
        if self._kept[0] != count:
            k = rank_of(count, rank=self._rank) - 1
            self._kept = count, np.partition(self._power[:, :count], k, axis=1)[:, k] / self._size[:, count - 1]
        return self._kept[1]

    _kept: tuple[int, Array] = (0, np.zeros(0))
