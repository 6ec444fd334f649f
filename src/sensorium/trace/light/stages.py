"""The lidar kernel in stages, for rays that are traced elsewhere: what it does between two traces, all it knows kept.

`sweep_light` takes a block of rays from its aim to its returns in one go. Here a block stops where rays are to be
traced and goes on with the hits, by the same steps in the same order, so that the bytes are the same.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.trace import packet as pk
from sensorium.trace.light import choose, rows, shade, steps, tree
from sensorium.trace.light import tables as tb
from sensorium.trace.light.ray_errors import numbers_of
from sensorium.trace.light.sunlight import add_sunlight, aim_at_sun
from sensorium.trace.packet import BLOCK, NO_HIT
from sensorium.trace.sweep import WHOLE, block_of

# What a block does next: aim its first rays; go on with hits of these, of rays to the sun, of children
AIM, FIRST, SUN, CHILDREN = map(np.int64, range(4))


class Asked(NamedTuple):
    """Rays that wait for their hits, BLOCK rows for each block."""

    origin: NDArray[np.float64]  # (blocks x BLOCK, 3) from the anchor [m]
    direction: NDArray[np.float32]
    time: NDArray[np.float32]
    t_max: NDArray[np.float32]
    clear_m: NDArray[np.float32]


class Walks(NamedTuple):
    """Blocks of rays under way, one a row."""

    stage: NDArray[np.int64]
    pending: NDArray[np.int64]  # rays that wait for their hits, 0 once all is done
    waiting: NDArray[np.int64]  # children in the queue
    asked: Asked
    block: NDArray[np.float32]  # first rays, (blocks, FLOATS) and (blocks, WORDS)
    hit: NDArray[np.uint32]
    child: NDArray[np.float32]  # children, or rays to the sun
    child_hit: NDArray[np.uint32]
    queue_f: NDArray[np.float32]  # (blocks, rows, size)
    queue_i: NDArray[np.int32]
    slot_f: NDArray[np.float32]
    slot_i: NDArray[np.int32]


def new_walks(count: int, depth: int, slots: int) -> Walks:
    """Room for blocks under way.

    Args:
        count: How many blocks.
        depth: How many interfaces paths are followed through.
        slots: Returns that are kept of a ray.
    """
    size = tree.queue_size.py_func(depth)  # type: ignore[attr-defined]
    return Walks(
        stage=np.zeros(count, np.int64),
        pending=np.zeros(count, np.int64),
        waiting=np.zeros(count, np.int64),
        asked=Asked(
            origin=np.zeros((count * BLOCK, 3)),
            direction=np.zeros((count * BLOCK, 3), np.float32),
            time=np.zeros(count * BLOCK, np.float32),
            t_max=np.zeros(count * BLOCK, np.float32),
            clear_m=np.zeros(count * BLOCK, np.float32),
        ),
        block=np.zeros((count, rows.FLOATS), np.float32),
        hit=np.zeros((count, rows.WORDS), np.uint32),
        child=np.zeros((count, rows.FLOATS), np.float32),
        child_hit=np.zeros((count, rows.WORDS), np.uint32),
        queue_f=np.zeros((count, tree.QUEUE_FLOATS, size), np.float32),
        queue_i=np.zeros((count, tree.QUEUE_WORDS, size), np.int32),
        slot_f=np.full((count, slots * choose.FLOATS_A_SLOT), choose.NONE, np.float32),
        slot_i=np.full((count, slots * choose.WORDS_A_SLOT), -1, np.int32),
    )


@jit.kernel
def follow_light(
    first, step, count, numbers, chosen, at, found, base, faces, labels, anchor, rays, heads, light, draws, walks, out
):
    """Take the chosen blocks first, first + step, ... to their next trace, or to their returns.

    Args:
        first, step, count: Share of the chosen blocks.
        numbers: Of the blocks under way, among those of all heads.
        chosen: Rows of `walks`, int64 (count,).
        at: Row of `found` that the hits of each begin at, int64 (count,).
        found: `LightHits` of the rays that wait.
        base: Number of its first row among all hits so far.
        faces: Face of each hit so far; labels: `LabelTables` in which the number of a hit stands for a face.
        anchor: float64 (worlds, 3) [m].
        rays: `RayTables`; heads: `Heads`; light: `LightTables`; draws: as for `sweep_light`.
        walks: `Walks`.
        out: `LightOutputs`.
    """
    drawn = np.zeros(BLOCK + 1, np.int32)
    for turn in range(first, count, step):
        walk = chosen[turn]
        number, stage, row = numbers[walk], walks.stage[walk], at[turn]
        block, hit, child, child_hit = walks.block[walk], walks.hit[walk], walks.child[walk], walks.child_hit[walk]
        queue_f, queue_i, slot_f, slot_i = (
            walks.queue_f[walk],
            walks.queue_i[walk],
            walks.slot_f[walk],
            walks.slot_i[walk],
        )
        head, start, used = block_of(number, rays.x.shape[0], WHOLE)
        element, among = numbers_of(rays, heads, draws, head, start)
        if stage == AIM:
            steps.fire(block, rays, heads, light, draws, number)
            tree.start_paths(block, hit, draws.medium[head], draws.outer[head], light.medium, light.number[tb.N_POWER])
            shade.draw_block(block, draws.key, element, draws.tick, among, out.range_m.shape[1] > 1, used)
            walks.waiting[walk] = 0
            ask(walks, walk, FIRST, block, used)
            continue

        # What the hits send back, and what goes on from them
        if stage == FIRST:
            steps.light_up_found(block, hit, light, found, row, base, used)
            steps.offer_first(block, hit, light, slot_f, slot_i, drawn, heads.start[head], used)
            if light.switch[tb.S_DEPTH] > 0:
                walks.waiting[walk] = steps.send_on(block, hit, light, queue_f, queue_i, np.int64(0), used)
            if light.switch[tb.S_SUN] > 0:
                aim_at_sun(block, hit, child, light.sun, used)
                ask(walks, walk, SUN, child, used)
                continue
        elif stage == SUN:
            mark_lit(child_hit, found, row, used)
            add_sunlight(block, hit, child, child_hit, light.sun, used)
            for k in range(used):
                out.ambient[head, start + k] = block[rows.AMBIENT + k]
        else:
            batch = walks.pending[walk]
            steps.light_up_found(child, child_hit, light, found, row, base, batch)
            steps.offer_more(child, child_hit, light, draws, element, among, slot_f, slot_i, drawn, batch)
            walks.waiting[walk] = steps.send_on(child, child_hit, light, queue_f, queue_i, walks.waiting[walk], batch)
        if ask_for_children(walks, walk, light):
            continue

        # The returns reported
        world = heads.world[head]
        steps.report(
            block, slot_f, slot_i, rays, anchor, labels, light, draws, element, among, head, world, start, used, out
        )
        name_faces(faces, head, start, used, out)
        walks.pending[walk] = 0


@jit.function
def ask(walks, walk, stage, block, used):
    """Let the rays of a block wait for their hits."""
    asked, start = walks.asked, walk * BLOCK
    for k in range(used):
        for axis in range(3):
            asked.origin[start + k, axis] = block[pk.B_ORIGIN_X + axis * BLOCK + k]
            asked.direction[start + k, axis] = block[pk.B_DIRECTION_X + axis * BLOCK + k]
        asked.time[start + k], asked.t_max[start + k] = block[pk.B_TIME + k], block[pk.B_T_FAR + k]
        asked.clear_m[start + k] = block[pk.B_T_NEAR + k]
    walks.stage[walk], walks.pending[walk] = stage, used


@jit.function
def ask_for_children(walks, walk, light):
    """Take the next children out of the queue and let them wait for their hits; returns whether there were any."""
    waiting = walks.waiting[walk]
    if waiting == 0:
        return False
    batch, child, far = min(np.int64(BLOCK), waiting), walks.child[walk], light.number[tb.N_FAR]
    waiting -= batch
    tree.take(child, walks.child_hit[walk], light.medium, walks.queue_f[walk], walks.queue_i[walk], waiting, batch, far)
    walks.waiting[walk] = waiting
    ask(walks, walk, CHILDREN, child, batch)
    return True


@jit.function
def mark_lit(shadow_hit, found, row, used):
    """Rays to the sun met nothing, or something."""
    for k in range(used):
        shadow_hit[pk.B_INSTANCE + k] = NO_HIT if found.object_id[row + k] < 0 else np.uint32(0)


@jit.function
def name_faces(faces, head, start, used, out):
    """The face of each return, where the number of its hit stands."""
    for j in range(out.face_id.shape[1]):
        for k in range(start, start + used):
            if out.face_id[head, j, k] >= 0:
                out.face_id[head, j, k] = faces[out.face_id[head, j, k]]
