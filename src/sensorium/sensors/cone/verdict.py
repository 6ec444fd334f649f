"""Whether the nearest object approaches or recedes, from as many of the last ranges as their scatter requires.

A straight line is fitted to the last n ranges r_i at the times t_i,

    slope  b = S_tr / S_tt,    S_tr = sum (t_i - t)(r_i - r),  S_tt = sum (t_i - t)^2,  with means t and r,
    error  s_b = sqrt((S_rr - b S_tr) / (n - 2) / S_tt),

and b is significant if |b| > k s_b with Student's k of n - 2 degrees of freedom: noise alone reaches it with the
probability `CHANCE` on either side. n grows from 3, the newest readings first, until the slope is significant and at
least as fast as the limit of "still", or until its uncertainty k s_b is below that limit; and at most to the length of
the window. So ranges without noise are judged by the last three, and noisy ones by as many as necessary. Ref: N. R.
Draper, H. Smith, "Applied Regression Analysis", 3rd ed. (1998), chapter 1.
"""

import enum
import math

import numpy as np

from sensorium.core.rotations import Float
from sensorium.runtime import jit

CHANCE = 1e-4
"""Probability that noise alone passes the test of one number of readings, on either side."""

# Fewer readings have no scatter
_LEAST = 3

# Scatter that ranges have from rounding alone, as a share of themselves; and a window's length from rounding of times
_ROUNDING, _JUST = 1e-13, 1.0 + 1e-9


class Verdict(enum.IntEnum):
    """Motion of the nearest object according to the last ranges."""

    UNKNOWN = 0
    """Nothing is in sight, or this object was nearest in fewer than three successive readings."""
    STILL = 1
    """Slower than `still_below_m_s`, or indistinguishable from rest within the window."""
    APPROACHING = 2
    RECEDING = 3


_UNKNOWN, _STILL, _APPROACHING, _RECEDING = (float(verdict) for verdict in Verdict)


# Columns of a window: time of the last reading [s], ranges of this object so far, and a ring of times and ranges
_NOW, _SEEN, _RING = 0, 1, 2

# Entries of a rule: length of the window [s], limit [m/s]; from _LEAST on Student's factor for that many readings
_LENGTH, _LIMIT = 0, 1


def new_rule(window_s: float, period_s: float, still_below_m_s: float) -> Float:
    """Rule for `judged`: readings of a period [s] in a window [s] that holds three at least."""
    from scipy.special import stdtrit

    most = max(_LEAST, math.floor(window_s / period_s * _JUST) + 1)
    rule = np.zeros(most + 1)
    rule[_LENGTH], rule[_LIMIT] = window_s, still_below_m_s
    rule[_LEAST:] = -stdtrit(np.arange(_LEAST, most + 1) - 2.0, CHANCE)
    return rule


def window_columns(rule: Float) -> int:
    """Numbers of a window for `judged`; zeros are an empty one."""
    return _RING + 2 * (len(rule) - 1)


@jit.function
def empty(window: Float) -> None:
    """Begin a new object."""
    window[_SEEN] = 0.0


@jit.function
def judged(window: Float, rule: Float, interval_s: float, range_m: float) -> float:
    """Add the next range of the same object and judge; a range that is not finite is ignored.

    Args:
        window: Of one sensor, shape (window_columns(rule),), changed in place.
        rule: Of `new_rule`.
        interval_s: Time since the reading before [s].
        range_m: The range [m].

    Returns:
        A number of `Verdict`.
    """
    window[_NOW] += interval_s
    if not math.isfinite(range_m):
        return _UNKNOWN
    most, seen = np.int64(len(rule) - 1), np.int64(window[_SEEN])
    at, count = _RING + 2 * (seen % most), seen + 1
    window[_SEEN], window[at], window[at + 1] = count, window[_NOW], range_m

    # From the newest back: sums of times and ranges that count from it
    t1 = t2 = r1 = r2 = tr = 0.0
    for n in range(1, min(count, most) + 1):
        k = _RING + 2 * ((count - n) % most)
        t, r = window[k] - window[_NOW], window[k + 1] - range_m
        if n > _LEAST and -t > rule[_LENGTH] * _JUST:
            break
        t1, t2, r1, r2, tr = t1 + t, t2 + t * t, r1 + r, r2 + r * r, tr + t * r
        if n < _LEAST:
            continue
        s_tt, s_tr = t2 - t1 * t1 / n, tr - t1 * r1 / n
        slope = s_tr / s_tt
        scatter = max(r2 - r1 * r1 / n - slope * s_tr, n * (_ROUNDING * range_m) ** 2)
        uncertain = rule[n] * math.sqrt(scatter / (n - 2) / s_tt)
        if abs(slope) > uncertain and abs(slope) >= rule[_LIMIT]:
            return _APPROACHING if slope < 0.0 else _RECEDING
        if uncertain <= rule[_LIMIT]:
            return _STILL
    return _UNKNOWN if count < _LEAST else _STILL
