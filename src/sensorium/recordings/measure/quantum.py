"""Quantum of a device's numbers: the spacing q of which all of them are whole multiples, plus an offset.

It is the largest q at which the values x have one phase, |mean exp(2 pi i x / q)| >= 0.9; x = q n + c is then fitted by
least squares over the whole numbers n. Values are used whose own resolution, by a later rounding in the file, is less
than a sixth of q. Distinct values have distinct n: where most share theirs with others, they are near each other by
themselves, and q is no quantum.
"""

import numpy as np
from numpy.typing import NDArray

from sensorium.recordings.measure.figures import student_figure
from sensorium.recordings.measurement import Figure

Float = NDArray[np.float64]

_COHERENT, _RESOLVED, _ALONE = 0.9, 1.0 / 6.0, 0.5
_MOST_VALUES, _SEARCHED, _LEAST_VALUES, _LEAST_STEPS = 200, 60, 12, 3.0
_COARSE_STEP, _FINE_STEPS = 1.19, 600


def quantum_figure(
    quantity: str, values: Float, resolution: Float, unit: str, *, coarsest: float, finest: float
) -> Figure | None:
    """The quantum with its interval; None where no spacing fits the values.

    Args:
        quantity: Name of the figure.
        values: Distinct values, shape (n,).
        resolution: Rounding of each in the file, in the same unit, shape (n,).
        unit: Unit of the values.
        coarsest, finest: Range of spacings that are tried.
    """
    order = np.argsort(resolution, kind="stable")
    values, resolution = values[order], resolution[order]
    spacings = coarsest / _COARSE_STEP ** np.arange(np.log(coarsest / finest) / np.log(_COARSE_STEP) + 1.0)
    for spacing in spacings:
        usable = values[resolution < _RESOLVED * spacing][:_MOST_VALUES]
        if len(usable) < _LEAST_VALUES:
            continue
        x = usable - usable[0]
        near = np.geomspace(spacing * np.sqrt(_COARSE_STEP), spacing / np.sqrt(_COARSE_STEP), _FINE_STEPS)
        coherence = np.abs(np.exp(2j * np.pi * x[:_SEARCHED, None] / near).mean(axis=0))
        best = float(near[int(np.argmax(coherence))])
        steps = len(np.unique(np.rint(x / best)))
        if coherence.max() >= _COHERENT and np.ptp(x) > _LEAST_STEPS * best and steps > _ALONE * len(x):
            return _fitted(quantity, usable, best, unit)
    return None


def _fitted(quantity: str, values: Float, spacing: float, unit: str) -> Figure:
    """Least squares of x = q n + c with the whole numbers n of a first spacing."""
    n = np.rint((values - values[0]) / spacing)
    centered = n - n.mean()
    slope = float(centered @ values / (centered @ centered))
    residual = values - values.mean() - slope * centered
    degrees = len(n) - 2
    error = float(np.sqrt((residual @ residual) / degrees / (centered @ centered)))
    return student_figure(quantity, slope, unit, error, degrees, len(n))
