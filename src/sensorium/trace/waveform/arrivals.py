"""Light that comes back is added to its pulse's histogram at its own time, with the shape of the pulse.

Each histogram has room for a whole pulse before its first bin and after its last, so that what arrives at the edges
needs no care. Beside the power, each bin remembers who sent most of it, by majority vote: a sender adds its power to
its own votes and takes it from those of others, and who runs out of votes is replaced (Boyer and Moore, weighted).
"""

import numpy as np

from sensorium import jit
from sensorium.optics.capture_table import captured_from_table
from sensorium.random import exp_f32
from sensorium.trace import packet as pk
from sensorium.trace.light import rows, tree
from sensorium.trace.light import tables as tb
from sensorium.trace.packet import NO_HIT
from sensorium.trace.waveform import tables as wt

# columns of the senders of a bin
S_CAUSE, S_DEPTH, S_COLUMN, S_FACE, S_MIRROR = range(5)
SENDER_COLUMNS = 5

# air whose light has been dimmed to this share no longer counts
_DIM = np.float32(1e-4)
_MOST_STEPS = 4096


@jit.function
def new_histograms(pulses, length, air):
    """Histograms for a batch of pulses, (pulses, length) each.

    Returns:
        power: Signal [W].
        mist: What of it the air sent [W]; and ends: share of the beam that ended in a bin; (0, 0) without air.
        vote, total: Votes of the sender and power of all, by bin of arrival [W].
        sender: int32 (pulses, length, SENDER_COLUMNS).
        reach: int32 (pulses, 2) first bin touched and the one after the last.
    """
    misty = pulses if air else 0
    return (
        np.zeros((pulses, length), np.float32),
        np.zeros((misty, length), np.float32),
        np.zeros((misty, length), np.float32),
        np.zeros((pulses, length), np.float32),
        np.zeros((pulses, length), np.float32),
        np.zeros((pulses, length, SENDER_COLUMNS), np.int32),
        np.zeros((pulses, 2), np.int32),
    )


@jit.function
def splat(histogram, pulse, base, phase, height):
    """Add a pulse of a height to one histogram, from the bin `base` on; `phase` is its place within, 0 to PHASES."""
    row = np.int32(phase)
    row = min(row, np.int32(wt.PHASES - 1))
    part = phase - np.float32(row)
    low, high = pulse[row], pulse[row + 1]
    there = histogram[base:]
    a, b = height * (np.float32(1.0) - part), height * part
    for j in range(pulse.shape[1]):
        there[j] += a * low[j] + b * high[j]


@jit.inlined
def place_of(number, opl):
    """Place of an arrival in the window [bins]: a whole number is the beginning of a bin."""
    return (opl - number[wt.W_START_M]) * number[wt.W_BINS_A_M]


@jit.function
def is_seen(number, u, v, z):
    """Whether the receiver sees a ray's light at the reduced path z: inside its field, at first as wide as itself."""
    x = u * (number[wt.W_EXIT_RADIUS] + z * number[wt.W_TAN_ALONG]) - number[wt.W_FIELD_OFFSET]
    y = v * (number[wt.W_EXIT_RADIUS] + z * number[wt.W_TAN_ACROSS])
    radius = number[wt.W_FIELD_RADIUS] + z * number[wt.W_FIELD_TAN]
    return x * x + y * y <= radius * radius


@jit.function
def add_surfaces(block, hit, tables, histograms, weight_of, pulse_of, sub_of, children, used):
    """Add what surfaces of a batch send back.

    Args:
        block, hit: Scratch, shaded.
        tables: `WaveformTables`.
        histograms: Of `new_histograms`.
        weight_of, pulse_of, sub_of: Of the first rays.
        children: Whether it is a batch of children, whose paths have a depth and a cause; where first rays end, the
            air before them ends too.
        used: Rays in the batch.
    """
    power, _, ends, vote, total, sender, reach = histograms
    number, pulse = tables.number, tables.pulse
    taps = pulse.shape[1]
    last = power.shape[1] - taps
    for k in range(used):
        if hit[rows.COLUMN + k] == NO_HIT:
            continue
        ray, t = hit[rows.RAY + k], block[pk.B_T_FAR + k]
        z = block[rows.PATH_Z + k] + block[rows.WIDENING + k] * t
        opl = block[rows.PATH_OPL + k] + block[rows.MEDIUM_N + k] * t
        place = place_of(number, opl)
        p, bin = pulse_of[ray], np.int32(np.floor(place))
        base = bin + tables.first_tap + taps
        if base < 0 or base > last:
            continue
        phase = (place - np.float32(bin)) * np.float32(wt.PHASES)
        if not children and ends.shape[0] > 0:
            splat(ends[p], pulse, base, phase, weight_of[ray] / number[wt.W_PULSE_SUM])
            reach[p, 0], reach[p, 1] = min(reach[p, 0], base), max(reach[p, 1], base + taps)
        strength = block[rows.STRENGTH + k] * weight_of[ray]
        if strength <= np.float32(0.0) or not is_seen(number, tables.u[sub_of[ray]], tables.v[sub_of[ray]], z):
            continue
        splat(power[p], pulse, base, phase, strength)
        reach[p, 0], reach[p, 1] = min(reach[p, 0], base), max(reach[p, 1], base + taps)

        # Who sent it
        at = bin + taps
        if at < 0 or at >= power.shape[1]:
            continue
        column, mirror, depth, cause = np.int32(hit[rows.COLUMN + k]), np.int32(-1), np.int32(0), tb.BY_SURFACE
        if children:
            mirror, depth = np.int32(hit[rows.MIRROR + k]), tree.depth_of(hit[rows.NODE + k])
            cause = tb.BY_REFLECTION if hit[rows.MIRROR + k] != NO_HIT else tb.BY_TRANSMISSION
        total[p, at] += strength
        own = sender[p, at]
        if own[S_COLUMN] == column and own[S_MIRROR] == mirror and own[S_DEPTH] == depth and vote[p, at] > 0.0:
            vote[p, at] += strength
        elif strength > vote[p, at]:
            vote[p, at] = strength - vote[p, at]
            own[S_CAUSE], own[S_DEPTH], own[S_COLUMN], own[S_MIRROR] = cause, depth, column, mirror
            own[S_FACE] = np.int32(hit[pk.B_FACE + k])
        else:
            vote[p, at] -= strength


