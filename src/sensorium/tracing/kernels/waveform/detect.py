"""Returns of a waveform: peaks found, read, and on request fitted."""

import math

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.decompose import decompose
from sensorium.tracing.kernels.waveform.timing import SPARE, read_peak, take_logarithms


@jit.inlined
def detect(samples, logs, low, high, threshold, full, number, switch, edge, rare, peaks, found):
    """Returns in samples low .. high, in order of time.

    Args:
        samples: Waveform less its background, (length,); logs: scratch for its logarithms.
        low, high: Where to look.
        threshold: Fixed, or the least, in the unit of the samples.
        full: Value of a saturated sample, infinite for none.
        number, switch, edge: Of `DetectorTables`.
        rare: Scratch of the decomposition, (SCRATCH,); empty for other detectors.
        peaks: Scratch, int32 (MOST_FOUND, 3).
        found: Filled, float64 (MOST_FOUND, FOUND_COLUMNS).

    Returns:
        How many.
    """
    count = find_peaks(samples, low, high, threshold, number, switch, peaks)
    if count > 0:
        take_logarithms(samples, logs, low, high)
    for i in range(count):
        at, begun, ended = peaks[i, 0], peaks[i, 1], peaks[i, 2]
        read_peak(samples, logs, at, begun, ended, threshold, full, number, switch, edge, found, i)
    if rare.size > 0:
        decompose(samples, low, high, full, number[wt.D_WIDTH], number[wt.D_OFFSET], found, count, rare)
    return count


@jit.kernel
def detect_rows(first, step, count, samples, threshold, full, detector, rare, places, heights, widths):
    """Returns of many waveforms, rows first, first + step, ... of samples (rows, bins); the strongest, nearest first.

    rare: One row a thread of the scratch of `detect`.
    places, heights, widths: Filled, float64 (rows, most): bins from the start, unit of the samples, bins; NaN for none.
    """
    peaks, found = np.zeros((wt.MOST_FOUND, 3), np.int32), np.zeros((wt.MOST_FOUND, wt.FOUND_COLUMNS))
    most, bins = places.shape[1], samples.shape[1]
    wave, logs = np.zeros(bins + SPARE, np.float32), np.zeros(bins + SPARE, np.float32)
    scratch = rare[first]
    numbers, switch, edge = detector.number, detector.switch, detector.edge
    for row in range(first, count, step):
        for b in range(bins):
            wave[b] = samples[row, b]
        number = detect(wave, logs, 0, bins, threshold[row], full, numbers, switch, edge, scratch, peaks, found)
        for j in range(most):
            places[row, j], heights[row, j], widths[row, j] = np.nan, np.nan, np.nan
        # The strongest that fit, in their order
        while number > most:
            weakest = 0
            for i in range(1, number):
                if found[i, wt.F_HEIGHT] < found[weakest, wt.F_HEIGHT]:
                    weakest = i
            for i in range(weakest, number - 1):
                for c in range(wt.FOUND_COLUMNS):
                    found[i, c] = found[i + 1, c]
            number -= 1
        for i in range(number):
            places[row, i], heights[row, i] = found[i, wt.F_PLACE], found[i, wt.F_HEIGHT]
            widths[row, i] = found[i, wt.F_WIDTH]


# Two peaks are separate where the valley between them lies below the lower by the threshold, and by this much of it
_LEAST_VALLEY = np.float32(1e-3)

# Photons of a pulse arrive up to this many of its full widths at half maximum from its peak: five standard deviations
_REACH = np.float32(2.2)


