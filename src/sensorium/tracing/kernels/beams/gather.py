"""Light that returns along the rays of beams, gathered per beam before returns are chosen, limited or made noisy.

Arrivals that the receiver cannot separate are merged into one return.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.optics.detection.merged_returns import end_of_return, gap, sort_by_range
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import choose, rows, tree
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.limit import least_detected
from sensorium.tracing.kernels.light.steps import limits_of
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.histograms import parts_of, sender_of

# In place of the object, for light from the air: all 29 bits of a sender's object
AIR = np.int32((1 << 29) - 1)

# Returns of the air that are kept per ray
AIR_SLOTS = 8


class Arrivals(NamedTuple):
    """Returned light, (beams, room) each; `room` is that of `BeamTables`."""

    opl: NDArray[np.float32]  # optical path one way [m]
    light: NDArray[np.float32]  # intensity times the ray's share of the power
    diffuse: NDArray[np.float32]  # diffuse return straight on of the surface that sent it, 0 for the air [1/sr]
    slack: NDArray[np.float32]  # how far a ray's patch spreads it, to either side [m]
    sender: NDArray[np.int64]  # see waveform/arrivals.py
    face: NDArray[np.int32]
    filled: NDArray[np.int64]  # (beams,) how many


@jit.function
def new_arrivals(beams, room):
    """Arrays for the arrivals of a block of beams."""
    return Arrivals(
        jit.zeros((beams, room), np.float32),
        jit.zeros((beams, room), np.float32),
        jit.zeros((beams, room), np.float32),
        jit.zeros((beams, room), np.float32),
        jit.zeros((beams, room), np.int64),
        jit.zeros((beams, room), np.int32),
        jit.zeros(beams, np.int64),
    )


@jit.function
def _place(light_of, filled, light):
    """Slot of a new arrival of a beam; that of the weakest if all are in use, -1 if the new one is weaker.

    Args:
        light_of: Of those arrivals, (room,); filled: how many there are; light: of the new one.
    """
    if filled < light_of.shape[0]:
        return filled
    weakest = np.int64(0)
    for i in range(1, filled):
        weakest = i if light_of[i] < light_of[weakest] else weakest
    return weakest if light_of[weakest] < light else np.int64(-1)


@jit.inlined
def _slack(block, tables, ray, k):
    """Spread of a ray's light along the way by its patch, to either side [m of optical path]."""
    c, one = block[rows.COS + k], np.float32(1.0)
    spread = max(tables.number[wt.W_TAN_ALONG], tables.number[wt.W_TAN_ACROSS])
    z = block[rows.PATH_Z + k] + block[rows.WIDENING + k] * block[pk.B_T_FAR + k]
    slope = math.sqrt((one - c) * (one + c)) / c
    return tables.reach[ray] * (tables.number[wt.W_EXIT_RADIUS] + spread * z) * slope * block[rows.MEDIUM_N + k]


@jit.function
def add_first_surfaces(block, hit, tables, arrivals, weight_of, batch, begin, used):
    """Add the returns of surfaces that first rays hit, at most one per ray.

    Args:
        block, hit: Scratch, shaded.
        tables: `BeamTables`; arrivals: `Arrivals`.
        weight_of: Shares of power of the rays of a block, see `name_rays`.
        batch: Number of the first beam of the batch in the block of beams.
        begin: Number of the block's first ray in the batch.
        used: Rays in the block.
    """
    block, hit, tables, arrivals = jit.uncounted((block, hit, tables, arrivals))
    rays = tables.u.shape[0]
    beam, ray = batch + begin // rays, begin % rays
    for k in range(used):
        strength = block[rows.STRENGTH + k]
        if strength > np.float32(0.0):
            at = arrivals.filled[beam]
            arrivals.filled[beam] = at + 1
            arrivals.opl[beam, at] = block[rows.PATH_OPL + k] + block[rows.MEDIUM_N + k] * block[pk.B_T_FAR + k]
            arrivals.light[beam, at], arrivals.diffuse[beam, at] = strength * weight_of[k], block[rows.DIFFUSE_A + k]
            arrivals.slack[beam, at] = _slack(block, tables, ray, k)
            arrivals.sender[beam, at] = np.int64(hit[rows.COLUMN + k])  # `sender_of` without a mirror at depth 0
            arrivals.face[beam, at] = np.int32(hit[pk.B_FACE + k])
        ray += 1
        if ray == rays:
            beam, ray = beam + 1, 0


