"""The two ends of a sweep whose rays other processes cast: aiming as in the sweep's kernel, and its readings.

`sweep` does both in one go, in cache. Here rays leave for other processes between the two halves; both use the
functions of that kernel, so that the bytes are the same.
"""

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK, NO_HIT, new_block
from sensorium.tracing.kernels import sweep
from sensorium.tracing.kernels.geometry import rows


@jit.kernel
def aim_sweep(first, step, count, aim, far, errors, out):
    """Rays of the blocks first, first + step, ... of all heads, in float32 around the anchors.

    Args:
        first, step, count: Share of the blocks; every head has as many.
        aim: `SweepAim`.
        far: Length of the rays [m].
        errors: `RayErrors`, or None.
        out: `Rays` to fill, (heads x rays) rows.
    """
    rays, heads = aim.rays, aim.heads
    block, _ = new_block() if errors is None else rows.new_scratch()
    total = rays.x.shape[0]
    blocks = (total + BLOCK - 1) // BLOCK
    for number in range(first, count, step):
        head, start = number // blocks, (number % blocks) * BLOCK
        used = min(total, start + BLOCK) - start
        _aim(block, rays, heads, head, start, used)
        if errors is not None:
            sweep.send_astray(block, rays, heads, errors, head, start, used)
        for k in range(used):
            row = head * total + start + k
            for axis in range(3):
                out.origin[row, axis] = block[pk.B_ORIGIN_X + axis * BLOCK + k]
                out.direction[row, axis] = block[pk.B_DIRECTION_X + axis * BLOCK + k]
            out.time[row], out.t_max[row], out.world[row] = block[pk.B_TIME + k], far, 0


@jit.kernel
def write_sweep(first, step, count, aim, limits, in_world, found, errors, out):
    """Readings of the blocks first, first + step, ... of all heads, from the hits of their rays.

    Args:
        first, step, count: Share of the blocks.
        aim: `SweepAim`.
        limits: Least range that returns, and length of the rays [m], float32 (2,).
        in_world: Write points in world coordinates instead of the sensor frame.
        found: `RawHits` of the rays, (heads x rays) rows.
        errors: `RayErrors`, or None.
        out: `SweepOutputs`.
    """
    rays, heads, anchor = aim
    block, hit = new_block() if errors is None else rows.new_scratch()
    total = rays.x.shape[0]
    blocks = (total + BLOCK - 1) // BLOCK
    for number in range(first, count, step):
        head, start = number // blocks, (number % blocks) * BLOCK
        end = min(total, start + BLOCK)
        used, row = end - start, head * total + start
        _aim(block, rays, heads, head, start, used)
        for k in range(used):
            block[pk.B_T_FAR + k] = found.range_m[row + k]
            hit[pk.B_INSTANCE + k] = np.uint32(0) if found.object_id[row + k] >= 0 else NO_HIT
        if errors is not None:
            sweep.spoil_block(block, hit, rays, heads, errors, head, start, used)
        sweep.keep_returns(block, hit, limits[0], heads.start[head], used)
        for k in range(used):
            there = hit[pk.B_INSTANCE + k] != NO_HIT
            out.range_m[head, start + k] = block[pk.B_T_FAR + k]
            out.object_id[head, start + k] = found.object_id[row + k] if there else -1
            out.face_id[head, start + k] = found.face_id[row + k] if there else -1
            out.label[head, start + k] = found.label[row + k] if there else -1
        points = out.points[head, start:end]
        if in_world:
            sweep.write_points_in_world(block, hit, anchor[heads.world[head]], points, used)
        else:
            sweep.write_points(block, rays.x[start:end], rays.y[start:end], rays.z[start:end], points, used)
            if rays.origin.shape[0] > 0:
                sweep.shift_points(hit, rays.origin[start:end], points, used)


@jit.function
def _aim(block, rays, heads, head, start, used):
    """Rays of one block, transformed to the world as in `sweep`."""
    end = start + used
    x, y, z, time = rays.x[start:end], rays.y[start:end], rays.z[start:end], rays.time[start:end]
    sweep.aim_block(block, x, y, z, time, heads.matrix[head], heads.time, used)
    if rays.origin.shape[0] > 0:
        sweep.shift_block(block, rays.origin[start:end], heads.matrix[head], heads.time, used)
