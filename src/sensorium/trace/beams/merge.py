"""From what arrived along the rays of a beam to its returns: merged where the receiver cannot separate them."""

import numpy as np

from sensorium import jit
from sensorium.optics.merged_returns import end_of_return, gap, sort_by_range
from sensorium.trace import packet as pk
from sensorium.trace.beams.gather import told_of
from sensorium.trace.light import choose, rows
from sensorium.trace.light import tables as tb

# A return is mixed where other senders than its strongest have more than this share of it, ...
_OTHERS = 0.01

# ... or one sender leaves a gap in it of more than this share of the separation
_CLEAR = np.float32(0.1)


@jit.function
def merge_beams(arrivals, order, beams, light, separation, voided_before, slot_f, slot_i, used):
    """Fill the slots of beams with their returns, as `steps.offer_first` fills those of rays.

    Args:
        arrivals: `Arrivals`; order: scratch, int64 (room,).
        beams: Scratch of the beams; one that a reset made void gets a number that keeps false alarms away.
        light: `LightTables`.
        separation: Least separation of two returns, in optical path [m].
        voided_before: Beams fired before this fraction of the interval have no returns.
        slot_f, slot_i: Slots.
        used: Beams.
    """
    arrivals = jit.uncounted(arrivals)
    for j in range(light.switch[tb.S_SLOTS] + 1):
        for k in range(used):
            slot_f[j * choose.FLOATS_A_SLOT + choose.KEY + k] = choose.NONE
    for k in range(used):
        if beams[pk.B_TIME + k] < voided_before:
            beams[rows.UNIFORM + k] = np.float32(2.0)
            continue
        count, opl = arrivals.filled[k], arrivals.opl[k]
        if count == 0:
            continue
        low, high = opl[0], opl[0]
        for i in range(count):
            order[i] = i
            low, high = min(low, opl[i]), max(high, opl[i])
        if high - low > _CLEAR * separation:
            sort_by_range(opl, order, count)
        start = np.int64(0)
        while start < count:
            end = end_of_return(opl, arrivals.slack[k], arrivals.sender[k], order, start, count, separation)
            _offer(arrivals, k, order, start, end, light, separation, slot_f, slot_i)
            start = end


@jit.function
def _offer(arrivals, beam, order, start, end, light, separation, slot_f, slot_i):
    """Offer one return of a beam: the arrivals start .. end of the order, at the centroid of their light."""
    opl, power, sender = arrivals.opl[beam], arrivals.light[beam], arrivals.sender[beam]
    total, moment, first = 0.0, 0.0, opl[order[start]]
    for i in range(start, end):
        a = order[i]
        total += power[a]
        moment += np.float64(power[a]) * np.float64(opl[a] - first)
    middle, intensity = np.float32(first + moment / total), np.float32(total)
    best, most = _strongest(power, sender, order, start, end)
    mixed = total - most > _OTHERS * total
    for i in range(start, end - 1):
        between = gap(opl, arrivals.slack[beam], sender, order[i], order[i + 1])
        mixed |= between > _CLEAR * separation
    column, mirror, depth = told_of(sender[best])
    cause = tb.BY_SURFACE
    if column < 0:
        cause = tb.BY_ATMOSPHERE
    elif depth > 0:
        cause = tb.BY_REFLECTION if mirror >= 0 else tb.BY_TRANSMISSION
    number, returns, ranked = light.number, light.switch[tb.S_RETURNS], light.switch[tb.S_SLOTS]
    near, far = number[tb.N_NEAR] * number[tb.N_CALIBRATED_INDEX], number[tb.N_FAR] * number[tb.N_CALIBRATED_INDEX]
    key = choose.key_of(returns, intensity, middle, number[tb.N_THRESHOLD], near, far)
    if light.switch[tb.S_PRIORITY] > 0 and cause == tb.BY_ATMOSPHERE and key > choose.NONE:
        key = np.float32(np.inf)
    cause = tb.BY_MIXTURE if mixed else cause
    face, k = arrivals.face[beam, best], np.int32(beam)
    choose.offer(slot_f, slot_i, ranked, k, key, intensity, middle, cause, depth, column, face, mirror)
    if returns == tb.DUAL and key > choose.NONE:
        choose.offer_last(slot_f, slot_i, ranked, k, middle, intensity, cause, depth, column, face, mirror)


@jit.function
def _strongest(power, sender, order, start, end):
    """Strongest arrival of the sender of most light among some arrivals, and how much light that sender sent."""
    best, most = order[start], -1.0
    for i in range(start, end):
        who, known = sender[order[i]], False
        for j in range(start, i):
            known |= sender[order[j]] == who
            if known:
                break
        if known:
            continue
        light, peak = 0.0, order[i]
        for j in range(i, end):
            a = order[j]
            if sender[a] == who:
                light += power[a]
                peak = a if power[a] > power[peak] else peak
        if light > most:
            best, most = peak, light
    return best, most
