"""Choice of a pulse's reported returns, and the sender of each."""

import math

import numpy as np

from sensorium.random import draw_words, uniform_f32
from sensorium.runtime import jit
from sensorium.tracing.kernels.light import choose
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.waveform import histograms as hg
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.digitize import noise_of

STAGE_FALSE = np.int64(7)
_DRAW = np.int64(0)

# A return is mixed where the majority of one sender is less than this: three quarters against one
_CLEAR = np.float32(0.5)

# Without arrivals within half a pulse of a return, its sender is searched within this multiple of that distance
_WIDE = 4

# A return is a false alarm if light makes up less than this share of it
_NOISE = np.float32(0.25)


@jit.inlined
def add_false_alarm(
    found, count, number, chance, threshold, background, low, high, pads, bins, key, element, tick, world
):
    """False alarms in bins that no detector examined because no light fell there.

    Args:
        found: Returns, (MOST_FOUND, FOUND_COLUMNS); count: how many.
        number: Of `WaveformTables`.
        chance: A uniform random number, which decides.
        threshold: In the unit of the samples; one above what the noise asks for is crossed less often.
        background: Sunlight [W], which has noise.
        low, high: Between these there was light.
        pads, bins: Bins before the window and in it.
        key, element, tick, world: Counter words of the random numbers.

    Returns:
        How many returns there are now; a false alarm has peak -1 and is the last, whatever its place.
    """
    dead = bins - max(high - low, 0)
    expected = number[wt.W_FALSE_ALARM] * np.float32(dead)
    if dead <= 0 or count == wt.MOST_FOUND or chance >= expected:
        return count
    noise = np.float64(noise_of(number, background)) * number[wt.W_GAIN]
    if noise == 0.0:
        return count
    crossed = 0.5 * math.erfc(threshold / (math.sqrt(2.0) * noise))
    if chance >= -math.expm1(-min(np.float64(expected), crossed * dead)):
        return count
    w1, w2, _, _ = draw_words(key[0], key[1], element, STAGE_FALSE, _DRAW, tick, world)
    at = pads + np.int64(uniform_f32(w1) * dead)
    at = at if at < low else at + max(high - low, 0)
    found[count, wt.F_PLACE], found[count, wt.F_PEAK] = min(at, pads + bins - 1) + 0.5, -1.0
    found[count, wt.F_HEIGHT], found[count, wt.F_WIDTH] = threshold * (1.0 - 0.05 * math.log(uniform_f32(w2))), 1.0
    return count + 1


@jit.inlined
def keep_between(found, count, near, far):
    """Drop returns nearer or farther than two places [bins]; returns how many are left, in their order.

    Each limit is given without noise of the range, and with the most favorable noise: returns between the two are kept
    only if there are no others.
    """
    some = 0
    for i in range(count):
        some += np.int64(near[0] <= found[i, wt.F_PLACE] <= far[0])
    begin, end = (near[0], far[0]) if some > 0 else (near[1], far[1])
    kept = 0
    for i in range(count):
        if begin <= found[i, wt.F_PLACE] <= end:
            if kept < i:
                for c in range(wt.FOUND_COLUMNS):
                    found[kept, c] = found[i, c]
            kept += 1
    return kept


@jit.inlined
def choose_returns(found, count, returns, slots, order):
    """Rows of the returns to report, in the order of reporting, into `order` (slots,); -1 for none.

    The strongest, first or last; both the strongest and the last, which is the second strongest where they are one; or
    the strongest of all, nearest first.
    """
    for j in range(slots):
        order[j] = -1
    if count == 0:
        return
    strongest, first, last = 0, 0, 0
    for i in range(1, count):
        strongest = i if found[i, wt.F_HEIGHT] > found[strongest, wt.F_HEIGHT] else strongest
        first = i if found[i, wt.F_PLACE] < found[first, wt.F_PLACE] else first
        last = i if found[i, wt.F_PLACE] > found[last, wt.F_PLACE] else last
    if returns == tb.FIRST:
        order[0] = first
    elif returns == tb.LAST:
        order[0] = last
    elif returns == tb.STRONGEST:
        order[0] = strongest
    elif returns == tb.DUAL:
        order[0] = strongest
        if last != strongest:
            order[1] = last
        else:
            for i in range(count):
                if i != strongest and (order[1] < 0 or found[i, wt.F_HEIGHT] > found[order[1], wt.F_HEIGHT]):
                    order[1] = i
    else:
        _strongest_by_distance(found, count, slots, order)


