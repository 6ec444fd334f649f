"""Returns of a beam from the arrivals along its rays: merged where the receiver cannot separate them."""

import numpy as np

from sensorium.physics.optics.detection.merged_returns import end_of_return, gap, sort_by_range
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.kernels.beams.gather import told_of
from sensorium.tracing.kernels.light import choose, rows
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.limit import least_detected
from sensorium.tracing.kernels.light.steps import limits_of

# A return is mixed where other senders than its strongest have more than this share of it, ...
_OTHERS = 0.01

# ... or one sender leaves a gap in it of more than this share of the separation
_CLEAR = np.float32(0.1)


@jit.function
def merge_beams(arrivals, order, beams, light, draws, element, among, separation, voided_before, slot_f, slot_i, used):
    """Fill the slots of beams with their returns, as `steps.offer_first` fills those of rays.

    Args:
        arrivals: `Arrivals`; order: scratch, int64 (room,).
        beams: Scratch of the beams; one that a reset made void gets a number that keeps false alarms away.
        light: `LightTables`.
        draws, element, among: Counter words of the random numbers.
        separation: Least separation of two returns, in optical path [m].
        voided_before: Beams fired before this fraction of the interval have no returns.
        slot_f, slot_i: Slots.
        used: Beams.
    """
    arrivals = jit.uncounted(arrivals)
    clear = _CLEAR * separation
    for j in range(light.switch[tb.S_SLOTS] + 1):
        for k in range(used):
            slot_f[j * choose.FLOATS_A_SLOT + choose.KEY + k] = choose.NONE
    for k in range(used):
        if beams[pk.B_TIME + k] < voided_before:
            beams[rows.UNIFORM + k] = np.float32(2.0)
            continue
        count = arrivals.filled[k]
        if count == 0:
            continue
        opl, power, slack, sender = arrivals.opl[k], arrivals.light[k], arrivals.slack[k], arrivals.sender[k]
        low, high, alone = opl[0], opl[0], True
        for i in range(count):
            order[i] = i
            low, high = min(low, opl[i]), max(high, opl[i])
            alone &= sender[i] == sender[0]

        # Usually one surface sends all light, from about one range
        if alone and high - low <= clear:
            best, middle, total, _ = _summed(opl, power, sender, order, np.int64(0), count, alone)
            _offer(
                light, draws, element, among, k, np.int64(0), middle, total, arrivals.diffuse[k, best], sender[best],
                arrivals.face[k, best], False, slot_f, slot_i,
            )  # fmt: skip
            continue
        sort_by_range(opl, order, count)
        start = np.int64(0)
        while start < count:
            end = end_of_return(opl, slack, sender, order, start, count, separation)
            best, middle, total, mixed = _summed(opl, power, sender, order, start, end, alone)
            for i in range(start, end - 1):
                mixed |= gap(opl, slack, sender, order[i], order[i + 1]) > clear
            _offer(
                light, draws, element, among, k, start, middle, total, arrivals.diffuse[k, best], sender[best],
                arrivals.face[k, best], mixed, slot_f, slot_i,
            )  # fmt: skip
            start = end


@jit.function
def _summed(opl, power, sender, order, start, end, alone):
    """One return: its strongest arrival, the centroid and sum of its light, whether other senders contribute.

    The strongest arrival is that of the sender of most light.
    """
    total, moment, first, best = 0.0, 0.0, opl[order[start]], order[start]
    for i in range(start, end):
        a = order[i]
        total += power[a]
        moment += np.float64(power[a]) * np.float64(opl[a] - first)
        best = a if power[a] > power[best] else best
    others = 0.0
    if not alone:
        best, most = _strongest(power, sender, order, start, end)
        others = total - most
    return best, np.float32(first + moment / total), np.float32(total), others > _OTHERS * total


@jit.function
def _offer(
    light, draws, element, among, k, place, opl, intensity, diffuse, sender, face, mixed, slot_f, slot_i
):
    """Offer one return of a beam, the one at this place among its arrivals, to its slots."""
    column, mirror, depth = told_of(sender)
    cause = tb.BY_SURFACE
    if column < 0:
        cause = tb.BY_ATMOSPHERE
    elif depth > 0:
        cause = tb.BY_REFLECTION if mirror >= 0 else tb.BY_TRANSMISSION
    number, returns, ranked = light.number, light.switch[tb.S_RETURNS], light.switch[tb.S_SLOTS]
    near, far = limits_of(number)
    least, beam = number[tb.N_THRESHOLD], np.int32(k)
    if light.switch[tb.S_LIMIT] > 0 and intensity >= least:
        noisy = least_detected(number, diffuse, intensity, draws, element + k, place, among, column < 0)
        least = max(least, noisy)
    key = choose.key_of(returns, intensity, opl, least, near, far)
    if light.switch[tb.S_PRIORITY] > 0 and cause == tb.BY_ATMOSPHERE and key > choose.NONE:
        key = np.float32(np.inf)
    cause = tb.BY_MIXTURE if mixed else cause
    choose.offer(slot_f, slot_i, ranked, beam, key, intensity, opl, cause, depth, column, face, mirror)
    if returns == tb.DUAL and key > choose.NONE:
        choose.offer_last(slot_f, slot_i, ranked, beam, opl, intensity, cause, depth, column, face, mirror)


@jit.function
def _strongest(power, sender, order, start, end):
    """Strongest arrival of the sender of most light among some arrivals, and the light of that sender."""
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
