"""Uncertainty of an overlapping Allan variance: its covariance between averaging times, for each kind of noise.

An overlapping Allan variance is the mean of M = n + 1 - 2 m squares of

    z(k) = (theta(k + 2 m) - 2 theta(k + m) + theta(k)) / (sqrt(2) m)

with theta the sum of the signal and m the samples averaged; here time counts samples. For Gaussian noise

    Cov(s_1, s_2) = 2 / (M_1 M_2) sum over k, l of c_12(k - l)^2,      c_12(k - l) = E z_1(k) z_2(l),

and c_12 follows from the generalized autocovariance g of theta; the differences cancel the terms that do not exist for
a process that is not stationary: g(t) = -|t| / 2 for white noise (N = 1), t^2 ln|t| / (2 pi) for flicker (B = 1), |t|^3
/ 12 for a random walk (K = 1), and one at t = 0 alone for quantization (Q = 1). This is the method of C. A. Greenhall
and W. J. Riley, Uncertainty of stability variances based on finite differences, PTTI 2003 (also NIST SP 1065, section
5.4), extended to two averaging times and to mixtures. Sums over lags are integrals between the kinks of g if those are
far apart; the result is within 0.1 % of the plain sum.
"""

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RANDOM = "QNBK"
"""Noises, in the order of every axis of this module: quantization, white, flicker (bias instability), walk."""

_WEIGHTS = (1.0, -2.0, 1.0)
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(12)
_SUM_UP_TO = 48
_TAILS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0)


def _white(t: Array) -> Array:
    return -0.5 * np.abs(t)


def _flicker(t: Array) -> Array:
    away = np.abs(t)
    return away * away * np.log(np.where(away > 0.0, away, 1.0)) / (2.0 * math.pi)


def _walk(t: Array) -> Array:
    away = np.abs(t)
    return away * away * away / 12.0


GENERALIZED: tuple[Callable[[Array], Array], ...] = (_white, _flicker, _walk)
"""Generalized autocovariances of theta for N, B and K of one, over time in samples."""


def variance_shares(counts: Array) -> Array:
    """Allan variance that each noise of coefficient one gives, time in samples.

    Args:
        counts: Samples averaged, shape (taus,).

    Returns:
        3 / m^2, 1 / m, 2 ln 2 / pi and m / 3 (IEEE 952; Q, N, B, K), shape (taus, 4).
    """
    m = np.asarray(counts, np.float64)
    return np.stack([3.0 / m**2, 1.0 / m, np.full_like(m, 2.0 * math.log(2.0) / math.pi), m / 3.0], axis=-1)


@dataclass(frozen=True)
class EstimatorCovariance:
    """Covariance of the Allan variances of one recording, for any mixture of noises.

    Attributes:
        squares: For noises a and b of coefficient one, 2 / (M_1 M_2) sum c^a c^b, shape (4, 4, taus, taus).
        means: Covariance of the means of z over the recording, for each noise of one, shape (4, taus, taus).
        counts: Samples averaged, shape (taus,).
    """

    squares: Array
    means: Array
    counts: Array

    def of(self, power: Array, ramp: float = 0.0) -> Array:
        """Covariance of the variances, shape (taus, taus).

        Args:
            power: Squares of the coefficients Q, N, B, K, time in samples, shape (4,).
            ramp: Rate ramp R per sample; it adds R m / sqrt(2) to every z.
        """
        total: Array = np.einsum("a,b,abij->ij", power, power, self.squares)
        if ramp:
            offset = ramp * self.counts / math.sqrt(2.0)
            total = total + 4.0 * np.outer(offset, offset) * np.einsum("a,aij->ij", power, self.means)
        return total


@functools.lru_cache(maxsize=8)
def estimator_covariance(counts: tuple[int, ...], samples: int) -> EstimatorCovariance:
    """The covariance between all averaging times of a recording; see the module.

    Args:
        counts: Samples averaged, each at most samples / 2.
        samples: Length of the recording.
    """
    size = len(counts)
    squares, means = np.zeros((4, 4, size, size)), np.zeros((4, size, size))
    for i, first in enumerate(counts):
        for j, second in enumerate(counts[: i + 1]):
            pair, mean = _of_pair(first, second, samples)
            squares[:, :, i, j] = squares[:, :, j, i] = pair
            means[:, i, j] = means[:, j, i] = mean
    return EstimatorCovariance(squares, means, np.array(counts, np.float64))