@jit.inlined
def find_peaks(samples, low, high, threshold, number, switch, peaks):
    """Peaks of samples low .. high.

    A peak begins where the samples exceed the threshold and have risen from the last valley by as much, and ends where
    they have fallen by as much. Within reach of a peak the noise of its own photons counts too, so that a quiet
    receiver does not take the photons of one pulse for several. Of two peaks nearer to each other than the pulse is
    wide the higher is kept; where there are more than fit, the highest.

    Args:
        samples: Waveform less its background, (length,).
        low, high: Where to look.
        threshold: Fixed threshold in the unit of the samples; CFAR has its own, and this is the least.
        number, switch: Of `DetectorTables`.
        peaks: Filled: int32 (MOST_FOUND, 3) with bin of the peak, and the valleys before and behind it.

    Returns:
        How many.
    """
    cfar, zero = switch[wt.E_KIND] == wt.BY_CFAR, np.float32(0.0)
    separation, shot = number[wt.D_WIDTH], number[wt.D_SHOT]
    count, bottom = 0, np.float32(0.0)
    reach, top_at, floor = np.uint32(_REACH * separation) + np.uint32(1), np.uint32(0), threshold * threshold
    level, drop = threshold, threshold
    b, end = np.uint32(low), np.uint32(high)
    while b < end:
        # Outside: until something rises out of the last valley
        s = samples[b]
        bottom = min(bottom, s)
        if s < threshold or s - bottom < threshold:
            b += np.uint32(1)
            continue
        if cfar:
            level, drop = _following(samples, low, high, np.int64(b), number, switch)
            level, drop = max(level, threshold), max(drop, threshold)
        rise = s - bottom
        if not (s >= level and rise >= max(drop, _LEAST_VALLEY * s)) or (
            shot > zero and count > 0 and b - top_at <= reach and rise * rise < floor + shot * s
        ):
            b += np.uint32(1)
            continue

        # Inside: until it has fallen as much
        top, top_at = s, b
        b += np.uint32(1)
        while b < end:
            s = samples[b]
            if s > top:
                top, top_at = s, b
            elif top - s >= max(drop, _LEAST_VALLEY * top) and (
                shot == zero or b - top_at > reach or (top - s) * (top - s) >= floor + shot * top
            ):
                bottom = s
                b += np.uint32(1)
                break
            b += np.uint32(1)
        count = _keep(samples, peaks, count, np.int32(top_at), separation)
    _find_valleys(samples, low, high, peaks, count)
    return count


@jit.inlined
def _find_valleys(samples, low, high, peaks, count):
    """Separate neighbors at the lowest sample between them."""
    valley = np.int32(low)
    for i in range(count):
        peaks[i, 1] = valley
        valley = np.int32(high - 1)
        if i + 1 < count:
            valley = peaks[i, 0]
            for b in range(peaks[i, 0], peaks[i + 1, 0]):
                valley = np.int32(b) if samples[b] < samples[valley] else valley
        peaks[i, 2] = valley


@jit.function
def _following(samples, low, high, b, number, switch):
    """CFAR: threshold at a bin by the noise in the cells around it, beyond guards; and that above the mean."""
    half, guard = switch[wt.E_CELLS] // 2, switch[wt.E_GUARD]
    total, squares, cells = 0.0, 0.0, 0
    # Where one side has fewer cells, the other gives more
    before, behind = min(max(b - guard - low, 0), half), min(max(high - 1 - b - guard, 0), half)
    before, behind = (
        min(2 * half - behind, max(b - guard - low, 0)),
        min(2 * half - before, max(high - 1 - b - guard, 0)),
    )
    for side in range(2):
        first = b - guard - before if side == 0 else b + guard + 1
        for i in range(first, first + (before if side == 0 else behind)):
            total += samples[i]
            squares += samples[i] * samples[i]
            cells += 1
    if cells < 2:
        return np.float32(0.0), np.float32(0.0)
    mean = total / cells
    factor = number[wt.D_CFAR_FACTOR]
    if switch[wt.E_EXPONENTIAL] > 0:
        level = factor * mean
    else:
        level = mean + factor * math.sqrt(max(squares - cells * mean * mean, 0.0) / (cells - 1))
    return np.float32(level), np.float32(level - mean)


@jit.inlined
def _keep(samples, peaks, count, at, separation):
    """Add a peak, unless a higher one is too near; returns how many there are."""
    if count > 0 and at - peaks[count - 1, 0] < separation:
        if samples[at] > samples[peaks[count - 1, 0]]:
            peaks[count - 1, 0] = at
        return count
    if count == wt.MOST_FOUND:
        # The lowest gives way, if it is lower
        lowest = 0
        for i in range(1, count):
            if samples[peaks[i, 0]] < samples[peaks[lowest, 0]]:
                lowest = i
        if samples[peaks[lowest, 0]] >= samples[at]:
            return count
        for i in range(lowest, count - 1):
            peaks[i, 0] = peaks[i + 1, 0]
        count -= 1
    peaks[count, 0] = at
    return count + 1
