"""Figures with 95 % intervals: by Student's law, by chi-square, by order statistics, and by leaving groups out.

Equations, for an estimate theta of n groups of data and theta_i without group i:

    jackknife variance   v = (n - 1) / n sum_i (theta_i - mean theta_i)^2
    interval             theta -+ t_{0.975}(n - 1) sqrt(v)
    deviation            s sqrt(nu / chi2_{0.975}(nu)) to s sqrt(nu / chi2_{0.025}(nu))

Ref: B. Efron and C. Stein, "The jackknife estimate of variance", Ann. Statist. 9 (1981).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.recordings.measure.intervals import Estimate, quantile, share
from sensorium.recordings.measurement import Figure

CONFIDENCE = 0.95

Float = NDArray[np.float64]


class Estimates(NamedTuple):
    """Estimates with standard errors, shape (k,) each.

    Attributes:
        value: The estimates.
        error: Their standard errors.
        degrees: Degrees of freedom of the errors.
    """

    value: Float
    error: Float
    degrees: int

    def figure(self, k: int, quantity: str, unit: str, samples: int, where: str = "") -> Figure:
        """The k-th estimate with its interval."""
        return student_figure(
            quantity, float(self.value[k]), unit, float(self.error[k]), self.degrees, samples, where=where
        )


def leave_one_out(estimate: Callable[[NDArray[np.bool_]], Float], groups: int) -> Estimates:
    """Estimates and their errors from the estimates without one group each.

    Args:
        estimate: Gives the k estimates from the groups that a mask of shape (groups,) selects.
        groups: Number of groups, which are independent of each other.
    """
    everything = np.ones(groups, bool)
    without = np.array([estimate(np.arange(groups) != k) for k in range(groups)])
    spread = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return Estimates(estimate(everything), np.sqrt(spread * (groups - 1) / groups), groups - 1)


def student_figure(
    quantity: str, value: float, unit: str, error: float, degrees: int, samples: int, *, where: str = ""
) -> Figure:
    """A figure whose interval is that of Student's law around the value."""
    from scipy.special import stdtrit

    half = float(stdtrit(max(degrees, 1), 0.5 + 0.5 * CONFIDENCE)) * error
    return Figure(quantity, value, unit, value - half, value + half, samples, where)


def deviation_figure(
    quantity: str, value: float, unit: str, degrees: float, samples: int, *, where: str = ""
) -> Figure:
    """A standard deviation of normal numbers, with the interval of chi-square.

    Args:
        quantity, value, unit, samples, where: As in `Figure`.
        degrees: Degrees of freedom nu of the deviation.
    """
    low, high = deviation_interval(value, degrees)
    return Figure(quantity, value, unit, float(low), float(high), samples, where)


def deviation_interval(value: float | Float, degrees: float | Float) -> tuple[Float, Float]:
    """Ends of the 95 % interval of a standard deviation with nu degrees of freedom."""
    from scipy.special import chdtri

    tail = 0.5 - 0.5 * CONFIDENCE
    nu = np.maximum(np.asarray(degrees, np.float64), 1.0)
    return np.asarray(value * np.sqrt(nu / chdtri(nu, tail))), np.asarray(value * np.sqrt(nu / chdtri(nu, 1.0 - tail)))


def median_figure(quantity: str, values: Float, unit: str, samples: int, *, where: str = "") -> Figure:
    """The median of independent values, with the interval of order statistics, whatever their law."""
    found = quantile(values, 0.5)
    return Figure(quantity, found.value, unit, found.low, found.high, samples, where)


def share_figure(quantity: str, hits: int, trials: int, *, where: str = "") -> Figure:
    """A share of independent trials, with Wilson's interval."""
    return Figure(quantity, *_with_unit(share(hits, trials), "1"), trials, where)


def _with_unit(found: Estimate, unit: str) -> tuple[float, str, float, float]:
    return found.value, unit, found.low, found.high
