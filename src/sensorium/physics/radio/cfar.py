"""Cell-averaging CFAR: a threshold that follows the noise around each cell, for a constant rate of false alarms."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked
from sensorium.physics.optics.detection.return_thresholds import cfar_factor_exponential


def threshold_factors(training: int, *, false_alarm: float) -> Array:
    """Alpha for every number of training cells up to 2 x `training`, shape (2 x training + 1,).

    Alpha = N (P_fa^(-1/N) - 1). At the ends of a row there are fewer cells on one side; with the factor for as many the
    rate of false alarms stays the same. Below two cells there is no mean: infinity.

    Args:
        training: Cells on each side that the noise is averaged over.
        false_alarm: P_fa [1].
    """
    if training < 2:
        raise SpecError(f"training is {training}; noise is averaged over at least 2 cells on each side")
    factors = np.full(2 * training + 1, np.inf)
    for count in range(2, 2 * training + 1):
        factors[count] = cfar_factor_exponential(count, false_alarm=false_alarm)
    return factors


def cell_average_threshold(power: ArrayLike, *, training: int, guard: int, false_alarm: float) -> Array:
    """Threshold T = alpha mean(z) of every cell, along the last axis.

    Args:
        power: z after a square-law detector, any unit, shape (..., cells).
        training: Cells on each side that the noise is averaged over.
        guard: Cells between them and the one under test, on each side, that an echo may spread to.
        false_alarm: P_fa of exponential noise, the same and independent in all cells [1].
    """
    if guard < 0:
        raise SpecError(f"guard is {guard}; it must be zero or more")
    z = checked("power", power, at_least=0.0)
    factors, cells = threshold_factors(training, false_alarm=false_alarm), z.shape[-1]
    total = np.concatenate([np.zeros((*z.shape[:-1], 1)), np.cumsum(z, axis=-1)], axis=-1)
    at = np.arange(cells)

    # Cells before and after, as far as there are any
    before = np.maximum(at - guard, 0), np.maximum(at - guard - training, 0)
    after = np.minimum(at + guard + 1 + training, cells), np.minimum(at + guard + 1, cells)
    count = before[0] - before[1] + after[0] - after[1]
    mean = (total[..., before[0]] - total[..., before[1]] + total[..., after[0]] - total[..., after[1]]) / np.maximum(
        count, 1
    )
    return np.where(count < 2, np.inf, np.where(count < 2, 1.0, factors[count]) * mean)


def detection_probability(snr: ArrayLike, *, cells: int, false_alarm: ArrayLike) -> Array:
    """P_d = (1 + alpha / (N (1 + SNR)))^-N of a Swerling I body over the mean of N cells of exponential noise.

    With SNR = 0 it is P_fa; with many cells it becomes P_fa^(1 / (1 + SNR)), that of a known noise. Ref: Finn and
    Johnson 1968; Gandhi and Kassam 1988.

    Args:
        snr: Mean signal over mean noise [1].
        cells: N.
        false_alarm: P_fa [1].
    """
    alpha = cfar_factor_exponential(cells, false_alarm=false_alarm)
    return (1.0 + alpha / (cells * (1.0 + checked("snr", snr, at_least=0.0)))) ** -float(cells)


def crossings(power: ArrayLike, *, training: int, guard: int, false_alarm: float) -> NDArray[np.bool_]:
    """Which cells exceed their threshold; see `cell_average_threshold`."""
    limit = cell_average_threshold(power, training=training, guard=guard, false_alarm=false_alarm)
    return np.asarray(power, np.float64) > limit
