"""Routing of rays through parts: the next part of a ray, its hits there, and the choice of the nearest hit.

A box is widened by more than the float32 rounding error, so that a part is requested whenever it may have the nearest
hit.
"""

from typing import Any

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.embree.edges import on_edge

# Boxes are widened by this much [m] and by this share of their distance, some eighty units of float32's last place
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
        t_max: Length of each ray [m], float32 (rays,).
        low, high: Corners of the boxes [m], float64 (parts, 3).
        out: Filled, float32 (rays, parts) [m].
    """
    rays, parts = out.shape
    for number in range(first, count, step):
        for ray in range(number * block, min(rays, (number + 1) * block)):
            start = (origin[ray, 0], origin[ray, 1], origin[ray, 2])
            along = (np.float64(direction[ray, 0]), np.float64(direction[ray, 1]), np.float64(direction[ray, 2]))
            each = (1.0 / along[0], 1.0 / along[1], 1.0 / along[2])  # distance for each meter along the axis
            for part in range(parts):
                margin = _margin(start, low[part], high[part])

                # The stretch of the ray that is between all three pairs of planes
                enter, leave = 0.0, np.float64(t_max[ray])
                for axis in range(3):
                    a, b = low[part, axis] - margin - start[axis], high[part, axis] + margin - start[axis]
                    if along[axis] != 0.0:
                        near, far = a * each[axis], b * each[axis]
                        enter, leave = max(enter, min(near, far)), min(leave, max(near, far))
                    elif a > 0.0 or b < 0.0:
                        leave = -1.0
                out[ray, part] = enter if enter <= leave else np.inf


@jit.function
def _margin(start, low, high):
    """Margin of a box for a ray from there [m]: by the extent of the box from the ray's start."""
    reach = 0.0
    for axis in range(3):
        reach = max(reach, high[axis] - start[axis], start[axis] - low[axis])
    return MARGIN_M + MARGIN_PART * reach


@jit.kernel
def choose_next(first, step, count, block, entry, known, out, out_count):
    """The next part of each ray: the first it enters, unless a nearer hit ends the search.

    Args:
        first, step, count: Share of the blocks.
        block: Rays in a block.
        entry: Distance at which each ray enters each part, inf where it was asked, float32 (rays, parts) [m]; what is
            chosen becomes inf.
        known: Nearest hit so far, float32 (rays,) [m].
        out: Filled with the part, or -1 for none, int32 (rays,).
        out_count: Filled with how many rays of each block ask each part, int64 (parts, blocks).
    """
    rays, parts = entry.shape
    for number in range(first, count, step):
        for part in range(parts):
            out_count[part, number] = 0
        for ray in range(number * block, min(rays, (number + 1) * block)):
            chosen, at = -1, np.float32(np.inf)
            for part in range(parts):
                if entry[ray, part] < at:
                    chosen, at = part, entry[ray, part]

            # The same margin as for boxes, since ranges are float32
            if chosen >= 0 and at <= known[ray] * (1.0 + MARGIN_PART) + MARGIN_M:
                entry[ray, chosen] = np.inf
                out_count[chosen, number] += 1
                out[ray] = chosen
            else:
                out[ray] = -1


@jit.kernel
def sort_by_part(first, step, count, block, start, chosen, place, rays, known, out, out_rows):
    """Group rays by their next part, in their order.

    Args:
        first, step, count: Share of the blocks.
        block: Rays in a block.
        start: First ray of the chunk.
        chosen: Part of each ray of the chunk, or -1 for none, int32 (rays of the chunk,).
        place: Where the rays of each block that ask a part go, int64 (parts, blocks); changed.
        rays: `Sent` with all rays.
        known: Nearest hit of each so far, float32 (all rays,) [m].
        out: `Sent`, filled but for columns of one row: those are the same for all.
        out_rows: Filled with the numbers of the rays, int64.
    """
    origins, times, limits, clears = (
        len(rays.origin) > 1,
        len(rays.time) > 1,
        len(rays.t_max) > 1,
        len(rays.clear_m) > 1,
    )
    for number in range(first, count, step):
        for k in range(number * block, min(chosen.size, (number + 1) * block)):
            if chosen[k] < 0:
                continue
            i, at = start + k, place[chosen[k], number]
            place[chosen[k], number] += 1
            out_rows[at] = i
            for axis in range(3):
                out.direction[at, axis] = rays.direction[i, axis]
            if origins:
                for axis in range(3):
                    out.origin[at, axis] = rays.origin[i, axis]
            if times:
                out.time[at] = rays.time[i]
            if clears:
                out.clear_m[at] = rays.clear_m[i]

            # Nothing farther than the known hit is needed; an equal distance is, since facets decide then
            out.t_max[at] = rays.t_max[i] if limits else rays.t_max[0]
            if known[i] < out.t_max[at]:
                out.t_max[at] = np.nextafter(known[i], np.float32(np.inf))