@jit.function
def add_surfaces_of_children(block, hit, tables, arrivals, weight_of, pulse_of, batch, begin, used):
    """Add the returns of surfaces that children hit; arguments as for first rays, whose numbers the children carry."""
    block, hit, tables, arrivals = jit.uncounted((block, hit, tables, arrivals))
    rays = tables.u.shape[0]
    for k in range(used):
        ray, strength = hit[rows.RAY + k], block[rows.STRENGTH + k]
        beam, light = batch + pulse_of[ray], strength * weight_of[ray]
        at = _place(arrivals.light[beam], arrivals.filled[beam], light) if strength > np.float32(0.0) else np.int64(-1)
        if at < 0:
            continue
        arrivals.filled[beam] = max(arrivals.filled[beam], at + 1)
        arrivals.opl[beam, at] = block[rows.PATH_OPL + k] + block[rows.MEDIUM_N + k] * block[pk.B_T_FAR + k]
        arrivals.light[beam, at], arrivals.slack[beam, at] = light, _slack(block, tables, (begin + ray) % rays, k)
        arrivals.diffuse[beam, at] = block[rows.DIFFUSE_A + k]
        mirror, depth = np.int32(hit[rows.MIRROR + k]), tree.depth_of(hit[rows.NODE + k])
        arrivals.sender[beam, at] = sender_of(np.int32(hit[rows.COLUMN + k]), mirror, depth)
        arrivals.face[beam, at] = np.int32(hit[pk.B_FACE + k])


@jit.function
def clear_air(air, used):
    """No returns of the air yet, for the rays of a block."""
    air_f, _ = air
    for j in range(AIR_SLOTS):
        for k in range(used):
            air_f[j * choose.FLOATS_A_SLOT + choose.KEY + k] = choose.NONE


@jit.function
def add_air(air, arrivals, weight_of, pulse_of, batch, used):
    """Add the returns of the air along the rays of a block and their children, from their slots."""
    air_f, air_i = air
    for k in range(used):
        for j in range(AIR_SLOTS):
            f, w = j * choose.FLOATS_A_SLOT + k, j * choose.WORDS_A_SLOT + k
            if air_f[f + choose.KEY] == choose.NONE:
                break
            beam, light = batch + pulse_of[k], air_f[f + choose.INTENSITY] * weight_of[k]
            at = _place(arrivals.light[beam], arrivals.filled[beam], light)
            if at < 0:
                continue
            arrivals.filled[beam] = max(arrivals.filled[beam], at + 1)
            arrivals.opl[beam, at], arrivals.light[beam, at] = air_f[f + choose.OPL], light
            arrivals.slack[beam, at], arrivals.face[beam, at] = np.float32(0.0), choose.NOBODY
            arrivals.diffuse[beam, at] = np.float32(0.0)
            arrivals.sender[beam, at] = sender_of(AIR, air_i[w + choose.MIRROR], air_i[w + choose.DEPTH])


@jit.function
def share_draws(beams, block, pulse_of, batch, used):
    """Give all rays of a beam its draw for the air: a beam has one return of the air, not one per ray."""
    for k in range(used):
        block[rows.UNIFORM + k] = beams[rows.UNIFORM + batch + pulse_of[k]]


@jit.inlined
def told_of(sender):
    """Object (-1 for the air), mirror (-1 for none) and depth of a sender."""
    column, mirror, depth = parts_of(sender)
    return choose.NOBODY if column == AIR else column, mirror, depth


@jit.function
def new_air():
    """Slots for returns of the air, and scratch of `steps.offer_media`."""
    return choose.new_slots(AIR_SLOTS + 1), np.zeros(BLOCK + 1, np.int32)


# A return is mixed where other senders than its strongest have more than this share of it, ...
_OTHERS = 0.01

# ... or one sender leaves a gap in it of more than this share of the separation
_CLEAR = np.float32(0.1)


@jit.function
def merge_beams(arrivals, order, beams, light, draws, separation, voided_before, slots, used):
    """Fill the slots of beams with their returns, as `steps.offer_first` fills those of rays.

    Args:
        arrivals: `Arrivals`; order: scratch, int64 (room,).
        beams: Scratch of the beams; one that a reset made void gets a number that keeps false alarms away.
        light: `LightTables`.
        draws: `BlockDraws`.
        separation: Least separation of two returns, in optical path [m].
        voided_before: Beams fired before this fraction of the interval have no returns.
        slots: `ReturnSlots`.
        used: Beams.
    """
    arrivals, light, draws, slots = jit.uncounted((arrivals, light, draws, slots))
    slot_f, _ = slots
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
            diffuse, face = arrivals.diffuse[k, best], arrivals.face[k, best]
            _offer(light, draws, k, np.int64(0), middle, total, diffuse, sender[best], face, False, slots)
            continue
        sort_by_range(opl, order, count)
        start = np.int64(0)
        while start < count:
            end = end_of_return(opl, slack, sender, order, start, count, separation)
            best, middle, total, mixed = _summed(opl, power, sender, order, start, end, alone)
            for i in range(start, end - 1):
                mixed |= gap(opl, slack, sender, order[i], order[i + 1]) > clear
            diffuse, face = arrivals.diffuse[k, best], arrivals.face[k, best]
            _offer(light, draws, k, start, middle, total, diffuse, sender[best], face, mixed, slots)
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


@jit.inlined
def _offer(light, draws, k, place, opl, intensity, diffuse, sender, face, mixed, slots):
    """Offer one return of a beam, the one at this place among its arrivals, to its slots."""
    slot_f, slot_i = slots
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
        noisy = least_detected(number, diffuse, intensity, draws, k, place, column < 0)
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
