"""Light that returns along the rays of beams, gathered per beam before returns are chosen, limited or made noisy."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import choose, rows, tree
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.arrivals import parts_of, sender_of

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
def clear_air(air_f, used):
    """No returns of the air yet, for the rays of a block."""
    for j in range(AIR_SLOTS):
        for k in range(used):
            air_f[j * choose.FLOATS_A_SLOT + choose.KEY + k] = choose.NONE


@jit.function
def add_air(air_f, air_i, arrivals, weight_of, pulse_of, batch, used):
    """Add the returns of the air along the rays of a block and their children, from their slots."""
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
    air_f, air_i = choose.new_slots(AIR_SLOTS + 1)
    return air_f, air_i, np.zeros(BLOCK + 1, np.int32)