@jit.kernel
def unpack(first, step, count, block, sent, out):
    """Fill in `Rays` of the first world from `Sent`, whose columns of one row are the same for all.

    Args:
        first, step, count: Share of the blocks.
        block: Rays in a block.
        sent: `Sent`.
        out: Filled.
    """
    origins, times, limits = len(sent.origin) > 1, len(sent.time) > 1, len(sent.t_max) > 1
    for number in range(first, count, step):
        for ray in range(number * block, min(out.world.size, (number + 1) * block)):
            for axis in range(3):
                out.origin[ray, axis] = sent.origin[ray if origins else 0, axis]
                out.direction[ray, axis] = sent.direction[ray, axis]
            out.time[ray] = sent.time[ray if times else 0]
            out.t_max[ray] = sent.t_max[ray if limits else 0]
            out.world[ray] = 0


@jit.kernel
def keep_hits(object_id: Any, first_face: Any, faces: Any, found: Any, rows: Any) -> int:
    """Move hits to the front, without misses, and convert their objects and faces to the whole scene's numbers.

    Args:
        object_id: Of the whole, for each object of the part, int32 (objects,).
        first_face: Where the faces of each begin in the next; -1 where it is whole, int64 (objects,).
        faces: Of the whole, for each face of what was cut, int32 (faces,).
        found: `RawHits` or `LightHits` of the part, changed.
        rows: Filled with the ray of each hit, int32 (rays,).

    Returns:
        How many hits there are.
    """
    own, count = found[5], 0  # fields that only one kind of hits has: this many numbers per ray
    for i in range(rows.size):
        column = found.object_id[i]
        if column < 0:
            continue
        first, face = first_face[column], found.face_id[i]
        rows[count] = i
        found.range_m[count], found.object_id[count] = found.range_m[i], object_id[column]
        found.face_id[count] = face if first < 0 else faces[first + face]
        found.label[count] = found.label[i]
        for axis in range(3):
            found.normal[count, axis] = found.normal[i, axis]
        for k in range(own.shape[1]):
            own[count, k] = own[i, k]
        count += 1
    return count


@jit.kernel
def take_nearer(first, step, count, block, rows, part, first_facet, met, found, out, out_part):
    """Keep those hits of a part that are nearer than the known ones, by (distance, number of the facet).

    Args:
        first, step, count: Share of the blocks.
        block: Hits in a block.
        rows: Number of each ray that was sent, each once, int64.
        part: The part that found them.
        first_facet: Facet number of each object's first face, int64 (objects,).
        met: Which of these met something, int32 (n,).
        found: Their `RawHits` or `LightHits`, n rows.
        out: The same of all rays so far.
        out_part: Part of each hit so far, int32 (rays,).
    """
    own, out_own = found[5], out[5]  # fields that only one kind of hits has: this many numbers per ray
    for number in range(first, count, step):
        for k in range(number * block, min(len(met), (number + 1) * block)):
            i = rows[met[k]]
            if found.range_m[k] > out.range_m[i]:
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
    """Mask of rays that end on an edge or a corner, see `tracing/embree/edges.py`.

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
    """Parts that may hold faces of the edge that a ray ends on: if there are several, each is requested.

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
