"""Rays of a bundle that would meet a target, were nothing in front of it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit, threads
from sensorium.sensors.instant_cast import cross_at
from sensorium.sensors.radar.echoes import Instant
from sensorium.sensors.radar.target_places import Places
from sensorium.sensors.rig import Rig
from sensorium.trace import crossings as cr
from sensorium.trace.rays import Rays

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


class Bundle(NamedTuple):
    """Rays in equal cells of azimuth and elevation, row by row from the top right."""

    direction_S: NDArray[np.float32]  # (rays, 3) unit vectors
    solid_angle: Float  # (rays,) what each stands for [sr]
    columns: int
    rows: int
    width: float  # of the field [rad]
    height: float  # of the field [rad]
    across: float  # where in its cell each ray is, from 0 to 1
    up: float


class Hidden(NamedTuple):
    """Rays that would meet a target; one row a ray and target."""

    head: Whole
    ray: Whole
    group: Whole
    """First object of the target."""
    range_m: Float
    """Where the ray would meet it first [m]."""


def hidden_rays(
    rig: Rig,
    instant: Instant,
    bundle: Bundle,
    object_id: NDArray[np.int32],
    range_m: NDArray[np.float32],
    group: Whole,
    places: Places,
    boxes: Float,
    farthest_m: float,
) -> Hidden:
    """Rays whose first hit is not on a target that they would meet farther on.

    Args:
        rig: Whose rays they are.
        instant: Where everything is.
        bundle: The rays.
        object_id: What each meets first, -1 for nothing, shape (heads, rays).
        range_m: Where [m], likewise.
        group: First object of the target that each object is a part of, by head, shape (heads, objects).
        places: Targets of stated cross-section.
        boxes: Least and greatest corner of each mesh [m], shape (meshes, 2, 3).
        farthest_m: What is farther sends no echo [m].
    """
    heads = len(object_id)
    known = (bundle, object_id, range_m, group, places, boxes, farthest_m)
    count, nowhere = np.zeros(heads, np.int64), np.zeros(0, np.int64)
    threads.run(_blocked, heads, *known, nowhere, count, nowhere, nowhere)
    start = np.concatenate([[0], np.cumsum(count)])
    total = int(start[-1])
    ray, column = np.zeros(total, np.int64), np.zeros(total, np.int64)
    if not total:
        return Hidden(ray, ray, ray, np.zeros(0))
    threads.run(_blocked, heads, *known, start, count, ray, column)

    # Their boxes are behind what the rays meet: look whether they are themselves
    head = np.repeat(np.arange(heads), count)
    p_WS, R_WS = instant.X_WS.position, instant.X_WS.rotation
    direction_W = np.einsum("nij,nj->ni", R_WS[head], bundle.direction_S[ray])
    rays = Rays(
        origin=p_WS[head],
        direction=direction_W.astype(np.float32),
        time=np.zeros(total, np.float32),
        t_max=np.full(total, np.inf, np.float32),
        world=instant.world[head].astype(np.int32),
    )
    found = cross_at(rig, instant.time_ns, p_WS.reshape(rig.worlds, rig.sensors, 3)[:, 0], rays)
    own = places.group[head, column]
    crossed = group[head[:, None], found.word[:, :, cr.C_COLUMN]] == own[:, None]
    crossed &= np.arange(crossed.shape[1]) < found.found[:, None]
    at_m = np.where(crossed, found.number[:, :, cr.C_T].astype(np.float64), np.inf).min(axis=1)

    # Once for each target, whose parts may lie behind each other: where the nearest is met
    order = np.lexsort((at_m, own, ray, head))
    order = order[at_m[order] <= farthest_m]
    head, ray, own, at_m = head[order], ray[order], own[order], at_m[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = (np.diff(head) != 0) | (np.diff(ray) != 0) | (np.diff(own) != 0)
    return Hidden(head[first], ray[first], own[first], at_m[first])


@jit.kernel
def _blocked(
    first: int,
    step: int,
    count: int,
    bundle: Bundle,
    object_id: NDArray[np.int32],
    range_m: NDArray[np.float32],
    group: Whole,
    places: Places,
    boxes: Float,
    farthest_m: float,
    start: Whole,
    found: Whole,
    ray: Whole,
    column: Whole,
) -> None:
    """Rays of some heads that end on something else before they leave the box of a stated object.

    Args:
        first, step, count: Share of the heads.
        bundle, object_id, range_m, group, places, boxes, farthest_m: As for `hidden_rays`.
        start: Where to write those of each head; empty counts them alone.
        found: How many each head has, filled.
        ray, column: Filled: ray, and column of the places.
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
                    hit = object_id[head, n]
                    if hit < 0 or group[head, hit] == own:
                        continue
                    for i in range(3):
                        d[i] = 0.0
                        for j in range(3):
                            d[i] += turn[i, j] * bundle.direction_S[n, j]
                    if _enters_behind(boxes[mesh], origin, d, range_m[head, n], farthest_m):
                        if start.size:
                            ray[start[head] + found[head]] = n
                            column[start[head] + found[head]] = k
                        found[head] += 1


@jit.function
def _enters_behind(box: Float, origin: Float, d: Float, range_m: float, farthest_m: float) -> bool:
    """Whether some of a box lies on a ray behind a range, and not beyond the farthest."""
    near, far = 0.0, farthest_m
    for i in range(3):
        if d[i] == 0.0:
            if origin[i] < box[0, i] or origin[i] > box[1, i]:
                return False
            continue
        one, other = (box[0, i] - origin[i]) / d[i], (box[1, i] - origin[i]) / d[i]
        near, far = max(near, min(one, other)), min(far, max(one, other))
    return near <= far and far >= range_m
