"""Thresholds that noise alone crosses with a given probability: fixed ones, and those that follow the noise (CFAR)."""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked


def noise_threshold(sigma: ArrayLike, *, false_alarm: ArrayLike) -> Array:
    """T = sigma Q^-1(P_fa): a sample of normal noise of deviation sigma exceeds it with the probability P_fa."""
    from scipy.special import ndtri

    return checked("sigma", sigma, at_least=0.0) * -ndtri(_probability(false_alarm))


def cfar_factor_exponential(cells: int, *, false_alarm: ArrayLike) -> Array:
    """Alpha = N (P_fa^(-1/N) - 1): the mean of N cells times alpha is exceeded with P_fa by exponential noise.

    Cell-averaging CFAR after a square-law detector; N = 16 and 1e-4 give 12.4525.
    """
    count = _cells(cells)
    return count * (_probability(false_alarm) ** (-1.0 / count) - 1.0)


def cfar_factor_normal(cells: int, *, false_alarm: ArrayLike) -> Array:
    """K = t_(N-1)^-1(1 - P_fa) sqrt(1 + 1/N): mean + k deviation of N cells is exceeded with P_fa by normal noise.

    Student's law, since mean and deviation are those of the N cells and not the true ones: the waveform of a lidar
    without a square-law detector has normal noise on a level of its own.
    """
    from scipy.special import stdtrit

    count = _cells(cells)
    return -stdtrit(count - 1.0, _probability(false_alarm)) * np.sqrt(1.0 + 1.0 / count)


def _probability(value: ArrayLike) -> Array:
    return checked("false_alarm", value, above=0.0, at_most=0.5)


def _cells(cells: int) -> float:
    if cells < 2:
        raise SpecError(f"cells is {cells}; a mean of the noise must be of 2 or more")
    return float(cells)