@jit.function
def add_air_of_children(block, hit, light, tables, histograms, weight_of, pulse_of, sub_of, used):
    """Add what the air along children's segments sends back, in steps of half a pulse."""
    power, mist, _, _, _, _, reach = histograms
    number, pulse, media = tables.number, tables.pulse, light.medium
    taps = pulse.shape[1]
    last = power.shape[1] - taps
    passes, inverse_z0 = np.float32(light.switch[tb.S_ROUND_TRIP]), light.number[tb.N_INVERSE_Z0]
    for k in range(used):
        medium = hit[rows.MEDIUM + k]
        beta = tables.backscatter[medium]
        if beta <= np.float32(0.0):
            continue
        ray, end = hit[rows.RAY + k], block[pk.B_T_FAR + k]
        p, u, v = pulse_of[ray], tables.u[sub_of[ray]], tables.v[sub_of[ray]]
        steps = min(np.int64(end / number[wt.W_AIR_STEP_M]) + 1, _MOST_STEPS)
        step = min(end / np.float32(steps), number[wt.W_AIR_STEP_M])
        kept = block[rows.GAIN + k] * weight_of[ray] * beta * step
        for i in range(steps):
            x = (np.float32(i) + np.float32(0.5)) * step
            lost = exp_f32(-passes * media[medium, tb.G_ALPHA] * x)
            if lost < _DIM:
                break
            z = block[rows.PATH_Z + k] + x * media[medium, tb.G_WIDENING]
            place = place_of(number, block[rows.PATH_OPL + k] + media[medium, tb.G_INDEX] * x)
            bin = np.int32(np.floor(place))
            base = bin + tables.first_tap + taps
            if base < 0 or base > last or not is_seen(number, u, v, z):
                continue
            phase = (place - np.float32(bin)) * np.float32(wt.PHASES)
            height = kept * lost * captured_from_table(light.capture, z, inverse_z0)
            splat(power[p], pulse, base, phase, height)
            splat(mist[p], pulse, base, phase, height)
            reach[p, 0], reach[p, 1] = min(reach[p, 0], base), max(reach[p, 1], base + taps)


@jit.function
def add_air(tables, histograms, medium, p):
    """Add what the air before the first surfaces sends back: all of it, less the share of the beam that has ended."""
    power, mist, ends, _, _, _, reach = histograms
    taps, bins = tables.pulse.shape[1], tables.air_bins[medium]
    if bins == 0:
        return
    air, ended = tables.air[medium], np.float32(0.0)
    for b in range(taps + bins):
        ended += ends[p, b]
        there = air[b] * max(np.float32(1.0) - ended, np.float32(0.0))
        power[p, b] += there
        mist[p, b] += there
    reach[p, 0], reach[p, 1] = 0, max(reach[p, 1], taps + bins)


@jit.function
def clear(histograms, p):
    """Empty the histograms of a pulse where they were touched."""
    power, mist, ends, vote, total, _, reach = histograms
    length = power.shape[1]
    for b in range(max(reach[p, 0], 0), min(reach[p, 1], length)):
        power[p, b] = np.float32(0.0)
        vote[p, b], total[p, b] = np.float32(0.0), np.float32(0.0)
    if mist.shape[0] > 0:
        for b in range(max(reach[p, 0], 0), min(reach[p, 1], length)):
            mist[p, b], ends[p, b] = np.float32(0.0), np.float32(0.0)
    reach[p, 0], reach[p, 1] = length, 0
