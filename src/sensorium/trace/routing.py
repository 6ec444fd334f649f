"""Which part of a scene a ray looks into next: where it enters each part's box, and which hit is the nearer.

A box is widened by more than float32 can be off, so that a part is asked whenever it may have the nearest hit.
"""

import numpy as np

from sensorium import jit

# Boxes are widened by so much [m] and by this share of how far they are, some eighty units of float32's last place
MARGIN_M = 1e-3
MARGIN_PART = 1e-5


@jit.function
def _entry(origin, direction, t_max, low, high):
    """Distance at which one ray enters one box, widened [m]; inf where it does not."""
    # As far as the box goes from the ray's start
    reach = 0.0
    for axis in range(3):
        reach = max(reach, abs(low[axis] - origin[axis]), abs(high[axis] - origin[axis]))
    margin = MARGIN_M + MARGIN_PART * reach

    # The stretch of the ray that is between all three pairs of planes
    enter, leave = 0.0, np.float64(t_max)
    for axis in range(3):
        a, b = low[axis] - margin - origin[axis], high[axis] + margin - origin[axis]
        d = np.float64(direction[axis])
        if d == 0.0:
            if a > 0.0 or b < 0.0:
                return np.inf
        else:
            near, far = a / d, b / d
            enter, leave = max(enter, min(near, far)), min(leave, max(near, far))
    return enter if enter <= leave else np.inf


@jit.kernel
def enter_parts(first, step, count, block, origin, direction, t_max, low, high, out):
    """Distance at which each ray enters each part's box, inf where it passes by or would have to go too far.

    Args:
        first, step, count: Share of the blocks.
        block: Rays in a block.
        origin: float64 (rays, 3) [m].
        direction: Unit, float32 (rays, 3).
        t_max: How far each ray looks [m], float32 (rays,).
        low, high: Corners of the boxes [m], float64 (parts, 3).
        out: Filled, float32 (rays, parts) [m].
    """
    rays, parts = out.shape
    for number in range(first, count, step):
        for ray in range(number * block, min(rays, (number + 1) * block)):
            for part in range(parts):
                out[ray, part] = _entry(origin[ray], direction[ray], t_max[ray], low[part], high[part])


@jit.kernel
def take_nearer(first, step, count, block, rows, part, first_facet, found, out, out_part):
    """Take those hits of a part that are nearer than what is known, by (distance, number of the facet).

    Args:
        first, step, count: Share of the blocks.
        block: Hits in a block.
        rows: Ray of each hit, each once, (n,).
        part: The part that found them.
        first_facet: Facet number of each object's first face, int64 (objects,).
        found: `RawHits` of the part, n rows.
        out: `RawHits` of all rays so far.
        out_part: Part of each hit so far, int32 (rays,).
    """
    for number in range(first, count, step):
        for k in range(number * block, min(len(rows), (number + 1) * block)):
            i = rows[k]
            if found.object_id[k] < 0 or found.range_m[k] > out.range_m[i]:
                continue
            if found.range_m[k] == out.range_m[i] and out.object_id[i] >= 0:
                here = first_facet[found.object_id[k]] + found.face_id[k]
                if here >= first_facet[out.object_id[i]] + out.face_id[i]:
                    continue
            out.range_m[i] = found.range_m[k]
            out.object_id[i], out.face_id[i], out.label[i] = found.object_id[k], found.face_id[k], found.label[k]
            for axis in range(3):
                out.normal[i, axis] = found.normal[k, axis]
            out.barycentric[i, 0], out.barycentric[i, 1] = found.barycentric[k, 0], found.barycentric[k, 1]
            out_part[i] = part