def degrees_of_freedom(counts: tuple[int, ...], samples: int, shares: Array) -> Array:
    """Equivalent degrees of freedom of each Allan variance: 2 mean^2 / variance.

    Args:
        counts: Samples averaged, each at most samples / 2, as many as taus.
        samples: Length of the recording.
        shares: How much of each variance is due to Q, N, B and K, shape (taus, *channels, 4); they sum to one.

    Returns:
        Degrees of freedom, shape (taus, *channels).
    """
    unit = variance_shares(np.array(counts, np.float64))
    result = np.zeros(shares.shape[:-1])
    for i, count in enumerate(counts):
        relative = _of_pair(count, count, samples)[0] / np.outer(unit[i], unit[i])
        result[i] = 2.0 / np.einsum("...a,...b,ab->...", shares[i], shares[i], relative)
    return result


def _of_pair(first: int, second: int, samples: int) -> tuple[Array, Array]:
    """Covariance of two variances for each pair of noises, shape (4, 4), and of two means, shape (4,)."""
    terms = samples + 1 - 2 * first, samples + 1 - 2 * second
    lag, weight = _lags(first, second, *terms)
    pairs = float(terms[0]) * float(terms[1])
    size = 2.0 * first * second
    squares, means = np.zeros((4, 4)), np.zeros(4)

    # Noises whose theta is continuous: sums over the lags
    shifts = [(_WEIGHTS[a] * _WEIGHTS[b], a * first - b * second) for a in range(3) for b in range(3)]
    smooth = np.stack([sum(w * g(lag + shift) for w, shift in shifts) for g in GENERALIZED]) / size
    squares[1:, 1:] = 2.0 / pairs * (smooth * weight) @ smooth.T
    means[1:] = smooth @ weight / pairs

    # Quantization: a lag counts only where two samples of theta are the same one
    met: dict[int, float] = {}
    for w, shift in shifts:
        met[-shift] = met.get(-shift, 0.0) + w
    at = np.array([k for k in met if -terms[1] < k < terms[0]], np.float64)
    sharp = np.array([met[int(k)] for k in at]) / size * _pairs_with(at, *terms)
    there = np.stack([sum(w * g(at + shift) for w, shift in shifts) for g in GENERALIZED]) / size
    squares[0, 1:] = squares[1:, 0] = 2.0 / pairs * there @ sharp
    squares[0, 0] = 2.0 / pairs * float(sharp @ np.array([met[int(k)] for k in at])) / size
    means[0] = sharp.sum() / pairs
    return squares, means


def _lags(first: int, second: int, terms_1: int, terms_2: int) -> tuple[Array, Array]:
    """Lags, and weights with which a sum over them replaces the sum over all pairs (k, l) of terms."""
    lowest, highest = -(terms_2 - 1), terms_1 - 1
    kinks = {b * second - a * first for a in range(3) for b in range(3)} | {0, terms_1 - terms_2}
    tails = [int(part * (first + second)) for part in _TAILS]
    kinks |= {min(kinks) - tail for tail in tails} | {max(kinks) + tail for tail in tails}

    # Farther out only rounding is left: g grows as the cube of the lag, its differences vanish
    lowest, highest = max(lowest, min(kinks)), min(highest, max(kinks))
    kinks |= {lowest, highest}
    edges = sorted(kink for kink in kinks if lowest <= kink <= highest)

    # Between kinks: the terms themselves where they are few, else Gauss and Legendre with the ends' correction
    lags, weights = [np.array([float(edges[-1])])], [np.ones(1)]
    for left, right in itertools.pairwise(edges):
        if right - left <= _SUM_UP_TO:
            lags.append(np.arange(left, right, dtype=np.float64))
            weights.append(np.ones(right - left))
        else:
            half = 0.5 * (right - left)
            lags.append(np.concatenate([left + half * (_NODES + 1.0), [left, right]]))
            weights.append(np.concatenate([half * _NODE_WEIGHTS, [0.5, -0.5]]))
    lag = np.concatenate(lags)
    return lag, np.concatenate(weights) * _pairs_with(lag, terms_1, terms_2)


def _pairs_with(lag: Array, terms_1: int, terms_2: int) -> Array:
    """Number of pairs of terms k below terms_1 and l below terms_2 with k - l = lag."""
    return np.minimum(terms_1 - 1.0, lag + terms_2 - 1.0) - np.maximum(0.0, lag) + 1.0
