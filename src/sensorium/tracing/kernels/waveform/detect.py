"""Returns of a waveform: peaks found, read, and on request fitted."""

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.decompose import decompose
from sensorium.tracing.kernels.waveform.peaks import find_peaks
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