@jit.function
def _strongest_by_distance(found, count, slots, order):
    """As many of the strongest as there are slots, nearest first."""
    kept = 0
    for i in range(count):
        stronger = 0
        for other in range(count):
            height, own = found[other, wt.F_HEIGHT], found[i, wt.F_HEIGHT]
            stronger += np.int64(height > own or (height == own and other < i))
        if stronger >= slots:
            continue
        j = kept
        while j > 0 and found[order[j - 1], wt.F_PLACE] > found[i, wt.F_PLACE]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
        kept += 1


@jit.inlined
def put_return(found, row, number, half, taps, histograms, p, samples, slots, j, k):
    """Write a return into slot j of pulse k, with its sender.

    Args:
        found: Returns; row: which.
        number: Of `WaveformTables`; half: half the width of its pulse [bins]; taps: bins before the window.
        histograms: `Histograms`; p: the pulse's number in the batch.
        samples: Of the pulse.
        slots: `ReturnSlots`; j, k: slot and pulse.
    """
    slot_f, slot_i = slots
    power, mist, sole, faces = histograms.power, histograms.mist, histograms.sole, histograms.face
    opl = np.float32(number[wt.W_START_M] + (found[row, wt.F_PLACE] - taps) / number[wt.W_BINS_A_M])
    height, peak = np.float32(found[row, wt.F_HEIGHT]), np.int64(found[row, wt.F_PEAK])
    zero, nobody = np.int32(0), choose.NOBODY
    cause, depth, column, face, mirror = tb.BY_FALSE_ALARM, zero, nobody, nobody, nobody
    if peak >= 0 and power[p, peak] * number[wt.W_GAIN] >= _NOISE * samples[peak]:
        if mist.shape[0] > 0 and mist[p, peak] > np.float32(0.5) * power[p, peak]:
            cause = tb.BY_ATMOSPHERE
        else:
            middle = np.int64(found[row, wt.F_PLACE])
            if sole[p] == hg.SEVERAL:
                who, face, clear = _voted(histograms.vote, histograms.total, histograms.sender, faces, p, middle, half)
            else:
                who, face, clear = _alone(sole, faces, p, middle, half)
            cause = tb.BY_SURFACE
            if who >= 0:
                column, mirror, depth = hg.parts_of(who)
                if depth > 0:
                    cause = tb.BY_REFLECTION if mirror >= 0 else tb.BY_TRANSMISSION
            cause = cause if clear else tb.BY_MIXTURE
    choose.put(slot_f, slot_i, np.int32(j), np.int32(k), height, height, opl, cause, depth, column, face, mirror)


@jit.inlined
def _alone(sole, faces, p, middle, half):
    """The only sender of a pulse, -1 where nothing arrived near a return, and the face that sent nearest to it."""
    for off in range(_WIDE * half + 1):
        before, behind = max(middle - off, 0), min(middle + off, faces.shape[1] - 1)
        if faces[p, before] >= 0 or faces[p, behind] >= 0:
            return sole[p], faces[p, before] if faces[p, before] >= 0 else faces[p, behind], True
    return np.int64(-1), choose.NOBODY, True


@jit.inlined
def _voted(vote, total, sender, faces, p, middle, half):
    """Sender of most of the light around a return, -1 for none, and its face; whether no other had a quarter."""
    who, face, votes, whole = np.int64(-1), choose.NOBODY, np.float32(0.0), np.float32(0.0)

    # First the return's own half width; where nothing arrived there, as on the flank of a wide return, farther off
    for reach in (half, _WIDE * half):
        for b in range(np.uint32(max(middle - reach, 0)), np.uint32(min(middle + reach + 1, vote.shape[1]))):
            if total[p, b] <= np.float32(0.0):
                continue
            whole += total[p, b]
            if sender[p, b] == who:
                votes += vote[p, b]
            elif vote[p, b] > votes:
                votes = vote[p, b] - votes
                who, face = sender[p, b], faces[p, b]
            else:
                votes -= vote[p, b]
        if whole > np.float32(0.0):
            break
    return who, face, votes >= _CLEAR * whole
