"""Fit of one Allan curve by least squares weighted with the covariance of its points.

The variance is linear in the squares x of the coefficients, s = J x. Points at different taus share their samples, so
least squares are weighted by the inverse of their covariance C(x) (`allan_covariance`), which depends on x and is
found with it; octaves of tau contain all information. Squares are never negative.

An interval is the set of values that a test does not reject. For a value x_k, the other coefficients are fitted with
x_k fixed. The best linear unbiased combination w s of the variances, which estimates x_k, is then compared with its
scatter at that point (`allan_monte_carlo`). The estimate is the value that w s exceeds in half of all recordings, so it
is as often too high as too low; the least-squares estimate is low by a tenth if few degrees of freedom determine a
coefficient. A coefficient that a recording does not show has an estimate or a lower end of 0.

No device follows the model exactly. Each variance gets a random model error of 0.2 %, which is doubled as long as the
residuals exceed what it and the scatter of the recording explain. The many degrees of freedom of short taus then do
not distort the rest of the fit, and the intervals are honest.
"""

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sensorium.analysis.allan_covariance import RANDOM, estimator_covariance, variance_shares
from sensorium.analysis.allan_monte_carlo import monte_carlo

Array = NDArray[np.float64]

TERMS = "QNBKR"
"""Terms that can be fitted: quantization, white noise, bias instability, rate random walk, rate ramp."""

_LEAST_MODEL_ERROR, _MOST_MODEL_ERROR = 0.002, 0.5
_EXPLAINED = 1.5  # chi-square of the residuals for each degree of freedom: in one of twenty recordings by chance
_QUANTILES = np.array([0.975, 0.5, 0.025])
_LARGEST = 1e6  # times the estimate: an upper end beyond it is infinite
_FAR = (0.01, 0.1, 1.0, 8.0, 64.0)  # fractions of the curve's own level at which to search for an upper end
_PROFILE_ROUNDS = 3
_ROOT_TOLERANCE = 0.005


def design(tau: Array, terms: str) -> Array:
    """Allan variance for each term of coefficient one, in the unit of time of the taus, shape (taus, terms)."""
    columns = np.concatenate([variance_shares(tau), 0.5 * tau[:, None] ** 2], axis=-1)
    return columns[:, [TERMS.index(term) for term in terms]]


