"""Casts rays from the sensors of a rig at one instant, with every body at its pose of that instant."""

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import threads
from sensorium.sensors.common.spec import Rig
from sensorium.tracing.embree import crossings as cr
from sensorium.tracing.embree.cast import cast_rays
from sensorium.tracing.embree.packet import BLOCK, COHERENT_ADDRESS, SCATTERED_ADDRESS
from sensorium.tracing.rays import RawHits, Rays, new_hits

# Faces along a ray that there is room for at first; where there are more, rays are cast again
_CROSSINGS = 16


def cast_at(rig: Rig, time_ns: int, near: NDArray[np.float64], rays: Rays, *, coherent: bool = False) -> RawHits:
    """Nearest surface on each ray, without bodies that the rig hides and without volumes such as fog banks.

    Args:
        rig: Whose rays they are.
        time_ns: The instant [ns].
        near: Where the rays of each world start from, roughly [m], shape (worlds, 3).
        rays: In the world, ordered by world; their times must be 0.
        coherent: Whether neighbors go almost the same way.
    """
    placed, count = rig.tracer.place(time_ns, time_ns, near), len(rays.origin)
    out = new_hits(count)
    with placed.lock:
        threads.run(
            cast_rays,
            -(-count // BLOCK),
            placed.tables,
            rig.tracer.labels,
            placed.anchor,
            rays,
            np.uint32(placed.mask_without(rig.hide, air=False)),
            COHERENT_ADDRESS if coherent else SCATTERED_ADDRESS,
            out,
        )
    return out


def cross_at(rig: Rig, time_ns: int, near: NDArray[np.float64], rays: Rays) -> cr.RawCrossings:
    """Every face that each ray crosses, without stopping at any; arguments as for `cast_at`."""
    placed, room = rig.tracer.place(time_ns, time_ns, near), _CROSSINGS
    masks = np.full(2, placed.mask_without(rig.hide, air=False), np.uint32)
    blocks = -(-len(rays.origin) // BLOCK)
    while True:
        out = cr.new_raw_crossings(len(rays.origin), room)
        with placed.lock:
            threads.run(cr.collect_rays, blocks, placed.tables, rig.tracer.labels, placed.anchor, rays, masks, out)
        most = int(out.found.max(initial=0))
        if most <= room:
            return out
        room = most
