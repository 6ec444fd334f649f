"""Which part of a scene a ray looks into next: where it enters each part's box, and which hit is the nearer.

A box is widened by more than float32 can be off, so that a part is asked whenever it may have the nearest hit.
"""

import numpy as np

from sensorium import jit
from sensorium.trace.edges import on_edge

# Boxes are widened by so much [m] and by this share of how far they are, some eighty units of float32's last place
MARGIN_M = 1e-3
MARGIN_PART = 1e-5


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
                margin = _margin(origin[ray], low[part], high[part])

                # The stretch of the ray that is between all three pairs of planes
                enter, leave = 0.0, np.float64(t_max[ray])
                for axis in range(3):
                    start, along = origin[ray, axis], np.float64(direction[ray, axis])
                    a, b = low[part, axis] - margin - start, high[part, axis] + margin - start
                    if along != 0.0:
                        near, far = a / along, b / along
                        enter, leave = max(enter, min(near, far)), min(leave, max(near, far))
                    elif a > 0.0 or b < 0.0:
                        leave = -1.0
                out[ray, part] = enter if enter <= leave else np.inf


@jit.function
def _margin(start, low, high):
    """How much a box is widened for a ray from there [m]: by how far the box goes from the ray's start."""
    reach = 0.0
    for axis in range(3):
        reach = max(reach, high[axis] - start[axis], start[axis] - low[axis])
    return MARGIN_M + MARGIN_PART * reach


@jit.kernel
def choose_next(first, step, count, block, entry, known, out):
    """The part that each ray asks next: the first it enters, unless a hit before that ends the search.

    Args:
        first, step, count: Share of the blocks.
        block: Rays in a block.
        entry: Distance at which each ray enters each part, inf where it was asked, float32 (rays, parts) [m]; what is
            chosen becomes inf.
        known: Nearest hit so far, float32 (rays,) [m].
        out: Filled with the part, or -1 for none, int32 (rays,).
    """
    rays, parts = entry.shape
    for number in range(first, count, step):
        for ray in range(number * block, min(rays, (number + 1) * block)):
            chosen = 0
            for part in range(1, parts):
                if entry[ray, part] < entry[ray, chosen]:
                    chosen = part

            # The same margin as for boxes, since ranges are float32
            at = entry[ray, chosen]
            if at < np.inf and at <= known[ray] * (1.0 + MARGIN_PART) + MARGIN_M:
                entry[ray, chosen] = np.inf
                out[ray] = chosen
            else:
                out[ray] = -1


@jit.kernel
def take_nearer(first, step, count, block, rows, part, first_facet, found, out, out_part):
    """Take those hits of a part that are nearer than what is known, by (distance, number of the facet).

    Args:
        first, step, count: Share of the blocks.
        block: Hits in a block.
        rows: Ray of each hit, each once, (n,).
        part: The part that found them.
        first_facet: Facet number of each object's first face, int64 (objects,).
        found: `RawHits` or `LightHits` of the part, n rows.
        out: The same of all rays so far.
        out_part: Part of each hit so far, int32 (rays,).
    """
    own, out_own = found[5], out[5]  # what one kind of hits has and the other has not: so many numbers a ray
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
            for column in range(own.shape[1]):
                out_own[i, column] = own[k, column]
            out_part[i] = part


@jit.kernel
def end_on_edges(first, step, count, block, found, out):
    """Which rays end on an edge or a corner, see `trace/edges.py`.

    Args:
        first, step, count: Share of the blocks.
        block: Rays in a block.
        found: `RawHits`.
        out: Filled, bool (rays,).
    """
    for number in range(first, count, step):
        for ray in range(number * block, min(out.size, (number + 1) * block)):
            edge = on_edge(found.range_m[ray], found.barycentric[ray, 0], found.barycentric[ray, 1])
            out[ray] = edge & (found.object_id[ray] >= 0)


@jit.kernel
def share_edges(first, step, count, block, rows, rays, low, high, found, out):
    """Which parts may hold faces of the edge that a ray ends on: where several may, each is asked.

    Args:
        first, step, count: Share of the blocks.
        block: Rays in a block.
        rows: Rays that end on edges, int64 (n,).
        rays: `Rays`.
        low, high: Corners of the parts' boxes [m], float64 (parts, 3).
        found: `RawHits` of all rays.
        out: Filled with whether the part is asked, bool (n, parts).
    """
    total, parts = out.shape
    for number in range(first, count, step):
        for k in range(number * block, min(total, (number + 1) * block)):
            ray, holding = rows[k], 0
            for part in range(parts):
                margin = _margin(rays.origin[ray], low[part], high[part])
                inside = True
                for axis in range(3):
                    at = rays.origin[ray, axis] + np.float64(found.range_m[ray]) * rays.direction[ray, axis]
                    inside &= (low[part, axis] - margin <= at) & (at <= high[part, axis] + margin)
                out[k, part] = inside
                holding += inside
            if holding < 2:
                for part in range(parts):
                    out[k, part] = False
