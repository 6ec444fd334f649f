"""Errors of a lidar's rays that need no light: jitter of directions, noise and bias of ranges, dropout, limits."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.random import draw_words, johnson_f32, normal_pair_f32, uniform_f32
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT
from sensorium.tracing.kernels.geometry import rows

# purposes of the lidar's draws; part of the counter, so that no two share a number
STAGE_RETURN, STAGE_JITTER, STAGE_EXTRA = np.int64(1), np.int64(2), np.int64(3)
FIRST_DRAW = np.int64(0)

# entries of RayErrors.number; FAR is how far rays are traced. LEAST and MOST are the limits of ranges as reported,
# NEAR and LATE the same without noise, EARLIEST and LATEST what noise may bring between them, as the sensor counts
N_NEAR, N_LATE, N_EARLIEST, N_LATEST, N_LEAST, N_MOST, N_FAR = range(7)
N_NOISE_BASE, N_NOISE_SLOPE, N_NOISE_SQUARE, N_BIAS, N_DROPOUT, N_JITTER = range(7, 13)
N_TAIL_SHAPE, N_TAIL_SCALE = 13, 14  # see random/heavy_tails.py; shape 0 is the normal law
RAY_NUMBERS = 15


class RayErrors(NamedTuple):
    """Errors of one sweep of a geometric lidar, and counter words of their random numbers."""

    number: NDArray[np.float32]  # (RAY_NUMBERS,) at least
    noise_by_range: NDArray[np.float32]  # (2, points) range [m], factor of the noise
    key: NDArray[np.uint32]  # (2,)
    tick: int
    first_world: int
    sensors: int


class BlockDraws(NamedTuple):
    """Counter words of the random numbers of a block of rays."""

    key: NDArray[np.uint32]  # (2,)
    tick: int
    element: int  # first ray of the block, among those of its world
    world: int


@jit.function
def draws_of(rays, heads, draws, head, start):
    """`BlockDraws` of a head's rays from `start` on; draws has key, tick, first_world and sensors."""
    element = np.int64(head % draws.sensors) * rays.x.shape[0] + start
    return BlockDraws(draws.key, draws.tick, element, draws.first_world + heads.world[head])


@jit.function
def draws_from(draws, ray):
    """`BlockDraws` of the same block from another ray on."""
    return BlockDraws(draws.key, draws.tick, draws.element + ray, draws.world)


@jit.function
def draw_block(block, draws, second, used):
    """Draw for the first node of neighboring rays: atmosphere, range noise (a second number if wanted), dropout."""
    key, tick, element, world = draws
    if not second:
        for k in range(used):
            w0, w1, w2, w3 = draw_words(key[0], key[1], element + k, STAGE_RETURN, FIRST_DRAW, tick, world)
            block[rows.UNIFORM + k] = uniform_f32(w0)
            n0, _ = normal_pair_f32(w1, w2)
            block[rows.NORMAL + k] = n0
            block[rows.DROPOUT + k] = uniform_f32(w3)
        return
    for k in range(used):
        w0, w1, w2, w3 = draw_words(key[0], key[1], element + k, STAGE_RETURN, FIRST_DRAW, tick, world)
        block[rows.UNIFORM + k] = uniform_f32(w0)
        n0, n1 = normal_pair_f32(w1, w2)
        block[rows.NORMAL + k], block[rows.NORMAL_2 + k] = n0, n1
        block[rows.DROPOUT + k] = uniform_f32(w3)


@jit.function
def jitter(block, draws, sigma, used):
    """Tilt each ray by two small normal angles across it [rad]."""
    key, tick, element, world = draws
    for k in range(used):
        w0, w1, _, _ = draw_words(key[0], key[1], element + k, STAGE_JITTER, FIRST_DRAW, tick, world)
        a, b = normal_pair_f32(w0, w1)
        dx, dy, dz = block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k]
        # Two axes across the ray, without a pole: Duff et al., "Building an orthonormal basis, revisited" (2017)
        sign = np.float32(1.0) if dz >= np.float32(0.0) else np.float32(-1.0)
        p = np.float32(-1.0) / (sign + dz)
        q = dx * dy * p
        ax, ay, az = np.float32(1.0) + sign * dx * dx * p, sign * q, -sign * dx
        bx, by, bz = q, sign + dy * dy * p, -dy
        a, b = a * sigma, b * sigma
        block[rows.NOMINAL_X + k], block[rows.NOMINAL_Y + k], block[rows.NOMINAL_Z + k] = dx, dy, dz
        x, y, z = dx + a * ax + b * bx, dy + a * ay + b * by, dz + a * az + b * bz
        scale = np.float32(1.0) / math.sqrt(x * x + y * y + z * z)
        block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k] = (
            x * scale,
            y * scale,
            z * scale,
        )


@jit.function
def straighten(block, used):
    """Restore the nominal directions: points lie on the nominal rays."""
    for k in range(used):
        block[pk.B_DIRECTION_X + k] = block[rows.NOMINAL_X + k]
        block[pk.B_DIRECTION_Y + k] = block[rows.NOMINAL_Y + k]
        block[pk.B_DIRECTION_Z + k] = block[rows.NOMINAL_Z + k]


@jit.function
def weigh_tails(block, normals, shape, scale, used):
    """Replace the normal numbers of a row by numbers of the same variance with heavier tails."""
    normal = block[normals:]
    for k in range(used):
        normal[k] = johnson_f32(normal[k], shape, scale)


@jit.inlined
def interpolated(table, at):
    """Value of a table of places, rising, and values; straight lines between, and constant beyond the ends.

    Args:
        table: float32 (2, points), at least one point; at: where.
    """
    last = table.shape[1] - 1
    if at <= table[0, 0]:
        return table[1, 0]
    for i in range(last):
        if at < table[0, i + 1]:
            share = (at - table[0, i]) / (table[0, i + 1] - table[0, i])
            return table[1, i] + share * (table[1, i + 1] - table[1, i])
    return table[1, last]


@jit.inlined
def noisy_range(x, normal, base, slope, square, bias):
    """Range x [m] with its errors: x + bias + (base + slope x + square x^2) normal."""
    return x + bias + (base + x * (slope + x * square)) * normal


@jit.function
def spoil_hits(block, hit, number, by_range, used):
    """Add noise to the distances of hits; those that drop out or then lie outside the limits become misses.

    Args:
        block, hit: Scratch with hits, and with draws in rows NORMAL and DROPOUT.
        number: Numbers of the sensor, entries as above.
        by_range: Factors of the noise, see `RayErrors.noise_by_range`.
        used: Rays in the block.
    """
    if number[N_TAIL_SHAPE] > np.float32(0.0):
        weigh_tails(block, np.int64(rows.NORMAL), number[N_TAIL_SHAPE], number[N_TAIL_SCALE], used)
    if by_range.shape[1] > 0:
        for k in range(used):
            block[rows.NORMAL + k] *= interpolated(by_range, block[pk.B_T_FAR + k])
    base, slope, square = number[N_NOISE_BASE], number[N_NOISE_SLOPE], number[N_NOISE_SQUARE]
    bias, dropout, least, most = number[N_BIAS], number[N_DROPOUT], number[N_LEAST], number[N_MOST]
    for k in range(used):
        noisy = noisy_range(block[pk.B_T_FAR + k], block[rows.NORMAL + k], base, slope, square, bias)
        reported = (block[rows.DROPOUT + k] >= dropout) & (noisy >= least) & (noisy <= most)
        block[pk.B_T_FAR + k] = noisy
        hit[pk.B_INSTANCE + k] = hit[pk.B_INSTANCE + k] if reported else NO_HIT
