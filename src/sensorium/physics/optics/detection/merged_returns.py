"""Separation and merging of several returns in one beam.

A beam that falls on several surfaces sends back a pulse from each. Pulses nearer in range than the receiver's least
separation s overlap and are one return, of the power and at the centroid

    P = sum P_i        r = sum P_i r_i / P

as a detector of the middle of a pulse reports it: the mixed pixel between an edge and its background. Two returns are
separated if nothing arrives over s or more of range between them. Pulses of a width tau (full width at half maximum)
are separated from s = c tau / 2 on (Wagner et al., "Gaussian decomposition and calibration of a novel small-footprint
full-waveform digitizing airborne laser scanner", ISPRS J. 60, 2006).

Rays sample a beam. Each represents a patch of its cross-section, whose light is spread over +- its reach times
tan(theta) of range on a surface at the incidence theta: the slack. Between rays of one surface the slack of both counts
as filled, so that ground at a flat angle, which stretches pulses over meters, stays one return.
"""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked
from sensorium.runtime import jit

# Gaps between the places that are compared when sorting (Ciura, "Best increments for the average case of shellsort")
_STEPS = (701, 301, 132, 57, 23, 10, 4, 1)


@jit.function
def sort_by_range(range_m, order, count):
    """Sort numbers of arrivals, the first `count` of `order`, by their range."""
    for step in _STEPS:
        for i in range(step, count):
            number, j = order[i], i
            while j >= step and range_m[order[j - step]] > range_m[number]:
                order[j] = order[j - step]
                j -= step
            order[j] = number


@jit.function
def end_of_return(range_m, slack_m, sender, order, start, count, separation_m):
    """End of the return that begins with arrival `start`, in order: the number of the next return's first.

    Args:
        range_m, slack_m: Of all arrivals [m].
        sender: Sender of each arrival; slack counts between arrivals of one sender.
        order: Numbers of arrivals, nearest first.
        start, count: Of the order: the return's first, and how many there are.
        separation_m: Least separation s of two returns [m].
    """
    widest = slack_m[order[start]]
    for i in range(start, count):
        widest = max(widest, slack_m[order[i]])
    last, i = start, start
    while i <= last:
        a = order[i]
        k = last + 1
        while k < count and range_m[order[k]] - range_m[a] < separation_m + slack_m[a] + widest:
            b = order[k]
            if gap(range_m, slack_m, sender, a, b) < separation_m:
                last = k
            k += 1
        i += 1
    return last + 1


@jit.inlined
def gap(range_m, slack_m, sender, a, b):
    """Range without light between arrival a and the farther arrival b [m]; below 0 where a surface fills it."""
    apart = range_m[b] - range_m[a]
    return apart - (slack_m[a] + slack_m[b]) if sender[a] == sender[b] else apart


def merged_returns(range_m: ArrayLike, power: ArrayLike, *, separation_m: float) -> tuple[Array, Array]:
    """Returns that a receiver reports of one beam, nearest first: range [m] and power, in the unit it is given in.

    Args:
        range_m: Where light of the beam came back from [m], shape (arrivals,).
        power: How much came from there, above 0, same shape.
        separation_m: Least separation of two returns [m], >= 0.
    """
    ranges, powers = checked("range_m", range_m, at_least=0.0), checked("power", power, above=0.0)
    least = float(checked("separation_m", separation_m, at_least=0.0))
    if ranges.ndim != 1 or ranges.shape != powers.shape:
        raise SpecError(f"range_m has shape {ranges.shape} and power {powers.shape}; both must be (arrivals,)")
    order = np.argsort(ranges, kind="stable")
    ranges, powers = ranges[order], powers[order]
    number = np.concatenate([[0], np.cumsum(np.diff(ranges) >= least)]) if len(ranges) else np.zeros(0, np.int64)
    total = np.bincount(number, weights=powers).astype(np.float64)
    return np.bincount(number, weights=powers * ranges) / total, total
