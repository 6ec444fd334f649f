"""The shape of a laser pulse in time, relative to its peak, and the same averaged over the bins of a digitizer.

A Gaussian pulse of duration t_p (full width at half maximum) is s(t) = exp(-t^2 / 2 sigma^2), sigma = t_p / 2.35482. A
measured one is a table, straight lines between its points. A digitizer integrates over a bin, so a sample is the mean
of s over the bin; the total is conserved at any position of the pulse within its bin.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked

# Full width at half maximum of a Gaussian, in standard deviations
FWHM_SIGMAS = 2.0 * math.sqrt(2.0 * math.log(2.0))

# End of a Gaussian pulse, in standard deviations: 3.7e-6 of its peak
_REACH_SIGMAS = 5.0


def gaussian_pulse(t_s: ArrayLike, *, duration_s: ArrayLike) -> Array:
    """exp(-t^2 / 2 sigma^2) [1] at times t [s] from the peak, of a pulse of full width at half maximum [s] above 0."""
    sigma = checked("duration_s", duration_s, above=0.0) / FWHM_SIGMAS
    return np.exp(-0.5 * np.square(checked("t_s", t_s) / sigma))


def gaussian_pulse_table(duration_s: float, *, points: int = 801) -> tuple[Array, Array]:
    """A Gaussian pulse as a table out to five standard deviations: times [s] and values."""
    reach = _REACH_SIGMAS * duration_s / FWHM_SIGMAS
    t = np.linspace(-reach, reach, points)
    return t, gaussian_pulse(t, duration_s=duration_s)


def pulse_width(t_s: ArrayLike, value: ArrayLike) -> float:
    """Full width at half maximum [s] of a pulse given as a table, from its first to its last half."""
    t, s = checked_pulse(t_s, value)
    above = np.flatnonzero(s >= 0.5 * s.max())
    low, high = above[0], above[-1]
    half = 0.5 * s.max()
    first = t[low] if low == 0 else np.interp(half, s[[low - 1, low]], t[[low - 1, low]])
    last = t[high] if high == len(t) - 1 else np.interp(-half, -s[[high, high + 1]], t[[high, high + 1]])
    return float(last - first)


def checked_pulse(t_s: ArrayLike, value: ArrayLike) -> tuple[Array, Array]:
    """Times and values of a pulse, in order, not negative, with a peak above 0."""
    t, s = checked("t_s", t_s), checked("value", value, at_least=0.0)
    if t.ndim != 1 or t.shape != s.shape or len(t) < 2:
        raise SpecError(f"a pulse has {t.shape} times and {s.shape} values; it needs as many of both, two or more")
    if not (np.diff(t) > 0.0).all():
        raise SpecError(f"t_s of a pulse falls by {-np.diff(t).min():g} s; it must increase")
    if s.max() <= 0.0:
        raise SpecError("value of a pulse is 0 throughout; its peak must be above 0")
    return t, s


def binned_pulse(offset_s: ArrayLike, resolution_s: float, t_s: ArrayLike, value: ArrayLike) -> Array:
    """Mean of a tabulated pulse, peak 1, over bins [offset, offset + resolution) after the pulse's own time 0.

    Args:
        offset_s: Where each bin begins, counted from time 0 of the pulse [s].
        resolution_s: Width of the bins [s], above 0.
        t_s: Times of the table [s], increasing.
        value: The pulse there, not negative; it is 0 outside.

    Returns:
        Shape of `offset_s`; exact for the straight lines of the table.
    """
    width = float(checked("resolution_s", resolution_s, above=0.0))
    t, s = checked_pulse(t_s, value)
    begin = checked("offset_s", offset_s)
    return (_integral(begin + width, t, s) - _integral(begin, t, s)) / (width * s.max())


def _integral(x: Array, t: Array, s: Array) -> Array:
    """Integral of the table from its start to x, exact."""
    steps = 0.5 * (s[1:] + s[:-1]) * np.diff(t)
    sums = np.concatenate([[0.0], np.cumsum(steps)])
    at = np.clip(x, t[0], t[-1])
    j = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
    part = at - t[j]
    slope = (s[j + 1] - s[j]) / (t[j + 1] - t[j])
    return sums[j] + part * (s[j] + 0.5 * slope * part)
