"""Rays of a bundle that would hit a target if nothing were in front of it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit, worker_pool
from sensorium.sensors.common.firing import cross_at
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.radar.echoes import Instant
from sensorium.sensors.radar.target_places import Places
from sensorium.tracing.embree import crossings as cr
from sensorium.tracing.rays import Rays

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


# Rays that are traced through everything at once: each has room for many crossings
_AT_ONCE = 65_536


class Bundle(NamedTuple):
    """Rays in equal cells of azimuth and elevation, row by row from the top right."""

    direction_S: NDArray[np.float32]  # (rays, 3) unit vectors
    solid_angle: Float  # (rays,) solid angle of each [sr]
    columns: int
    rows: int
    width: float  # of the field [rad]
    height: float  # of the field [rad]
    across: float  # position of each ray in its cell, from 0 to 1
    up: float


class Met(NamedTuple):
    """First hits of a bundle's rays, from each sensor."""

    object_id: NDArray[np.int32]  # (heads, rays), -1 for none
    range_m: NDArray[np.float32]  # (heads, rays) [m]
    group: Whole  # (heads, objects) first object of the target that each object is a part of


class Hidden(NamedTuple):
    """Rays that would hit a target; one row a ray and target."""

    head: Whole
    ray: Whole
    group: Whole
    """First object of the target."""
    range_m: Float
    """Distance at which the ray would hit it first [m]."""


def hidden_rays(rig: Rig, instant: Instant, bundle: Bundle, met: Met, places: Places, farthest_m: float) -> Hidden:
    """Rays that would hit a target of stated cross-section, but hit another object first.

    Args:
        rig: Mount of the sensors.
        instant: Where everything is.
        bundle: The rays.
        met: Their first hits.
        places: Targets of stated cross-section.
        farthest_m: Greatest range of echoes [m].
    """
    heads = len(met.object_id)
    known = (bundle, met, places, farthest_m)
    count, nowhere = np.zeros(heads, np.int64), np.zeros(0, np.int64)
    worker_pool.run(_blocked, heads, *known, nowhere, count, nowhere, nowhere)
    start = np.concatenate([[0], np.cumsum(count)])
    total = int(start[-1])
    ray, column = np.zeros(total, np.int64), np.zeros(total, np.int64)
    if not total:
        return Hidden(ray, ray, ray, np.zeros(0))
    worker_pool.run(_blocked, heads, *known, start, count, ray, column)

    # These rays pass through the box of a target behind their first hit; trace them to see whether they pass through it
    head = np.repeat(np.arange(heads), count)
    own = places.group[head, column]
    pieces = [slice(begin, begin + _AT_ONCE) for begin in range(0, total, _AT_ONCE)]
    at_m = np.concatenate([_ranges(rig, instant, bundle, met, head[k], ray[k], own[k]) for k in pieces])

    # One row for each ray and target, at the nearest part of the target
    order = np.lexsort((at_m, own, ray, head))
    order = order[at_m[order] <= farthest_m]
    head, ray, own, at_m = head[order], ray[order], own[order], at_m[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = (np.diff(head) != 0) | (np.diff(ray) != 0) | (np.diff(own) != 0)
    return Hidden(head[first], ray[first], own[first], at_m[first])


def _ranges(rig: Rig, instant: Instant, bundle: Bundle, met: Met, head: Whole, ray: Whole, group: Whole) -> Float:
    """Distances at which rays would hit targets if nothing else were there [m], shape (n,); inf for a miss."""
    p_WS, count = instant.X_WS.position, len(ray)
    direction_W = np.einsum("nij,nj->ni", instant.X_WS.rotation[head], bundle.direction_S[ray])
    rays = Rays(
        origin=p_WS[head],
        direction=direction_W.astype(np.float32),
        time=np.zeros(count, np.float32),
        t_max=np.full(count, np.inf, np.float32),
        world=instant.world[head].astype(np.int32),
    )
    found = cross_at(rig, instant.time_ns, p_WS.reshape(rig.worlds, rig.sensors, 3)[:, 0], rays)
    crossed = met.group[head[:, None], found.word[:, :, cr.C_COLUMN]] == group[:, None]
    crossed &= np.arange(crossed.shape[1]) < found.found[:, None]
    return np.asarray(np.where(crossed, found.number[:, :, cr.C_T].astype(np.float64), np.inf).min(axis=1))


@jit.kernel
def _blocked(
    first: int,
    step: int,
    count: int,
    bundle: Bundle,
    met: Met,
    places: Places,
    farthest_m: float,
    start: Whole,
    found: Whole,
    ray: Whole,
    column: Whole,
) -> None:
    """List rays that end on another target before they leave the box of a stated object, for some heads.

    Args:
        first, step, count: Share of the heads.
        bundle, met, places, farthest_m: As for `hidden_rays`.
        start: First row to write for each head; if it is empty, rays are counted and not written.
        found: Filled with the number of rays of each head.
        ray, column: Filled with the ray, and with the column of the places.
    """
    turn, origin, d = np.empty((3, 3)), np.empty(3), np.empty(3)
    for head in range(first, count, step):
        found[head] = 0
        for k in range(places.mesh.shape[1]):
            mesh = places.mesh[head, k]
            if mesh < 0:
                continue
            own = places.group[head, k]

            # The sensor in the object's frame, and the cells that the sphere about the object covers
            for i in range(3):
                origin[i] = 0.0
                for j in range(3):
                    turn[i, j] = places.R_SO[head, k, j, i]
                    origin[i] -= places.R_SO[head, k, j, i] * places.p_SO[head, k, j]
            right, left = places.span[head, k, 0] / bundle.width + 0.5, places.span[head, k, 1] / bundle.width + 0.5
            top, low = 0.5 - places.span[head, k, 3] / bundle.height, 0.5 - places.span[head, k, 2] / bundle.height
            begin = max(0, math.ceil(right * bundle.columns - bundle.across))
            end = min(bundle.columns, math.floor(left * bundle.columns - bundle.across) + 1)
            for row in range(
                max(0, math.ceil(top * bundle.rows - bundle.up)),
                min(bundle.rows, math.floor(low * bundle.rows - bundle.up) + 1),
            ):
                for n in range(row * bundle.columns + begin, row * bundle.columns + end):
                    hit = met.object_id[head, n]
                    if hit < 0 or met.group[head, hit] == own:
                        continue
                    for i in range(3):
                        d[i] = 0.0
                        for j in range(3):
                            d[i] += turn[i, j] * bundle.direction_S[n, j]
                    if _reaches_behind(places.boxes[mesh], origin, d, met.range_m[head, n], farthest_m):
                        if start.size:
                            ray[start[head] + found[head]] = n
                            column[start[head] + found[head]] = k
                        found[head] += 1


@jit.function
def _reaches_behind(box: Float, origin: Float, d: Float, range_m: float, farthest_m: float) -> bool:
    """Whether a ray is inside a box anywhere between a range and the farthest."""
    near, far = 0.0, farthest_m
    for i in range(3):
        if d[i] == 0.0:
            if origin[i] < box[0, i] or origin[i] > box[1, i]:
                return False
            continue
        one, other = (box[0, i] - origin[i]) / d[i], (box[1, i] - origin[i]) / d[i]
        near, far = max(near, min(one, other)), min(far, max(one, other))
    return near <= far and far >= range_m