class Regression:
    """One curve, its least squares and its intervals; time counts samples.

    Attributes:
        model_error: Deviation of the variances from the model, beyond their scatter, relative to them [1]; at least
            0.002, known after `estimate`.
    """

    def __init__(self, counts: tuple[int, ...], samples: int, variance: Array, terms: str) -> None:
        """Prepare a fit.

        Args:
            counts: Samples averaged, ascending, about an octave apart.
            samples: Length of the recording.
            variance: Allan variances, positive, shape (taus,).
            terms: Some of Q, N, B, K, R, in this order, at least one of N, B, K.
        """
        self.terms = terms
        self.variance = variance
        self.model_error = _LEAST_MODEL_ERROR
        self.design = design(np.array(counts, np.float64), terms)
        self._covariance = estimator_covariance(counts, samples)
        self._monte_carlo = monte_carlo(counts, samples)

    def estimate(self) -> Array:
        """Squares of the coefficients by least squares, shape (terms,); sets `model_error`."""
        while True:
            x = self._least_squares()
            left, right, _ = self._whitened(x)
            residual = right - left @ x
            explained = float(residual @ residual) <= _EXPLAINED * max(1, len(right) - len(x))
            if explained or self.model_error >= _MOST_MODEL_ERROR:
                return x
            self.model_error *= 2.0

    def _least_squares(self) -> Array:
        x = _nonnegative(self.design / self.variance[:, None], np.ones(len(self.variance)))
        for round_ in range(60):
            left, right, _ = self._whitened(x)
            found = _nonnegative(left, right)
            if np.abs(self.design @ found / (self.design @ x) - 1.0).max() < 1e-6:
                return found
            # The covariance depends on the fit; half steps end the rare case of two fits that alternate
            x = found if round_ < 10 else 0.5 * (x + found)
        return x

    def interval(self, k: int, x: Array) -> tuple[float, float, float]:
        """Lower end of the 95 % interval, median-unbiased estimate and upper end of the square of term k.

        Args:
            k: Which term.
            x: Result of `estimate`.
        """
        left, _, _ = self._whitened(x)
        step = float(np.sqrt(np.linalg.pinv(left.T @ left)[k, k]))
        tried: dict[float, Array] = {}

        def excess(value: float, quantile: int) -> float:
            if value not in tried:
                tried[value] = self._excess(k, value, x)
            return float(tried[value][quantile])

        # The observed value exceeds each quantile by less and less as the value grows: find the crossing
        low, middle, high = (_crossing(functools.partial(excess, quantile=q), float(x[k]), step) for q in range(3))

        # Except where terms are hard to separate: a larger value, with more scatter, may be possible again
        most = float((self.variance / self.design[:, k]).min())
        for value in (most * part for part in reversed(_FAR) if most * part > high):
            if excess(value, 2) > 0.0:
                high = _crossing(functools.partial(excess, quantile=2), value, value)
                break
        return low, middle, high

    def _excess(self, k: int, value: float, x: Array) -> Array:
        """By how much the observed estimate exceeds the quantiles of those that this value gives, shape (3,)."""
        held = self._profile(k, value, x)
        left, right, whiten = self._whitened(held)
        model = self.design @ held
        combination = np.linalg.pinv(left)[k]
        observed = float(combination @ right)

        # The same combination of the variances themselves: of the simulated ones, with their information on shorter
        # ones
        weights = combination @ whiten / model
        random, ramp = self._powers(held)
        covariance = self._covariance.of(random, ramp)
        first = self._monte_carlo.first
        across = covariance[first:, :first]
        inner = np.linalg.solve(covariance[first:, first:], across) if first else across
        alone = covariance[:first, :first] - across.T @ inner
        spread = float(weights[:first] @ alone @ weights[:first]) + float(
            ((self.model_error * model * weights) ** 2).sum()
        )
        scatter = self._monte_carlo.scatter(random[1:], weights[first:] + inner @ weights[:first], ramp)
        scatter += math.sqrt(max(0.0, spread)) * self._monte_carlo.normal
        return observed - value - np.quantile(scatter, _QUANTILES)

    def _profile(self, k: int, value: float, x: Array) -> Array:
        """Squares of the coefficients by least squares with that of term k held, shape (terms,)."""
        rest = [j for j in range(len(x)) if j != k]
        held = x.copy()
        held[k] = value
        for _ in range(_PROFILE_ROUNDS if rest else 0):
            left, right, _ = self._whitened(held)
            held[rest] = _nonnegative(left[:, rest], right - left[:, k] * value)
        return held

    def _whitened(self, x: Array) -> tuple[Array, Array, Array]:
        """Design and variances in units in which errors are independent and of one; and the matrix that does it."""
        model = np.maximum(self.design @ x, 1e-12 * self.variance)
        covariance = self._covariance.of(*self._powers(x)) / np.outer(model, model)
        covariance += np.diag(np.full(len(model), self.model_error**2) + 1e-9 * np.diag(covariance))
        whiten = np.linalg.inv(np.linalg.cholesky(covariance))
        return whiten @ (self.design / model[:, None]), whiten @ (self.variance / model), whiten

    def _powers(self, x: Array) -> tuple[Array, float]:
        """Squares of Q, N, B, K (0 where not fitted) and the ramp."""
        of = dict(zip(self.terms, x, strict=True))
        return np.array([of.get(term, 0.0) for term in RANDOM]), math.sqrt(of.get("R", 0.0))


def _nonnegative(left: Array, right: Array) -> Array:
    """Least squares with no negative unknown; columns are scaled to one length first."""
    from scipy.optimize import nnls

    length = np.linalg.norm(left, axis=0)
    found: Array = nnls(left / length, right)[0] / length
    return found


def _crossing(falling: Callable[[float], float], start: float, step: float) -> float:
    """The zero of a falling function of a value of at least 0.

    Args:
        falling: The function.
        start: Where to look first.
        step: Tolerance of the bracket; the result is accurate to a small part of it.

    Returns:
        The value; 0 where the function is never positive, infinity where it does not cross.
    """
    # Find two values with the crossing between them
    low, high = start, start
    above, below = falling(start), falling(start)
    while below > 0.0:
        low, above = high, below
        high = start + max(2.0 * step, 3.0 * (high - start))
        if high > _LARGEST * (start + step):
            return math.inf
        below = falling(high)
    while above <= 0.0:
        if low == 0.0:
            return 0.0
        high, below = low, above
        low = max(0.0, start - max(2.0 * step, 3.0 * (start - low)))
        above = falling(low)

    # Draw the line between them; the end that stays twice counts half (the Illinois rule)
    kept = 0
    while high - low > _ROOT_TOLERANCE * step:
        middle = (low * below - high * above) / (below - above)
        if not low < middle < high:
            break
        value = falling(middle)
        if abs(middle - (low if value > 0.0 else high)) < 0.2 * _ROOT_TOLERANCE * step:
            return middle
        if value > 0.0:
            low, above, below = middle, value, below * (0.5 if kept == 1 else 1.0)
            kept = 1
        else:
            high, below, above = middle, value, above * (0.5 if kept == -1 else 1.0)
            kept = -1
    return 0.5 * (low + high)
