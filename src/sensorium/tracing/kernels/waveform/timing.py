"""Time, height and width of one peak, as detectors read them.

Positions are in bins: sample b is the mean over [b, b + 1), so its position is b + 1/2.
"""

import math

import numpy as np

from sensorium.random import exp_f32, log_f32
from sensorium.runtime import jit
from sensorium.tracing.kernels.waveform import tables as wt

# samples below this share of the peak do not count for its shape, nor below this one where the peak is cut off
_HALF, _FLANK = 0.5, 0.1

# share of the peak above which a centroid is taken, less that share: samples come and go there without a jump
CENTROID_LEVEL = 0.2

_FWHM_SIGMAS = 2.0 * math.sqrt(2.0 * math.log(2.0))


# A corrected threshold is crossed no lower than at this share of the peak: below it the edge of a quiet receiver is a
# few photons, or the end of the pulse's table
_DEEPEST = -math.log(0.05)

# An edge that rises out of the one before is looked at no lower than twice the valley between them, as a logarithm
_OVER_VALLEY = math.log(2.0)

# An edge is looked at over this share of its w to either side, and by single samples where u is less than this
_AROUND, _TOP = 0.35, 0.15

# A line is fitted again if it led farther than this share of w; after this many times it is taken to diverge
_ROUNDS, _NEAR = 4, 0.1

# w of an ideal pulse is averaged over this many levels to either side, and is at least this [bins]
_SMOOTH, _STEEPEST = 8, 0.1

# Room behind the last sample, for a vector's width
SPARE = 8

# Logarithms are taken of no less than this
_LEAST = np.float32(1e-30)


