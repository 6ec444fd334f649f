"""When the light of a peak arrived, how high it was and how wide: a detector's way of reading one peak.

Places are in bins: sample b is the mean over [b, b + 1), so it stands at b + 1/2.
"""

import math

import numpy as np

from sensorium import jit
from sensorium.random import log_f32
from sensorium.trace.waveform import tables as wt

# samples below this share of the peak do not count for its shape, nor below this one where the peak is cut off
_HALF, _FLANK = 0.5, 0.1

# share of the peak above which a centroid is taken, less that share: samples come and go there without a jump
CENTROID_LEVEL = 0.2

_FWHM_SIGMAS = 2.0 * math.sqrt(2.0 * math.log(2.0))


@jit.inlined
def read_peak(samples, at, begun, ended, threshold, full, number, switch, edge, found, i):
    """Place, height and width of one peak, into a row of returns.

    Args:
        samples: Waveform less its background, (length,).
        at: Bin of the peak; begun, ended: the valleys around it.
        threshold: In the unit of the samples.
        full: Value of a saturated sample, infinite for none: such samples tell nothing of the shape.
        number, switch, edge: Of `DetectorTables`.
        found: Returns, (MOST_FOUND, FOUND_COLUMNS); i: the row to fill.
    """
    place, height, width = parabola(samples, at, begun, ended, full)
    found[i, wt.F_HEIGHT], found[i, wt.F_WIDTH], found[i, wt.F_PEAK] = height, width, at
    kind = switch[wt.E_KIND]
    if kind == wt.BY_THRESHOLD:
        crossing = _crossing(samples, at, begun, threshold, width)
        if crossing >= 0.0:
            place = crossing
            if switch[wt.E_CORRECT] > 0:
                place -= _edge(edge, threshold / max(height, threshold))
    elif kind == wt.BY_LEADING_EDGE:
        crossing = _crossing(samples, at, begun, number[wt.D_FRACTION] * height, width)
        if crossing >= 0.0:
            place = crossing - _edge(edge, number[wt.D_FRACTION])
    elif kind == wt.BY_CENTROID:
        place = _centroid(samples, at, begun, ended, CENTROID_LEVEL * height) - number[wt.D_OFFSET]
    else:
        place -= number[wt.D_OFFSET]
    found[i, wt.F_PLACE] = place


@jit.inlined
def parabola(samples, at, begun, ended, full):
    """Place, height and width (full, at half maximum) of the Gaussian through a peak.

    A parabola through the logarithms of the samples above half of the peak, each weighted by its square, as the noise
    of a logarithm goes with 1 / sample; exact for a Gaussian. Saturated samples are left out, and the flanks tell.
    """
    cut = samples[at] >= full
    first, last, level = at, at, (_FLANK if cut else _HALF) * samples[at]
    while first > begun and samples[first - 1] >= level:
        first -= 1
    while last < ended and samples[last + 1] >= level:
        last += 1
    if last - first < 2 or cut:
        first, last = max(first - 1, begun), min(last + 1, ended)
    s0 = s1 = s2 = s3 = s4 = y0 = y1 = y2 = 0.0
    points, scale = 0, np.float32(1.0) / samples[at]
    for b in range(first, last + 1):
        s = np.float64(samples[b])
        if s <= 0.0 or samples[b] >= full:
            continue
        x, y, w = np.float64(b - at), np.float64(log_f32(samples[b] * scale)), s * s
        s0, s1, s2, s3, s4 = s0 + w, s1 + w * x, s2 + w * x * x, s3 + w * x * x * x, s4 + w * x * x * x * x
        y0, y1, y2 = y0 + w * y, y1 + w * x * y, y2 + w * x * x * y
        points += 1
    nowhere = at + 0.5, np.float64(samples[at]), np.float64(last - first + 1)
    if points < 3:
        return nowhere
    # Cramer's rule, scaled
    m00, m01, m11 = s2 * s4 - s3 * s3, s2 * s3 - s1 * s4, s1 * s3 - s2 * s2
    det = s0 * m00 + s1 * m01 + s2 * m11
    if not det > 0.0:
        return nowhere
    a = (y0 * m00 + y1 * m01 + y2 * m11) / det
    b1 = (y0 * m01 + y1 * (s0 * s4 - s2 * s2) + y2 * (s1 * s2 - s0 * s3)) / det
    c = (y0 * m11 + y1 * (s1 * s2 - s0 * s3) + y2 * (s0 * s2 - s1 * s1)) / det
    if not c < 0.0:
        return nowhere
    x = -b1 / (2.0 * c)
    if not first - at - 1.0 <= x <= last - at + 1.0:
        return nowhere
    height = np.float64(samples[at]) * math.exp(min(a - b1 * b1 / (4.0 * c), 5.0))
    return at + 0.5 + x, height, _FWHM_SIGMAS * math.sqrt(-0.5 / c)


@jit.inlined
def _crossing(samples, at, begun, level, width):
    """Place where the rising edge before a peak of a width passes a level; -1 where it does not."""
    b = at
    while b > begun and samples[b - 1] > level:
        b -= 1
    if b == begun or samples[b] <= level:
        return -1.0
    low, high = np.float64(samples[b - 1]), np.float64(samples[b])
    straight = b - 0.5 + (level - low) / (high - low)

    # The logarithm of a Gaussian's edge is a parabola of known bend: between the two samples around the level, or
    # back from the two above it where the one below is lost in noise
    if low <= 0.2 * level:
        if b == at:
            return straight
        b, low, high = b + 1, high, np.float64(samples[b + 1])
    bend = -0.5 * (_FWHM_SIGMAS / width) ** 2
    slope, wanted = math.log(high / low) - bend, math.log(level / low)
    root = slope + math.sqrt(max(slope * slope + 4.0 * bend * wanted, 0.0))
    part = 2.0 * wanted / root if root > 0.0 else -2.0
    return b - 0.5 + part if part > -1.0 else straight


@jit.inlined
def _edge(edge, level):
    """When the rising edge of an ideal pulse passes a share of its peak, from the pulse's time 0 [bins]."""
    at = math.sqrt(max(-math.log(max(np.float64(level), 1e-30)), 0.0)) * (wt.LEVELS / wt.LOWEST)
    at = min(at, np.float64(wt.LEVELS))
    j = min(np.int64(at), wt.LEVELS - 1)
    return edge[j] + (edge[j + 1] - edge[j]) * (at - j)


@jit.inlined
def _centroid(samples, at, begun, ended, level):
    """Centre of what stands above a level around a peak."""
    b, weight, moment = at, 0.0, 0.0
    while b >= begun and samples[b] > level:
        weight += samples[b] - level
        moment += (samples[b] - level) * (b - at)
        b -= 1
    b = at + 1
    while b <= ended and samples[b] > level:
        weight += samples[b] - level
        moment += (samples[b] - level) * (b - at)
        b += 1
    return at + 0.5 + (moment / weight if weight > 0.0 else 0.0)
