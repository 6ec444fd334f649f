"""The baseline: the least that tracing these rays can cost.

The same Embree scene, the same rays already in world coordinates, the same packets, blocks and threads as the sensors
use; nothing is created, shaded or looked up, and only distance and face are written.
"""

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.runtime.worker_pool import NONE, next_block, shared
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import (
    BLOCK,
    WIDTH,
    clear_hits,
    copy_lanes,
    intersect,
    new_packet,
    occluded,
    set_mask,
    use_lanes,
)


def packed(origins: NDArray[np.float32], directions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rays (scenes, n, 3) as `bare_trace` takes them, (scenes, 6, n): a row a coordinate, to be read in vectors."""
    return np.ascontiguousarray(np.concatenate([origins, directions], axis=-1).swapaxes(1, 2), np.float32)


@jit.function
def _trace(first, step, count, scenes, rays, time, mask, arguments, range_m, face):
    """The work of `bare_trace`."""
    floats, words, active = new_packet()
    set_mask(words, mask)
    total = rays.shape[2]
    blocks = (total + BLOCK - 1) // BLOCK
    block = next_block(first, step, count, NONE)
    while block < count:
        row, start = block // blocks, (block % blocks) * BLOCK
        for ray in range(start, min(total, start + BLOCK), WIDTH):
            clear_hits(words)
            use_lanes(active, min(WIDTH, total - ray))
            for k in range(WIDTH):
                floats[pk.T_FAR + k] = np.float32(1e30)
            if total - ray >= WIDTH:
                for axis in range(3):
                    copy_lanes(floats, pk.ORIGIN_X + axis * WIDTH, rays, (6 * row + axis) * total + ray)
                    copy_lanes(floats, pk.DIRECTION_X + axis * WIDTH, rays, (6 * row + 3 + axis) * total + ray)
                copy_lanes(floats, pk.TIME, time, ray)
                intersect(active.ctypes.data, scenes[row], floats.ctypes.data, arguments)
                copy_lanes(range_m, row * total + ray, floats, pk.T_FAR)
                copy_lanes(face, row * total + ray, words, pk.FACE)
                continue
            for k in range(total - ray):
                for axis in range(3):
                    floats[pk.ORIGIN_X + axis * WIDTH + k] = rays[row, axis, ray + k]
                    floats[pk.DIRECTION_X + axis * WIDTH + k] = rays[row, 3 + axis, ray + k]
                floats[pk.TIME + k] = time[ray + k]
            intersect(active.ctypes.data, scenes[row], floats.ctypes.data, arguments)
            for k in range(total - ray):
                range_m[row, ray + k], face[row, ray + k] = floats[pk.T_FAR + k], words[pk.FACE + k]
        block = next_block(first, step, count, block)


_share_trace = shared(_trace)


@jit.kernel
def bare_trace(first, step, count, scenes, rays, time, mask, arguments, range_m, face):
    """Trace a share of the blocks of rays in the coordinates of their scenes.

    Args:
        first, step, count: Share of the blocks; every scene has as many.
        scenes: Embree scenes, int64 (scenes,).
        rays: Of each scene, float32 (scenes, 6, n), see `packed`.
        time: When they are fired, float32 (n,).
        mask, arguments: As in the sensors' kernels.
        range_m, face: Filled, (scenes, n).
    """
    _share_trace(first, step, count, (scenes, rays, time, mask, arguments, range_m, face))


@jit.kernel
def bare_shadows(first, step, count, scene, origins, direction, time, mask, arguments, lit):
    """For the blocks first, first + step, ... of points (rays, 3): whether anything blocks one direction (3,)."""
    floats, words, active = new_packet()
    set_mask(words, mask)
    total = origins.shape[0]
    for block in range(first, count, step):
        start, end = block * BLOCK, min(total, (block + 1) * BLOCK)
        for ray in range(start, end, WIDTH):
            used = min(WIDTH, end - ray)
            use_lanes(active, used)
            for k in range(used):
                i = ray + k
                floats[pk.ORIGIN_X + k] = origins[i, 0]
                floats[pk.ORIGIN_Y + k] = origins[i, 1]
                floats[pk.ORIGIN_Z + k] = origins[i, 2]
                floats[pk.DIRECTION_X + k] = direction[0]
                floats[pk.DIRECTION_Y + k] = direction[1]
                floats[pk.DIRECTION_Z + k] = direction[2]
                floats[pk.TIME + k] = time[i]
                floats[pk.T_FAR + k] = 1e5
            occluded(active.ctypes.data, scene, floats.ctypes.data, arguments)
            for k in range(used):
                lit[ray + k] = floats[pk.T_FAR + k] >= 0.0