@jit.inlined
def take_logarithms(samples, logs, low, high):
    """Logarithms of samples low .. high, all at once, for `read_peak`; what is not positive has a very low one.

    Whole vectors are filled: both arrays go on for `SPARE` numbers behind the last sample.
    """
    first = np.uint32(low)
    for i in range(np.uint32((high - low + SPARE) // SPARE * SPARE)):
        logs[first + i] = log_f32(max(samples[first + i], _LEAST))


@jit.inlined
def read_peak(samples, logs, at, begun, ended, threshold, full, number, switch, edge, found, i):
    """Place, height and width of one peak, into a row of returns.

    Args:
        samples: Waveform less its background, (length,); logs: its logarithms, of `take_logarithms`.
        at: Bin of the peak; begun, ended: the valleys around it.
        threshold: In the unit of the samples.
        full: Value of a saturated sample, infinite for none: such samples tell nothing of the shape.
        number, switch, edge: Of `DetectorTables`.
        found: Returns, (MOST_FOUND, FOUND_COLUMNS); i: the row to fill.
    """
    place, height, width, log_height, bend = parabola(samples, logs, at, begun, ended, full)
    found[i, wt.F_HEIGHT], found[i, wt.F_WIDTH], found[i, wt.F_PEAK] = height, width, at
    kind = switch[wt.E_KIND]
    if kind == wt.BY_LEADING_EDGE or (kind == wt.BY_THRESHOLD and switch[wt.E_CORRECT] > 0):
        above = -np.float64(number[wt.D_LOG_FRACTION])
        if kind == wt.BY_THRESHOLD:
            above = min(log_height - np.float64(log_f32(max(threshold, _LEAST))), _DEEPEST)
        above = max(min(above, log_height - logs[begun] - _OVER_VALLEY), 0.0)
        early, straight = _edge(edge, above)
        wider = math.sqrt(np.float64(number[wt.D_BEND]) / bend)
        place -= wider * (number[wt.D_OFFSET] - early)
        place = _edge_place(
            samples, logs, at, begun, ended, full, place, height, log_height, bend, above, wider * straight
        )
        place -= early
    elif kind == wt.BY_THRESHOLD:
        log_level = np.float64(log_f32(max(threshold, _LEAST)))
        crossing = _crossing(samples, logs, at, begun, np.float64(threshold), log_level, bend)
        place = crossing if crossing >= 0.0 else place
    elif kind == wt.BY_CENTROID:
        place = _centroid(samples, at, begun, ended, CENTROID_LEVEL * height) - number[wt.D_OFFSET]
    else:
        place -= number[wt.D_OFFSET]
    found[i, wt.F_PLACE] = place


@jit.inlined
def parabola(samples, logs, at, begun, ended, full):
    """Place, height and width (full, at half maximum) of the Gaussian through a peak; log of the height, and bend.

    A parabola through the logarithms of the samples above half of the peak, each weighted by its square, as the noise
    of a logarithm goes with 1 / sample; exact for a Gaussian. Saturated samples are left out, and the flanks tell. The
    bend is the parabola's factor of x^2, x in bins.
    """
    top = samples[at]
    cut = top >= full
    first, last, level = at, at, np.float32(_FLANK if cut else _HALF) * top
    while first > begun and samples[first - 1] >= level:
        first -= 1
    while last < ended and samples[last + 1] >= level:
        last += 1
    if last - first < 2 or cut:
        first, last = max(first - 1, begun), min(last + 1, ended)
    s0 = s1 = s2 = s3 = s4 = y0 = y1 = y2 = 0.0
    points, scale, log_top = 0, np.float32(1.0) / top, logs[at]
    for b in range(first, last + 1):
        if samples[b] <= np.float32(0.0) or samples[b] >= full:
            continue
        s, x, y = np.float64(samples[b] * scale), np.float64(b - at), np.float64(logs[b] - log_top)
        w = s * s
        wx, wy = w * x, w * y
        wxx = wx * x
        s0, s1, s2, s3, s4 = s0 + w, s1 + wx, s2 + wxx, s3 + wxx * x, s4 + wxx * (x * x)
        y0, y1, y2 = y0 + wy, y1 + wy * x, y2 + wy * (x * x)
        points += 1

    # Cramer's rule
    m00, m01, m11 = s2 * s4 - s3 * s3, s2 * s3 - s1 * s4, s1 * s3 - s2 * s2
    det = s0 * m00 + s1 * m01 + s2 * m11
    if points >= 3 and det > 0.0:
        inverse = 1.0 / det
        c = (y0 * m11 + y1 * (s1 * s2 - s0 * s3) + y2 * (s0 * s2 - s1 * s1)) * inverse
        if c < 0.0:
            a = (y0 * m00 + y1 * m01 + y2 * m11) * inverse
            b1 = (y0 * m01 + y1 * (s0 * s4 - s2 * s2) + y2 * (s1 * s2 - s0 * s3)) * inverse
            flat = -0.5 / c
            x = b1 * flat
            if first - at - 1.0 <= x <= last - at + 1.0:
                rise = min(a + 0.5 * b1 * x, 5.0)
                height = np.float64(top * exp_f32(np.float32(rise)))
                return at + 0.5 + x, height, _FWHM_SIGMAS * math.sqrt(flat), log_top + rise, c
    width = np.float64(last - first + 1)
    bend = -0.5 * (_FWHM_SIGMAS / width) ** 2
    return at + 0.5, np.float64(top), width, np.float64(log_top), bend


@jit.inlined
def _edge_place(samples, logs, at, begun, ended, full, expected, height, log_height, bend, above, straight):
    """Position where the rising edge of a peak passes a level, from all samples around it.

    A crossing between single samples depends on noise: white noise in bins much shorter than the pulse crosses early,
    or late when searched backward from the peak. So the pulse through the peak predicts the position, and a straight
    line through the residuals of the samples, evaluated there, gives the distance of the edge from the prediction: no
    sample is selected by its noise. Around the position x_0 of a level e^-u^2 of the peak the edge is that of h exp(-(u
    - (x - x_0) / w)^2), with the pulse's w there; a Gaussian has sqrt(2) sigma everywhere. An edge that is far from the
    prediction, such as that of a weaker pulse just before, is where the samples cross.

    Args:
        samples, logs, at, begun, ended, full: As for `read_peak`.
        expected: Place where the pulse through the peak passes the level.
        height, log_height, bend: Of the Gaussian through the peak, see `parabola`.
        above: Logarithm of the height over the level, u^2.
        straight: w, how far the edge goes while u changes by 1 [bins].
    """
    u = math.sqrt(above)
    level = height * np.float64(exp_f32(np.float32(-above)))

    # The line's value at the expected place, by least squares over the samples around it; once more from where it leads
    half, place, inverse = max(_AROUND * straight, 1.0), expected, 1.0 / straight
    for _ in range(_ROUNDS if u > _TOP else 0):
        first, last = max(math.ceil(place - 0.5 - half), begun), min(math.floor(place - 0.5 + half), ended)
        s0 = s1 = s2 = y0 = y1 = 0.0
        for b in range(first, last + 1):
            if samples[b] >= full:
                continue
            x = b + 0.5 - place
            off = u - x * inverse
            y = np.float64(samples[b]) - height * np.float64(exp_f32(np.float32(-off * off)))
            s0, s1, s2, y0, y1 = s0 + 1.0, s1 + x, s2 + x * x, y0 + y, y1 + x * y
        det = s0 * s2 - s1 * s1
        if s0 < 2.0 or det <= 0.0:
            break
        shift = -(s2 * y0 - s1 * y1) * straight / (det * 2.0 * u * level)
        place += shift
        if abs(place - expected) > max(straight, 1.0):
            break
        if abs(shift) < _NEAR * straight:
            return place
    crossing = _crossing(samples, logs, at, begun, level, log_height - above, bend)
    return crossing if crossing >= 0.0 else expected


@jit.inlined
def _crossing(samples, logs, at, begun, level, log_level, bend):
    """Place where the rising edge before a peak of a bend passes a level; -1 where it does not."""
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
        b += 1
    slope, wanted = np.float64(logs[b] - logs[b - 1]) - bend, log_level - logs[b - 1]
    root = slope + math.sqrt(max(slope * slope + 4.0 * bend * wanted, 0.0))
    part = 2.0 * wanted / root if root > 0.0 else -2.0
    return b - 0.5 + part if part > -1.0 else straight


@jit.inlined
def _edge(edge, log_above):
    """When the rising edge of an ideal pulse passes a level, from the pulse's time 0, and its w there [bins].

    Args:
        edge: Of `DetectorTables`.
        log_above: Logarithm of the peak over the level.
    """
    at = min(math.sqrt(log_above) * (wt.LEVELS / wt.LOWEST), np.float64(wt.LEVELS))
    j = min(np.int64(at), wt.LEVELS - 1)
    first, last = max(j - _SMOOTH, 0), min(j + 1 + _SMOOTH, wt.LEVELS)
    straight = (edge[first] - edge[last]) * (wt.LEVELS / wt.LOWEST) / (last - first)
    return edge[j] + (edge[j + 1] - edge[j]) * (at - j), max(straight, _STEEPEST)


@jit.inlined
def _centroid(samples, at, begun, ended, level):
    """Centroid of the samples above a level around a peak."""
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
