"""The lidar kernel in stages, for rays that other processes trace: its work between two traces, with kept state.

`sweep_light` takes a block of rays from its aim to its returns in one go. Here a block stops where rays must be traced
and resumes with the hits, by the same steps in the same order, so that the bytes are the same.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.crossings import C_COLUMN, C_FACE, C_ITEM, RawCrossings
from sensorium.tracing.embree.packet import BLOCK, NO_HIT
from sensorium.tracing.kernels.geometry.ray_errors import draw_block, draws_of
from sensorium.tracing.kernels.light import choose, rows, steps, tree
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.banks import clip_banks
from sensorium.tracing.kernels.light.media_stack import Media, new_media
from sensorium.tracing.kernels.light.remote_hits import LightHits
from sensorium.tracing.kernels.light.stacks import Stacks
from sensorium.tracing.kernels.strong_light.sunlight import add_sunlight, aim_at_sun
from sensorium.tracing.kernels.sweep import WHOLE, BlockPlace, block_of
from sensorium.tracing.labels import LabelTables

# Next stage of a block: aim its first rays; process the hits of these, of rays to the sun, of children
AIM, FIRST, SUN, CHILDREN = map(np.int64, range(4))


class Chosen(NamedTuple):
    """Blocks to advance."""

    number: NDArray[np.int64]  # of every active block, among those of all heads
    row: NDArray[np.int64]  # (count,) rows of `Walks`
    at: NDArray[np.int64]  # (count,) where the hits of each begin


class Known(NamedTuple):
    """Results for the waiting rays, and all hits so far."""

    found: LightHits
    crossed: RawCrossings  # of the same rays; no rows in a scene without volumes
    base: int  # number of the first of these hits among all hits so far
    crossed_base: int  # and of the first of these crossings
    faces: NDArray[np.int32]  # face of each hit and crossing so far
    labels: LabelTables  # in which the number of a hit replaces a face


class Asked(NamedTuple):
    """Rays that wait for their hits, BLOCK rows for each block."""

    origin: NDArray[np.float64]  # (blocks x BLOCK, 3) from the anchor [m]
    direction: NDArray[np.float32]
    time: NDArray[np.float32]
    t_max: NDArray[np.float32]
    clear_m: NDArray[np.float32]


class Walks(NamedTuple):
    """Active blocks of rays, one per row."""

    stage: NDArray[np.int64]
    pending: NDArray[np.int64]  # rays that wait for their hits, 0 once all is done
    waiting: NDArray[np.int64]  # children in the queue
    asked: Asked
    block: NDArray[np.float32]  # first rays, (blocks, FLOATS) and (blocks, WORDS)
    hit: NDArray[np.uint32]
    child: NDArray[np.float32]  # children, or rays to the sun
    child_hit: NDArray[np.uint32]
    queue: tree.Queue  # each array with an axis of blocks before its own
    stacks: Stacks  # of the rays that wait, likewise
    slot_f: NDArray[np.float32]
    slot_i: NDArray[np.int32]


def new_walks(count: int, light: tb.LightTables, slots: int) -> Walks:
    """Arrays for active blocks.

    Args:
        count: Number of blocks.
        light: Materials and media of the scene.
        slots: Number of returns kept per ray.
    """
    depth, levels = int(light.switch[tb.S_DEPTH]), int(light.switch[tb.S_LEVELS])
    floats = tree.QUEUE_FLOATS + (tree.CURVED_FLOATS if light.switch[tb.S_CURVED] else 0)
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
        queue=tree.Queue(
            np.zeros((count, floats, size), np.float32),
            np.zeros((count, tree.QUEUE_WORDS, size), np.int32),
            _stacks_of(count, size if levels and depth else 0, levels),
        ),
        stacks=_stacks_of(count, BLOCK if levels else 0, levels),
        slot_f=np.full((count, slots * choose.FLOATS_A_SLOT), choose.NONE, np.float32),
        slot_i=np.full((count, slots * choose.WORDS_A_SLOT), -1, np.int32),
    )


def _stacks_of(count: int, paths: int, levels: int) -> Stacks:
    """Arrays for the stacks of paths of this many blocks."""
    return Stacks(
        np.zeros((count, paths), np.int32),
        np.zeros((count, levels, paths), np.int32),
        np.zeros((count, levels + 1, paths), np.float32),
        np.zeros((count, levels + 1, paths), np.int32),
    )


@jit.function
def stacks_of_walk(stacks, walk):
    """Stacks of one block."""
    return Stacks(stacks.held[walk], stacks.column[walk], stacks.traveled[walk], stacks.visit[walk])


@jit.function
def slots_of_walk(walks, walk):
    """Slots of one block."""
    return choose.ReturnSlots(walks.slot_f[walk], walks.slot_i[walk])


@jit.function
def queue_of_walk(queue, walk):
    """Queue of one block."""
    return tree.Queue(queue.number[walk], queue.word[walk], stacks_of_walk(queue.stacks, walk))


@jit.function
def room_for(known, light):
    """Capacity for the crossings of a ray: the traced ones, and two for each bank; none without volumes."""
    if light.switch[tb.S_CROSSINGS] == 0:
        return np.int64(0)
    return np.int64(known.crossed.number.shape[1] + 2 * light.bank_column.shape[0])


@jit.function
def media_of_walk(scratch, walks, walk, block, light, anchor, known, row, used):
    """Media of one block: its stacks, the crossings found for its rays, and the rest of a scratch."""
    media = Media(scratch.crossings, stacks_of_walk(walks.stacks, walk), scratch.beyond, scratch.pieces)
    crossed, room = known.crossed, known.crossed.number.shape[1]
    if light.switch[tb.S_CROSSINGS] == 0:
        return media
    if crossed.found.size > 0:
        for k in range(used):
            i = row + k
            media.crossings.found[k] = crossed.found[i]
            for j in range(crossed.found[i]):
                for column in range(crossed.number.shape[2]):
                    media.crossings.number[j, column, k] = crossed.number[i, j, column]
                media.crossings.word[j, C_COLUMN, k], media.crossings.word[j, C_ITEM, k] = (
                    crossed.word[i, j, C_COLUMN],
                    j,
                )
                media.crossings.word[j, C_FACE, k] = known.crossed_base + i * room + j
    clip_banks(block, media.crossings, light, anchor, crossed.found.size > 0, used)
    return media


@jit.function
def look_past_left(block, hit, known, row, used):
    """Make children that hit the face they start on search beyond it; returns whether any did."""
    again = False
    for k in range(used):
        found, i = known.found, row + k
        if found.object_id[i] < 0 or hit[rows.LEFT_COLUMN + k] == NO_HIT:
            continue
        face = found.face_id[i] == known.faces[hit[rows.LEFT_FACE + k]]
        if np.uint32(found.object_id[i]) == hit[rows.LEFT_COLUMN + k] and (
            face or found.range_m[i] < block[rows.BEFORE + k]
        ):
            block[pk.B_T_NEAR + k] = np.nextafter(found.range_m[i], np.float32(np.inf))
            again = True
    return again


@jit.kernel
def follow_light(first, step, count, chosen, known, aim, light, draws, walks, out):
    """Advance the chosen blocks first, first + step, ... to their next trace, or to their returns.

    Args:
        first, step, count: Share of the chosen blocks.
        chosen: `Chosen`; known: `Known` of the rays that wait.
        aim: `SweepAim`; light: `LightTables`; draws: as for `sweep_light`.
        walks: `Walks`.
        out: `LightOutputs`.
    """
    rays, heads, anchor = aim
    drawn, owner = np.zeros(BLOCK + 1, np.int32), steps.own_rays()
    scratch = new_media(room_for(known, light), light.switch[tb.S_LEVELS])
    found, base = known.found, known.base
    for turn in range(first, count, step):
        walk = chosen.row[turn]
        number, stage, row = chosen.number[walk], walks.stage[walk], chosen.at[turn]
        block, hit, child, child_hit = walks.block[walk], walks.hit[walk], walks.child[walk], walks.child_hit[walk]
        queue, slots = queue_of_walk(walks.queue, walk), slots_of_walk(walks, walk)
        head, start, used = block_of(number, rays.x.shape[0], WHOLE)
        world, own = heads.world[head], draws_of(rays, heads, draws, head, start)
        if stage == AIM:
            steps.fire(block, rays, heads, light, draws, number)
            tree.start_paths(block, hit, light.medium, light.number[tb.N_POWER])
            draw_block(block, own, out.range_m.shape[1] > 1, used)
            walks.waiting[walk] = 0
            ask(walks, walk, FIRST, block, used)
            continue

        # Returns of the hits, and their children
        if stage == FIRST:
            media = media_of_walk(scratch, walks, walk, block, light, anchor[world], known, row, used)
            steps.light_up_found(block, hit, media, light, found, row, base, True, used)
            steps.offer_first(block, hit, media, light, own, owner, slots, drawn, heads.start[head], used)
            if light.switch[tb.S_DEPTH] > 0:
                walks.waiting[walk] = tree.spawn(
                    block, hit, media.stacks, media.beyond, light, world, queue, np.int64(0)
                )
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
            if look_past_left(child, child_hit, known, row, batch):
                ask(walks, walk, CHILDREN, child, batch)
                continue
            media = media_of_walk(scratch, walks, walk, child, light, anchor[world], known, row, batch)
            steps.light_up_found(child, child_hit, media, light, found, row, base, False, batch)
            steps.offer_more(child, child_hit, media, light, own, owner, slots, drawn, batch)
            walks.waiting[walk] = tree.spawn(
                child, child_hit, media.stacks, media.beyond, light, world, queue, walks.waiting[walk]
            )
        if ask_for_children(walks, walk, light):
            continue

        # The returns reported
        steps.report(block, slots, aim, known.labels, light, own, BlockPlace(head, world, start, used), out)
        name_faces(known.faces, head, start, used, out)
        walks.pending[walk] = 0


@jit.function
def ask(walks, walk, stage, block, used):
    """Mark the rays of a block as waiting for their hits."""
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
    """Take the next children out of the queue and mark them as waiting; returns whether there were any."""
    waiting = walks.waiting[walk]
    if waiting == 0:
        return False
    batch, child, far = min(np.int64(BLOCK), waiting), walks.child[walk], light.number[tb.N_FAR]
    waiting -= batch
    stacks, queue = stacks_of_walk(walks.stacks, walk), queue_of_walk(walks.queue, walk)
    tree.take(child, walks.child_hit[walk], stacks, light.medium, queue, waiting, batch, far)
    walks.waiting[walk] = waiting
    ask(walks, walk, CHILDREN, child, batch)
    return True


@jit.function
def mark_lit(shadow_hit, found, row, used):
    """Record whether each ray to the sun is blocked."""
    for k in range(used):
        shadow_hit[pk.B_INSTANCE + k] = NO_HIT if found.object_id[row + k] < 0 else np.uint32(0)


@jit.function
def name_faces(faces, head, start, used, out):
    """Replace the hit number of each return by its face."""
    for j in range(out.face_id.shape[1]):
        for k in range(start, start + used):
            if out.face_id[head, j, k] >= 0:
                out.face_id[head, j, k] = faces[out.face_id[head, j, k]]
