"""Errors of a lidar's rays that need no light: beams that go astray, noise and bias of ranges, dropout, limits."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.random import draw_words, normal_pair_f32
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT
from sensorium.tracing.kernels.light import rows, shade
from sensorium.tracing.kernels.light import tables as tb


class RayErrors(NamedTuple):
    """Errors of one sweep of a geometric lidar, and where their random numbers come from."""

    number: NDArray[np.float32]  # (NUMBERS,) as `LightTables.number`
    key: NDArray[np.uint32]  # (2,)
    tick: int
    first_world: int
    sensors: int


@jit.function
def numbers_of(rays, heads, draws, head, start):
    """Where a block's random numbers come from: its first ray among those of its world, and the world's number."""
    return np.int64(head % draws.sensors) * rays.x.shape[0] + start, draws.first_world + heads.world[head]


@jit.function
def jitter(block, draws, element, among, sigma, used):
    """Tilt each ray by two small normal angles across it [rad]."""
    for k in range(used):
        w0, w1, _, _ = draw_words(
            draws.key[0], draws.key[1], element + k, shade.STAGE_JITTER, shade.FIRST_DRAW, draws.tick, among
        )
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
    """Back to the directions the sensor believes in: points lie on the nominal rays."""
    for k in range(used):
        block[pk.B_DIRECTION_X + k] = block[rows.NOMINAL_X + k]
        block[pk.B_DIRECTION_Y + k] = block[rows.NOMINAL_Y + k]
        block[pk.B_DIRECTION_Z + k] = block[rows.NOMINAL_Z + k]


@jit.inlined
def noisy_range(x, normal, base, slope, square, bias):
    """Range x [m] with its errors: x + bias + (base + slope x + square x^2) normal."""
    return x + bias + (base + x * (slope + x * square)) * normal


@jit.function
def spoil_hits(block, hit, number, used):
    """Put noise on the distances of hits; those that drop out or lie outside the limits then are misses.

    Args:
        block, hit: Scratch with hits, and with draws in rows NORMAL and DROPOUT.
        number: Numbers of the sensor, see tables.py.
        used: Rays in the block.
    """
    base, slope, square = number[tb.N_NOISE_BASE], number[tb.N_NOISE_SLOPE], number[tb.N_NOISE_SQUARE]
    bias, dropout, least, most = number[tb.N_BIAS], number[tb.N_DROPOUT], number[tb.N_LEAST], number[tb.N_MOST]
    for k in range(used):
        noisy = noisy_range(block[pk.B_T_FAR + k], block[rows.NORMAL + k], base, slope, square, bias)
        reported = (block[rows.DROPOUT + k] >= dropout) & (noisy >= least) & (noisy <= most)
        block[pk.B_T_FAR + k] = noisy
        hit[pk.B_INSTANCE + k] = hit[pk.B_INSTANCE + k] if reported else NO_HIT
