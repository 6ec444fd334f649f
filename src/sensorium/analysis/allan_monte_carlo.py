"""Monte Carlo scatter of Allan variances at long averaging times, where few degrees of freedom are far from normal.

Many recordings are simulated in coarse steps, each of white noise, flicker and a random walk. The Allan variances of
any mixture of the three follow from the mean products of their second differences, so that one set of draws serves
every mixture that a fit needs.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensorium.analysis.allan_covariance import GENERALIZED, variance_shares
from sensorium.random import Stream

Array = NDArray[np.float64]

DRAWS = 2000
"""Simulated recordings: the probability of a 2.5 % tail is then known to 0.35 %."""

_STEPS = 1024
_SHORTEST = 8  # steps: below, a variance has hundreds of degrees of freedom and is as good as normal
_AT_ONCE = 250
_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
_ASYMPTOTIC = 500


@dataclass(frozen=True)
class MonteCarlo:
    """Deviations of the drawn variances from their expectation.

    Attributes:
        first: Index of the first simulated averaging time; shorter ones are not simulated.
        products: Mean products of the normalized second differences less their expectation, for the pairs NN, NB,
            NK, BB, BK, KK, shape (6, draws, drawn taus).
        means: Means of the normalized second differences, for N, B, K, shape (3, draws, drawn taus).
        normal: One standard normal number for each draw, shape (draws,).
        scale: Allan deviations for N, B, K equal to one, time in samples, shape (3, drawn taus).
        counts: Samples averaged, shape (drawn taus,).
    """

    first: int
    products: Array
    means: Array
    normal: Array
    scale: Array
    counts: Array

    def scatter(self, power: Array, weights: Array, ramp: float = 0.0) -> Array:
        """Weighted sum of the deviations of the variances of a mixture, shape (draws,).

        Args:
            power: Squares of N, B, K, time in samples, shape (3,).
            weights: Of each drawn averaging time, shape (drawn taus,).
            ramp: Rate ramp R per sample.
        """
        size = np.sqrt(power)[:, None] * self.scale
        total = np.zeros(len(self.normal))
        for (a, b), product in zip(_PAIRS, self.products, strict=True):
            total += product @ (weights * size[a] * size[b] * (1.0 if a == b else 2.0))
        if ramp:
            offset = math.sqrt(2.0) * ramp * self.counts
            for a in range(3):
                total += self.means[a] @ (weights * size[a] * offset)
        return total


@functools.lru_cache(maxsize=4)
def monte_carlo(counts: tuple[int, ...], samples: int) -> MonteCarlo:
    """Simulate the averaging times of a recording that are long enough to need it.

    Args:
        counts: Samples averaged, ascending.
        samples: Length of the recording.
    """
    steps = min(_STEPS, samples)
    drawn = np.array(counts, np.float64) * steps / samples
    first = int(np.searchsorted(drawn, _SHORTEST))
    coarse = [min(round(m), steps // 2) for m in drawn[first:]]
    stream = Stream(952, "allan")  # fixed draws: the same recording gives the same interval

    products, means = np.zeros((6, DRAWS, len(coarse))), np.zeros((3, DRAWS, len(coarse)))
    for start in range(0, DRAWS, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        thetas = _draw(stream, steps, start)
        for i, m in enumerate(coarse):
            unit = np.sqrt(variance_shares(np.array([m]))[0, 1:])
            z = [
                (theta[:, 2 * m :] - 2.0 * theta[:, m:-m] + theta[:, : -2 * m]) / (math.sqrt(2.0) * m * size)
                for theta, size in zip(thetas, unit, strict=True)
            ]
            for pair, (a, b) in enumerate(_PAIRS):
                products[pair, rows, i] = np.einsum("rk,rk->r", z[a], z[b]) / z[a].shape[1] - (a == b)
            for a in range(3):
                means[a, rows, i] = z[a].mean(axis=1)

    long = np.array(counts[first:], np.float64)
    normal = stream.normal(1, 0, 0, elements=1, worlds=DRAWS)[:, 0]
    return MonteCarlo(first, products, means, normal, np.sqrt(variance_shares(long)[:, 1:].T), long)


def _draw(stream: Stream, steps: int, start: int) -> tuple[Array, Array, Array]:
    """Sums of white noise, flicker and a walk of coefficient one, averaged over steps; shape (rows, steps + 1)."""
    white, walk = np.zeros((2, _AT_ONCE, steps + 1))
    np.cumsum(stream.normal(0, 0, 0, elements=steps, worlds=_AT_ONCE, first_world=start), axis=1, out=white[:, 1:])

    # A walk's means over steps differ by 2/3 of variance, and by 1/6 of covariance with the next difference
    kicks = stream.normal(0, 1, 0, elements=steps, worlds=_AT_ONCE, first_world=start)
    more, less = 0.5 + 0.5 / math.sqrt(3.0), 0.5 - 0.5 / math.sqrt(3.0)
    walk[:, 2:] = _twice_summed(more * kicks[:, 1:] + less * kicks[:, :-1])

    # Flicker: differences are stationary; drawn on a circle twice as long, where the Fourier transform is diagonal
    flicker = np.zeros_like(white)
    lag = np.arange(float(steps + 1))
    exact = sum(w * GENERALIZED[1](lag + k) for k, w in ((-2, 1.0), (-1, -4.0), (0, 6.0), (1, -4.0), (2, 1.0)))
    covariance = np.where(lag > _ASYMPTOTIC, -1.0 / (math.pi * np.maximum(lag, 1.0) ** 2), exact)
    circle = np.concatenate([covariance, covariance[-2:0:-1]])
    spectrum = np.maximum(np.fft.rfft(circle).real, 0.0)
    real, imaginary = stream.normal_pair(0, 2, 0, elements=len(spectrum), worlds=_AT_ONCE, first_world=start)
    bins = (real + 1j * imaginary) * np.sqrt(0.5 * spectrum * len(circle))
    bins[:, [0, -1]] = real[:, [0, -1]] * np.sqrt(spectrum[[0, -1]] * len(circle))
    flicker[:, 2:] = _twice_summed(np.fft.irfft(bins, len(circle), axis=1)[:, : steps - 1])
    return white, flicker, walk


def _twice_summed(differences: Array) -> Array:
    return np.cumsum(np.cumsum(differences, axis=1), axis=1)
