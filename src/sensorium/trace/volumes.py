"""Which body of a medium a point is inside of: a fog bank, a water tank, or none."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sensorium import threads
from sensorium.trace.cast import cast_rays
from sensorium.trace.caster import RawHits, new_hits
from sensorium.trace.labels import LabelTables
from sensorium.trace.packet import BLOCK, SCATTERED_ADDRESS
from sensorium.trace.placement import PlacedScenes
from sensorium.trace.rays import Rays

# a direction of no simple ratios, so that it seldom runs along a face or through an edge
_SOMEWHERE = (
    np.array([np.sqrt(2) - 1, 1 / np.pi, np.e / 3]) / np.linalg.norm([np.sqrt(2) - 1, 1 / np.pi, np.e / 3])
).astype(np.float32)
_MOST_SURFACES = 64

# How far behind a face to go on from [m]: more far from the anchor, where float32 is coarser
_CLEAR_M, _CLEAR_PART = 1e-3, 1e-6


def cast_into(placed: PlacedScenes, labels: LabelTables, mask: np.uint32, rays: Rays) -> RawHits:
    """Nearest hits in scenes as they are placed, of objects that a mask lets see."""
    hits = new_hits(len(rays.origin))
    where = (placed.tables, labels, placed.anchor, rays, mask, SCATTERED_ADDRESS, hits)
    threads.run(cast_rays, -(-len(rays.origin) // BLOCK), *where)
    return hits


def medium_around(
    cast: Callable[[Rays], RawHits],
    anchor: NDArray[np.float64],
    points: NDArray[np.float64],
    world: NDArray[np.int32],
    medium_of_object: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number of the medium around each point, and of the one around that; 0 for the atmosphere.

    A ray is followed from each point: the first volume that it leaves without having entered it is the one the point is
    in, the second is the one around that. Two volumes whose faces coincide cannot be told apart there.

    Args:
        cast: Finds nearest hits, with the bodies as they are at the start of the interval.
        anchor: Points of the worlds that float32 coordinates count from [m], shape (worlds, 3).
        points: In the world [m], shape (points, 3).
        world: World of each point, shape (points,).
        medium_of_object: Medium inside each object, 0 for objects that are no volumes, shape (1 | worlds, objects).
    """
    inner, outer = np.zeros(len(points), np.int32), np.zeros(len(points), np.int32)
    if not medium_of_object.any():
        return inner, outer
    row = world if len(medium_of_object) > 1 else np.zeros_like(world)
    open_points, at = np.arange(len(points)), points.copy()
    entered = np.zeros((len(points), medium_of_object.shape[1]), np.int32)
    for _ in range(_MOST_SURFACES):
        count = len(open_points)
        if not count:
            break
        rays = Rays(
            origin=at[open_points],
            direction=np.tile(_SOMEWHERE, (count, 1)),
            time=np.zeros(count, np.float32),
            t_max=np.full(count, np.inf, np.float32),
            world=world[open_points],
        )
        hits = cast(rays)
        hit = hits.object_id >= 0
        medium = np.where(hit, medium_of_object[row[open_points], hits.object_id], 0)
        leaving, volume = (hits.normal @ _SOMEWHERE) > 0, medium > 0
        np.add.at(entered, (open_points[volume & ~leaving], hits.object_id[volume & ~leaving]), 1)
        decided = volume & leaving & (entered[open_points, hits.object_id] == 0)
        first = decided & (inner[open_points] == 0)
        second = decided & ~first
        inner[open_points[first]] = medium[first]
        outer[open_points[second]] = medium[second]
        np.add.at(entered, (open_points[volume & leaving], hits.object_id[volume & leaving]), -1)

        # Anything else in the way is passed through
        on = hit & ~second
        away = np.abs(at[open_points] - anchor[world[open_points]]).max(axis=1)
        step = np.where(hit, hits.range_m, 0.0) + _CLEAR_M + _CLEAR_PART * away
        at[open_points] += step[:, None] * _SOMEWHERE
        open_points = open_points[on]
    return inner, outer
