"""Ordered-statistic CFAR: a threshold over the k-th smallest cell around, which other echoes do not raise."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked

# Halvings of the interval in which a factor is searched for: to rounding
_HALVINGS = 200


def rank_of(cells: int, *, rank: float) -> int:
    """Rank among this many cells in order, counted from 1: the rank is a share of them."""
    share = float(checked("rank", rank, above=0.0, at_most=1.0))
    return max(1, round(share * cells))


def false_alarm_rate(alpha: ArrayLike, *, cells: int, rank: float) -> Array:
    """P_fa = prod_(i < k) (N - i) / (N - i + alpha) of exponential noise over alpha times the k-th smallest of N cells.

    Ref: Rohling 1983, Radar CFAR thresholding in clutter and multiple target situations.

    Args:
        alpha: Factor [1].
        cells: N.
        rank: k / N [1].
    """
    factor = checked("alpha", alpha, at_least=0.0)
    left = cells - np.arange(rank_of(cells, rank=rank))
    return np.prod(left / (left + factor[..., None]), axis=-1)


def ordered_factors(training: int, *, false_alarm: float, rank: float) -> Array:
    """Alpha for every number of training cells up to 2 x `training`; infinity below two, as `threshold_factors`."""
    if training < 2:
        raise SpecError(f"training is {training}; noise is taken from at least 2 cells on each side")
    chance = float(checked("false_alarm", false_alarm, above=0.0, at_most=0.5))
    factors = np.full(2 * training + 1, np.inf)
    for count in range(2, 2 * training + 1):
        low, high = 0.0, 1.0
        while false_alarm_rate(high, cells=count, rank=rank) > chance:
            high *= 2.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if false_alarm_rate(middle, cells=count, rank=rank) > chance else (low, middle)
        factors[count] = high
    return factors


def ordered_ranks(training: int, *, rank: float) -> NDArray[np.int64]:
    """Which cell in order is taken for every number of training cells, shape (2 x training + 1,)."""
    return np.array([0, *(rank_of(count, rank=rank) for count in range(1, 2 * training + 1))], np.int64)


def ordered_detection_probability(snr: ArrayLike, *, cells: int, false_alarm: float, rank: float) -> Array:
    """P_d of a Swerling I body: the false alarm rate at alpha / (1 + SNR)."""
    alpha = ordered_factors(max(2, -(-cells // 2)), false_alarm=false_alarm, rank=rank)[cells]
    return false_alarm_rate(alpha / (1.0 + checked("snr", snr, at_least=0.0)), cells=cells, rank=rank)


def ordered_threshold(power: ArrayLike, *, training: int, guard: int, false_alarm: float, rank: float) -> Array:
    """Threshold of every cell along the last axis; arguments as in `cell_average_threshold`."""
    if guard < 0:
        raise SpecError(f"guard is {guard}; it must be zero or more")
    z = checked("power", power, at_least=0.0)
    factors = ordered_factors(training, false_alarm=false_alarm, rank=rank)
    out, cells = np.full(z.shape, np.inf), z.shape[-1]
    for at in range(cells):
        before = range(max(at - guard - training, 0), max(at - guard, 0))
        after = range(min(at + guard + 1, cells), min(at + guard + 1 + training, cells))
        around = [*before, *after]
        if len(around) >= 2:
            k = rank_of(len(around), rank=rank) - 1
            out[..., at] = factors[len(around)] * np.partition(z[..., around], k, axis=-1)[..., k]
    return out
