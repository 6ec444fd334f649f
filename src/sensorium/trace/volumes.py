"""Which body of a medium a point is inside of: a fog bank, a water tank, or none."""

import numpy as np
from numpy.typing import NDArray

from sensorium import threads
from sensorium.trace.cast import cast_rays
from sensorium.trace.caster import Rays, new_hits
from sensorium.trace.labels import LabelTables
from sensorium.trace.packet import BLOCK, SCATTERED_ADDRESS
from sensorium.trace.placement import PlacedScenes

# a direction along no axis, so that it seldom runs inside a face
_SOMEWHERE = np.array([0.36, 0.48, 0.80], np.float32)
_MOST_SURFACES = 64
_CLEAR_M = 1e-4


def medium_around(
    placed: PlacedScenes,
    labels: LabelTables,
    points: NDArray[np.float64],
    world: NDArray[np.int32],
    medium_of_object: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Number of the medium around each point, 0 for the atmosphere.

    A ray is followed from each point: where the first boundary of a volume on its way is met from inside, the point is
    in that volume.

    Args:
        placed: The scenes, as placed at the start of the interval.
        labels: Labels of the scene.
        points: In the world [m], shape (points, 3).
        world: World of each point, shape (points,).
        medium_of_object: Medium inside each object, 0 for objects that are no volumes, shape (1 | worlds, objects).
    """
    found = np.zeros(len(points), np.int32)
    if not medium_of_object.any():
        return found
    row = world if len(medium_of_object) > 1 else np.zeros_like(world)
    open_points, at = np.arange(len(points)), points.copy()
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
        hits = new_hits(count)
        blocks = -(-count // BLOCK)
        threads.run(
            cast_rays,
            blocks,
            placed.tables,
            labels,
            placed.anchor,
            rays,
            np.uint32(0xFFFFFFFF),
            SCATTERED_ADDRESS,
            hits,
        )
        hit = hits.object_id >= 0
        medium = np.where(hit, medium_of_object[row[open_points], hits.object_id], 0)
        leaving = (hits.normal @ _SOMEWHERE) > 0
        decided = medium > 0
        found[open_points[decided & leaving]] = medium[decided & leaving]

        # Anything else in the way is passed through
        on = hit & ~decided
        at[open_points] += (hits.range_m + _CLEAR_M)[:, None].clip(0, 1e6) * _SOMEWHERE
        open_points = open_points[on]
    return found
