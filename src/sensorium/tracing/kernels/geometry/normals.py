"""Hit object of each ray of a block, its normal in world axes, and the angle of incidence."""

import math

import numba
import numpy as np

from sensorium.runtime import jit
from sensorium.runtime.jit import pointer_from_address
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT
from sensorium.tracing.hits import normal_in_world
from sensorium.tracing.kernels.geometry import rows
from sensorium.tracing.placement.motion import AFFINE_WORDS

# Rays that are compared together, as vectors
_TOGETHER = 16


@jit.function
def find_normals(block, hit, arrays, world, used):
    """Find the object and the normal in world axes (of any length) of each hit; for a miss see `set_miss`.

    Neighboring rays mostly hit the same object, so a run of them is processed together.

    Args:
        block, hit: Scratch, traced.
        arrays: `InstanceTables`; world: world of the rays.
        used: Rays in the block.
    """
    first, column_first, columns = np.uint32(arrays.first[world]), arrays.column_first, arrays.columns
    k = 0
    while k < used:
        instance, item = hit[pk.B_INSTANCE + k], hit[pk.B_ITEM + k]
        end = end_of_run(hit, pk.B_ITEM, k, end_of_run(hit, pk.B_INSTANCE, k, used))
        if instance == NO_HIT:
            _set_misses(block[k:], hit[k:], end - k)
            k = end
            continue

        # One object: a single rotation where it does not move
        array = first + instance
        column = np.uint32(columns[np.uint32(column_first[array]) + item])
        if arrays.segments[array] == 0:
            m = numba.carray(
                pointer_from_address(arrays.buffer[array] + np.int64(item) * (4 * AFFINE_WORDS)), 12, np.float32
            )
            _turn_run(block, m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10], np.uint32(k), np.uint32(end - k))
        else:
            for i in range(k, end):
                x, y, z = block[pk.B_NORMAL_X + i], block[pk.B_NORMAL_Y + i], block[pk.B_NORMAL_Z + i]
                nx, ny, nz = normal_in_world(arrays, world, instance, item, block[pk.B_TIME + i], x, y, z)
                block[pk.B_NORMAL_X + i], block[pk.B_NORMAL_Y + i], block[pk.B_NORMAL_Z + i] = nx, ny, nz
        fill_words(hit[rows.COLUMN + k :], column, end - k)
        k = end


@jit.function
def fill_words(words, number, count):
    """Write a number into the first of some words."""
    for i in range(count):  # from 0 on, so that none can be negative: this is vector code then
        words[i] = number


@jit.function
def _set_misses(block, hit, count):
    """`set_miss` for the first rays."""
    for k in range(count):
        set_miss(block, hit, k)


@jit.function
def set_miss(block, hit, k):
    """Record that ray k hit nothing: no object, and a normal that faces the ray."""
    hit[rows.COLUMN + k] = NO_HIT
    block[pk.B_NORMAL_X + k] = -block[pk.B_DIRECTION_X + k]
    block[pk.B_NORMAL_Y + k] = -block[pk.B_DIRECTION_Y + k]
    block[pk.B_NORMAL_Z + k] = -block[pk.B_DIRECTION_Z + k]


@jit.inlined
def end_of_run(hit, row, k, used):
    """First ray after k whose number in a row of words differs from that of ray k, at most `used`."""
    words = hit[row:]
    number, end = words[k], k + 1
    while end + _TOGETHER <= used:
        differences = np.uint32(0)
        for i in range(_TOGETHER):  # numbers that cannot be negative let this be vector code
            differences |= words[np.uint64(end) + np.uint64(i)] ^ number
        if differences != np.uint32(0):
            break
        end += _TOGETHER
    while end < used and words[np.uint64(end)] == number:
        end += 1
    return end


@jit.inlined
def _turn_run(block, r0, r1, r2, r3, r4, r5, r6, r7, r8, start, count):
    """Turn the normals of a run of rays by one matrix."""
    for i in range(count):
        k = start + i
        x, y, z = (
            block[np.uint32(pk.B_NORMAL_X) + k],
            block[np.uint32(pk.B_NORMAL_Y) + k],
            block[np.uint32(pk.B_NORMAL_Z) + k],
        )
        block[np.uint32(pk.B_NORMAL_X) + k] = r0 * x + r1 * y + r2 * z
        block[np.uint32(pk.B_NORMAL_Y) + k] = r3 * x + r4 * y + r5 * z
        block[np.uint32(pk.B_NORMAL_Z) + k] = r6 * x + r7 * y + r8 * z


@jit.function
def find_incidence(block, used):
    """Normalize normals; find the angle of incidence and the side of the face."""
    for k in range(used):
        nx, ny, nz = block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k]
        scale = np.float32(1.0) / math.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = nx * scale, ny * scale, nz * scale
        dx, dy, dz = block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k]
        dot = dx * nx + dy * ny + dz * nz
        cx, cy, cz = dy * nz - dz * ny, dz * nx - dx * nz, dx * ny - dy * nx
        block[rows.SIN2 + k] = cx * cx + cy * cy + cz * cz
        block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k] = nx, ny, nz
        cosine = abs(dot)
        cosine = cosine if cosine > np.float32(1e-4) else np.float32(1e-4)
        block[rows.COS + k] = cosine if cosine < np.float32(1.0) else np.float32(1.0)
        block[rows.SIDE + k] = np.float32(1.0) if dot <= np.float32(0.0) else np.float32(-1.0)
