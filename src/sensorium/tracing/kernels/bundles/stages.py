"""Stages of blocks of beams and of pulses whose rays other processes trace.

A block takes one block of rays after the other through the ray tree, in the order of the kernel that traces in memory,
since sums of float32 depend on the order; other blocks advance at the same time. See light/stages.py for single rays.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK, BLOCK_FLOATS
from sensorium.tracing.kernels.bundles import steps
from sensorium.tracing.kernels.bundles import tables as bt
from sensorium.tracing.kernels.bundles.rays import aim_rays, name_rays
from sensorium.tracing.kernels.light import rows, tree
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.stages import FIRST, SUN, Walks, ask, mark_lit, new_walks, queue_of_walk
from sensorium.tracing.kernels.strong_light.sunlight import add_sunlight, aim_at_sun


class BundleWalks(NamedTuple):
    """Active blocks of bundles, one per row."""

    rays: Walks  # what of each is being traced
    batch: NDArray[np.int64]  # first bundle of the batch that it belongs to
    begin: NDArray[np.int64]  # first ray of it in the batch
    axes: NDArray[np.float32]  # (blocks, FLOATS)
    up: NDArray[np.float32]  # (blocks, BLOCK_FLOATS)


def new_bundle_walks(count: int, light: tb.LightTables, slots: int) -> BundleWalks:
    """Arrays for this many active blocks, with this many slots for returns of a ray."""
    return BundleWalks(
        rays=new_walks(count, light, slots),
        batch=np.zeros(count, np.int64),
        begin=np.zeros(count, np.int64),
        axes=np.zeros((count, rows.FLOATS), np.float32),
        up=np.zeros((count, BLOCK_FLOATS), np.float32),
    )


@jit.function
def send_on(traced, walk, block, hit, media, light, world, waiting):
    """Append the children of a block's hits to the queue."""
    queue = queue_of_walk(traced.queue, walk)
    traced.waiting[walk] = tree.spawn(block, hit, media.stacks, media.beyond, light, world, queue, waiting)


@jit.function
def ask_for_sun(walks, walk, spot, spot_hit, light, tables, pulse_of, used):
    """Request shadow rays from the center of each bundle, if the sun shines; returns whether there are any.

    Args:
        walks: `BundleWalks`; walk: number of the block, whose first rays are lit.
        spot, spot_hit: Scratch, filled with the rays in the middle of bundles.
        light: `LightTables`; tables: `BeamTables` or `WaveformTables`.
        pulse_of: Bundle of each ray; used: rays in the block.
    """
    if light.switch[tb.S_SUN] == 0:
        return False
    traced, begin = walks.rays, walks.begin[walk]
    block, hit, child = traced.block[walk], traced.hit[walk], traced.child[walk]
    centers = steps.pick_centers(block, hit, spot, spot_hit, tables, pulse_of, begin, used)
    if centers == 0:
        return False
    aim_at_sun(spot, spot_hit, child, light.sun, centers)
    ask(traced, walk, SUN, child, centers)
    return True


@jit.function
def take_sun(walks, walk, spot, spot_hit, light, tables, known, row, pulse_of, used):
    """Keep the sunlight that the shadow rays of `ask_for_sun` pass; their hits are in `known` from `row` on."""
    traced, begin = walks.rays, walks.begin[walk]
    block, hit, child, child_hit = traced.block[walk], traced.hit[walk], traced.child[walk], traced.child_hit[walk]
    centers = steps.pick_centers(block, hit, spot, spot_hit, tables, pulse_of, begin, used)
    mark_lit(child_hit, known.found, row, centers)
    add_sunlight(spot, spot_hit, child, child_hit, light.sun, centers)
    steps.keep_sunlight(spot, spot_hit, walks.axes[walk], walks.batch[walk], centers)


@jit.function
def ask_for_rays(walks, walk, block, names, named, tables, batch, begin, far, used):
    """Aim the next rays of a block of bundles and ask for their hits; returns which rays are named then.

    Args:
        walks: `BundleWalks`; walk: number of the block.
        block: Its scratch of rays.
        names: `RayNames`; named: first ray of those that are named.
        tables: `BeamTables` or `WaveformTables`.
        batch, begin: First bundle of the batch, first ray in it.
        far: How far to look [m].
        used: Bundles of the block.
    """
    together, bundle = tables.switch[bt.V_BATCH], tables.u.shape[0]
    walks.batch[walk], walks.begin[walk] = batch, begin
    lit = min(BLOCK, min(together, used - batch) * bundle - begin)
    if begin != named:
        name_rays(tables, names, begin)
    aim_rays(block, walks.axes[walk], walks.up[walk], names, tables, batch, begin, far, lit)
    ask(walks.rays, walk, FIRST, block, lit)
    return begin
