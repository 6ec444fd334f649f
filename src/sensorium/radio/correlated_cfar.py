"""Thresholds of CFAR over cells whose noise is correlated, as a window makes neighbours."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sensorium.errors import SpecError
from sensorium.optics.checks import Array, checked
from sensorium.radio.cfar import threshold_factors
from sensorium.radio.ordered_cfar import ordered_factors, rank_of
from sensorium.radio.windows import noise_correlation

# Directions over which the rate of a rank is averaged, and the seed they are drawn with: the same for every radar
_DIRECTIONS, _SEED = 20_000, 1983

# Halvings of the interval in which a factor is searched for: to a millionth
_HALVINGS = 24


def training_cells(samples: int, *, training: int, guard: int) -> Array:
    """Distances from a cell to those that its threshold is taken from, on a row that counts round, shape (N,).

    Up to `training` on each side beyond `guard`; a short row has fewer, and none twice.
    """
    if samples < 2 * guard + 3:
        raise SpecError(f"samples is {samples}; a threshold needs 2 cells beyond {guard} guard cells on each side")
    most = min(2 * training, samples - 2 * guard - 1)
    ahead = (most + 1) // 2
    return np.concatenate([-guard - 1.0 - np.arange(most - ahead)[::-1], guard + 1.0 + np.arange(ahead)])


def false_alarm_rate_correlated(alpha: ArrayLike, *, correlation: ArrayLike, rank: float | None) -> Array:
    """P_fa of exponential noise over alpha times the mean of N correlated cells, or times the cell of a rank.

    The amplitudes of the cells are complex normal with the correlation matrix C. Over the mean

        P_fa = E exp(-alpha mean) = 1 / det(I + alpha C / N).

    Over a rank, amplitudes are L g with C = L L^T and g of independent normal parts; |g|^2 has a gamma law of order N
    whatever the direction of g, so that P_fa = E (1 + alpha U)^-N over directions alone, where U is the cell of the
    rank for |g| = 1. The mean over 20,000 fixed directions errs by less than 5 % of P_fa. The cell under test is taken
    as independent of the others, which it is beyond the main lobe of the window.

    Args:
        alpha: Factor, any shape [1].
        correlation: C, shape (N, N).
        rank: k / N [1]; None is the mean.
    """
    factor, C = checked("alpha", alpha, at_least=0.0), checked("correlation", correlation)
    return _Rate(C, rank)(factor)


@lru_cache(maxsize=256)
def correlated_factor(
    window: str, *, samples: int, training: int, guard: int, false_alarm: float, rank: float | None
) -> float:
    """Alpha for noise behind a window, so that the rate of false alarms is the one asked for [1].

    Args:
        window: A key of `WINDOWS`.
        samples: Cells of the row, which counts round.
        training: Cells on each side that noise is taken from.
        guard: Cells between them and the one under test.
        false_alarm: P_fa [1].
        rank: k / N [1]; None is the mean.
    """
    chance = float(checked("false_alarm", false_alarm, above=0.0, at_most=0.5))
    at = training_cells(samples, training=training, guard=guard)
    if window == "rectangular":
        half = max(2, -(-len(at) // 2))
        plain = threshold_factors(half, false_alarm=chance)
        return float((plain if rank is None else ordered_factors(half, false_alarm=chance, rank=rank))[len(at)])
    rate = _Rate(noise_correlation(window, at[:, None] - at, count=samples), rank)
    low, high = 0.0, 1.0
    while rate(np.asarray(high)) > chance:
        high *= 2.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rate(np.asarray(middle)) > chance else (low, middle)
    return high


class _Rate:
    """False alarms over a factor, for one correlation matrix."""

    def __init__(self, correlation: Array, rank: float | None) -> None:
        values, vectors = np.linalg.eigh(correlation)
        self._values, self._cells, self._rank = np.maximum(values, 0.0), len(values), rank
        if rank is not None:
            parts = np.random.default_rng(_SEED).standard_normal((2, _DIRECTIONS, self._cells))
            g = parts[0] + 1j * parts[1]
            g /= np.linalg.norm(g, axis=1, keepdims=True)
            power = np.abs(g @ (vectors * np.sqrt(self._values)).T) ** 2
            k = rank_of(self._cells, rank=rank) - 1
            self._unit = np.partition(power, k, axis=1)[:, k]

    def __call__(self, alpha: Array) -> Array:
        """P_fa of factors of any shape [1]."""
        if self._rank is None:
            return np.prod(1.0 / (1.0 + alpha[..., None] * self._values / self._cells), axis=-1)
        return np.mean((1.0 + alpha[..., None] * self._unit) ** -float(self._cells), axis=-1)
