"""Overlapping Allan deviation of rates: the difference of successive means over tau.

The sums are taken block by block, with the same bytes on any number of threads.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.analysis.allan_covariance import degrees_of_freedom
from sensorium.analysis.signal_log import LARGEST
from sensorium.core.errors import SpecError
from sensorium.runtime import jit, worker_pool

Array = NDArray[np.float64]

_FEWEST_SAMPLES = 8
_LONGEST = 3  # by default a recording holds this many of the longest averages
_SLOPE_WINDOW = 10.0**0.5
_SLOPE_NEEDS = 50.0  # degrees of freedom, to identify the kind of noise
_OUTSIDE = 0.025  # on each side of an interval of 95 %


@dataclass(frozen=True)
class Allan:
    """An Allan deviation as measured; `[k]` on the channel axes of the arrays picks a channel.

    Attributes:
        tau_s: Averaging times [s], ascending, shape (taus,).
        deviation: Allan deviation [unit of the signal], shape (taus, *channels).
        low: Lower end of its 95 % interval, the same shape.
        high: Upper end, the same shape.
        degrees: Equivalent degrees of freedom [1], the same shape.
        terms: Overlapping differences that were averaged, shape (taus,).
        rate_hz: Samples a second.
        samples: Length of the recording.
    """

    tau_s: Array
    deviation: Array
    low: Array
    high: Array
    degrees: Array
    terms: NDArray[np.int64]
    rate_hz: float
    samples: int

    @property
    def duration_s(self) -> float:
        """Length of the recording [s]."""
        return self.samples / self.rate_hz

    @property
    def counts(self) -> NDArray[np.int64]:
        """Samples averaged at each tau, shape (taus,)."""
        return np.rint(self.tau_s * self.rate_hz).astype(np.int64)


def allan_deviation(
    signal: ArrayLike, rate_hz: float, *, taus_s: ArrayLike | None = None, points_per_decade: int = 10
) -> Allan:
    """Overlapping Allan deviation of a rate-like signal (angular rate, acceleration, field), with 95 % intervals.

    With theta the sum of the signal times dt, and tau = m dt,

        sigma^2(tau) = < (theta(k + 2 m) - 2 theta(k + m) + theta(k))^2 > / (2 tau^2)

    over all k (IEEE 952; NIST SP 1065, eq. 11). The mean is taken off before summing, in float64, so that an
    offset costs no digits.

    Intervals are those of a chi-square law with the equivalent degrees of freedom of the overlapping estimator
    (Greenhall and Riley 2003; see `allan_covariance`). These depend on the kind of noise, which is read at each tau
    from the slope of the curve over a decade around it: a slope between those of two kinds is a mixture of both. Where
    the curve itself is too unsure for that, the noise with the fewest degrees of freedom is taken, a random walk.

    Args:
        signal: Evenly spaced samples, shape (samples, *channels); finite, at least 8.
        rate_hz: Samples a second.
        taus_s: Averaging times [s], rounded to whole samples, from one sample to half the recording; None takes
            `points_per_decade` of them up to a third of it.
        points_per_decade: How many averaging times a decade, where whole samples allow.

    >>> white = np.random.default_rng(0).normal(size=100_000)
    >>> allan = sn.analysis.allan_deviation(white, rate_hz=100.0, taus_s=[0.01, 1.0])
    >>> allan.deviation.round(2).tolist()  # falls as 1 / sqrt(tau)
    [1.0, 0.1]
    """
    values = _checked_signal(signal)
    if not (isinstance(rate_hz, int | float | np.number) and np.isfinite(rate_hz) and rate_hz > 0.0):
        raise SpecError(f"rate_hz is {rate_hz!r}; it must be finite and positive")
    samples = len(values)
    counts = _checked_counts(taus_s, points_per_decade, samples, float(rate_hz))

    # Sum each channel without its mean, and average the squares of second differences
    channels = values.reshape(samples, -1)
    theta = np.zeros((channels.shape[1], samples + 1))
    for channel, total in zip(channels.T, theta, strict=True):
        total[1:] = channel
        total[1:] -= total[1:].mean()
        np.cumsum(total[1:], out=total[1:])
    terms = samples + 1 - 2 * counts
    blocks = -(-samples // BLOCK)
    sums = np.zeros((channels.shape[1], len(counts), blocks))
    worker_pool.run(sum_squares, channels.shape[1] * blocks, theta, counts, sums)
    variance = sums.sum(axis=-1).T / (2.0 * counts.astype(np.float64) ** 2 * terms)[:, None]

    # Uncertainty of each
    degrees = _degrees(counts, samples, variance)
    low, high = chi_square_interval(np.sqrt(variance), degrees)
    shape = (len(counts), *values.shape[1:])
    return Allan(
        tau_s=counts / float(rate_hz),
        deviation=np.sqrt(variance).reshape(shape),
        low=low.reshape(shape),
        high=high.reshape(shape),
        degrees=degrees.reshape(shape),
        terms=terms,
        rate_hz=float(rate_hz),
        samples=samples,
    )


def chi_square_interval(deviation: Array, degrees: Array) -> tuple[Array, Array]:
    """Ends of the 95 % interval of a deviation whose variance has a chi-square law of these degrees of freedom."""
    from scipy.special import chdtri

    low = deviation * np.sqrt(degrees / chdtri(degrees, _OUTSIDE))
    high = deviation * np.sqrt(degrees / chdtri(degrees, 1.0 - _OUTSIDE))
    return low, high


def _degrees(counts: NDArray[np.int64], samples: int, variance: Array) -> Array:
    """Degrees of freedom of each variance, shape (taus, channels)."""
    known = tuple(counts.tolist())
    least = degrees_of_freedom(known, samples, np.tile([0.0, 0.0, 0.0, 1.0], (len(counts), 1)))[:, None]
    by_slope = degrees_of_freedom(known, samples, _noise_shares(counts, variance))
    return np.where(least < _SLOPE_NEEDS, np.minimum(least, by_slope), by_slope)


def _noise_shares(counts: NDArray[np.int64], variance: Array) -> Array:
    """Shares of Q, N, B, K in each variance, by the slope of its logarithm, shape (taus, channels, 4).

    Variances of N, B and K go with tau to the power -1, 0, 1; a slope between two of them is a mixture. Q is taken for
    N: it has many more degrees of freedom, which a steep slope by chance must not claim.
    """
    x = np.log(counts.astype(np.float64))
    slope = np.full(variance.shape, -1.0)
    moving = (variance > 0.0).all(axis=0)
    y = np.log(variance[:, moving])
    for i, center in enumerate(x):
        near = np.abs(x - center) <= np.log(_SLOPE_WINDOW)
        if near.sum() > 1:
            away = x[near] - x[near].mean()
            slope[i, moving] = away @ y[near] / (away @ away)
    power = np.array([-2.0, -1.0, 0.0, 1.0])
    return np.maximum(0.0, 1.0 - np.abs(np.clip(slope, -1.0, 1.0)[..., None] - power))


def _checked_signal(signal: ArrayLike) -> NDArray[Any]:
    """The signal as real numbers, finite and long enough."""
    values = np.asarray(signal)
    if values.dtype.kind not in "fiu":
        raise SpecError(f"signal has type {values.dtype}; it must be real numbers")
    if values.ndim == 0 or len(values) < _FEWEST_SAMPLES or values.size == 0:
        rule = f"it must be (samples, *channels) with at least {_FEWEST_SAMPLES} samples and one channel"
        raise SpecError(f"signal has shape {values.shape}; {rule}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise SpecError(f"signal is {values[at]} at {at}; it must be finite")
    if values.dtype.kind == "f" and (largest := float(np.abs(values).max())) > LARGEST:
        raise SpecError(f"signal reaches {largest:g}; it must be within {LARGEST:g}")
    return values


def _checked_counts(
    taus_s: ArrayLike | None, points_per_decade: int, samples: int, rate_hz: float
) -> NDArray[np.int64]:
    """Samples to average, ascending and each once."""
    if taus_s is None:
        if not isinstance(points_per_decade, int | np.integer) or points_per_decade < 1:
            raise SpecError(f"points_per_decade is {points_per_decade!r}; it must be a whole number of at least 1")
        longest = max(1, samples // _LONGEST)
        exponents = np.arange(0.0, np.log10(longest) + 1e-9, 1.0 / points_per_decade)
        return np.unique(np.rint(10.0**exponents).astype(np.int64))
    taus = np.atleast_1d(np.asarray(taus_s, np.float64))
    wrong = ~np.isfinite(taus) | (taus * rate_hz < 0.5) | (taus * rate_hz > samples // 2 + 0.5)
    if taus.ndim != 1 or taus.size == 0:
        raise SpecError(f"taus_s has shape {taus.shape}; it must be one axis of averaging times")
    if wrong.any():
        span = f"{1.0 / rate_hz:g} s to {samples // 2 / rate_hz:g} s, one sample to half the recording"
        raise SpecError(f"taus_s is {taus[wrong][0]:g}; it must be from {span}")
    return np.unique(np.clip(np.rint(taus * rate_hz), 1, samples // 2).astype(np.int64))


BLOCK = 8192
"""Terms in a block: its three windows into theta stay in the cache, and short ones are shared by all taus."""


@jit.kernel
def sum_squares(first: int, step: int, count: int, theta: Any, counts: Any, sums: Any) -> None:
    """Sum the squares of theta(k + 2 m) - 2 theta(k + m) + theta(k) over blocks of k.

    Args:
        first: First block; a block is a channel and a stretch of k.
        step: To the next one.
        count: Number of blocks.
        theta: Running sums of the signal, shape (channels, samples + 1).
        counts: Samples averaged m, shape (taus,).
        sums: Where the sums go, shape (channels, taus, blocks a channel).
    """
    stretches = sums.shape[2]
    for block in range(first, count, step):
        channel, stretch = block // stretches, block % stretches
        total = theta[channel]
        start = stretch * BLOCK
        for i in range(counts.shape[0]):
            m = counts[i]
            end = min(start + BLOCK, total.shape[0] - 2 * m)
            sums[channel, i, stretch] = _squares(total, m, start, end) if end > start else 0.0


@jit.function
def _squares(total: Any, m: int, start: int, end: int) -> float:
    """One block's sum, in eight that the machine can do at once."""
    size = end - start
    x, y, z = total[start:end], total[start + m : end + m], total[start + 2 * m : end + 2 * m]
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    for k in range(0, size - 7, 8):
        d0 = (z[k] - y[k]) - (y[k] - x[k])
        d1 = (z[k + 1] - y[k + 1]) - (y[k + 1] - x[k + 1])
        d2 = (z[k + 2] - y[k + 2]) - (y[k + 2] - x[k + 2])
        d3 = (z[k + 3] - y[k + 3]) - (y[k + 3] - x[k + 3])
        d4 = (z[k + 4] - y[k + 4]) - (y[k + 4] - x[k + 4])
        d5 = (z[k + 5] - y[k + 5]) - (y[k + 5] - x[k + 5])
        d6 = (z[k + 6] - y[k + 6]) - (y[k + 6] - x[k + 6])
        d7 = (z[k + 7] - y[k + 7]) - (y[k + 7] - x[k + 7])
        a0 += d0 * d0
        a1 += d1 * d1
        a2 += d2 * d2
        a3 += d3 * d3
        a4 += d4 * d4
        a5 += d5 * d5
        a6 += d6 * d6
        a7 += d7 * d7
    for k in range(size - size % 8, size):
        d0 = (z[k] - y[k]) - (y[k] - x[k])
        a0 += d0 * d0
    return ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))
