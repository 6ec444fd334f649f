"""The kernel of beams in stages, for rays that are traced elsewhere, as light/stages.py is for the light kernel.

A block of beams takes one block of rays after the other through the ray tree, in the order of `sweep_beams`, since sums
depend on it; meanwhile other blocks of beams do the same.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK, BLOCK_FLOATS
from sensorium.tracing.kernels.beams import gather
from sensorium.tracing.kernels.beams.kernel import report_beams
from sensorium.tracing.kernels.beams.tables import BeamTables
from sensorium.tracing.kernels.light import choose, rows, tree
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.media_stack import new_media
from sensorium.tracing.kernels.light.ray_errors import numbers_of
from sensorium.tracing.kernels.light.stages import (
    AIM,
    CHILDREN,
    FIRST,
    SUN,
    Walks,
    ask,
    ask_for_children,
    look_past_left,
    mark_lit,
    media_of_walk,
    name_faces,
    new_walks,
    queue_of_walk,
    room_for,
)
from sensorium.tracing.kernels.light.steps import draw_children, light_up_found, offer_media
from sensorium.tracing.kernels.strong_light.sunlight import add_sunlight, aim_at_sun
from sensorium.tracing.kernels.sweep import block_of
from sensorium.tracing.kernels.waveform import steps as pulse_steps
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.beam import aim_rays, name_rays


class BeamWalks(NamedTuple):
    """Blocks of beams under way, one a row."""

    rays: Walks  # what of each is being traced
    batch: NDArray[np.int64]  # first beam of the batch that it belongs to
    begin: NDArray[np.int64]  # first ray of it in the batch
    beams: NDArray[np.float32]  # (blocks, FLOATS)
    up: NDArray[np.float32]  # (blocks, BLOCK_FLOATS)
    air_f: NDArray[np.float32]  # slots of the air
    air_i: NDArray[np.int32]
    arrivals: gather.Arrivals  # each array with an axis of blocks before its own


def new_beam_walks(count: int, light: tb.LightTables, tables: BeamTables) -> BeamWalks:
    """Room for blocks under way, as many as said."""
    shape, slots = (count, int(tables.switch[wt.V_PULSES]), int(tables.room)), gather.AIR_SLOTS + 1
    return BeamWalks(
        rays=new_walks(count, light, int(light.switch[tb.S_SLOTS]) + 1),
        batch=np.zeros(count, np.int64),
        begin=np.zeros(count, np.int64),
        beams=np.zeros((count, rows.FLOATS), np.float32),
        up=np.zeros((count, BLOCK_FLOATS), np.float32),
        air_f=np.full((count, slots * choose.FLOATS_A_SLOT), choose.NONE, np.float32),
        air_i=np.full((count, slots * choose.WORDS_A_SLOT), -1, np.int32),
        arrivals=gather.Arrivals(
            opl=np.zeros(shape, np.float32),
            light=np.zeros(shape, np.float32),
            diffuse=np.zeros(shape, np.float32),
            slack=np.zeros(shape, np.float32),
            sender=np.zeros(shape, np.int64),
            face=np.zeros(shape, np.int32),
            filled=np.zeros(shape[:2], np.int64),
        ),
    )


@jit.kernel
def follow_beams(
    first, step, count, numbers, chosen, at, known, labels, anchor, rays, heads, light, unlimited, tables, draws, walks,
    out,
):  # fmt: skip
    """Take the chosen blocks of beams first, first + step, ... to their next trace, or to their returns.

    Args:
        first, step, count: Share of the chosen blocks.
        numbers, chosen, at, known, labels: As for `follow_light`.
        anchor, rays, heads, light, unlimited, tables, draws, out: As for `sweep_beams`.
        walks: `BeamWalks`.
    """
    owned = (pulse_steps.new_levels(), rows.new_scratch(), pulse_steps.new_names())
    levels, (spot, spot_hit), (u_of, v_of, weight_of, pulse_of, slope_of) = owned
    drawn, order = np.zeros(BLOCK + 1, np.int32), jit.zeros(tables.room, np.int64)
    named = -1  # first ray of those that are named
    together, most, bundle = tables.switch[wt.V_BATCH], tables.switch[wt.V_PULSES], tables.u.shape[0]
    airy, far, traced = light.switch[tb.S_ATMOSPHERE] > 0, light.number[tb.N_FAR], walks.rays
    found, base = known.found, known.base
    scratch = new_media(room_for(known, light), light.switch[tb.S_LEVELS])
    for turn in range(first, count, step):
        walk = chosen[turn]
        stage, row, batch, begin = traced.stage[walk], at[turn], walks.batch[walk], walks.begin[walk]
        block, hit, child, child_hit = traced.block[walk], traced.hit[walk], traced.child[walk], traced.child_hit[walk]
        beams, up, air_f, air_i = walks.beams[walk], walks.up[walk], walks.air_f[walk], walks.air_i[walk]
        arrivals = _of_block(walks.arrivals, walk)
        head, start, used = block_of(numbers[walk], rays.x.shape[0], most)
        element, among = numbers_of(rays, heads, draws, head, start)
        world, mine = heads.world[head], element + batch
        if stage == AIM:
            pulse_steps.fire_pulses(beams, up, levels, rays, heads, light, draws, numbers[walk], most)
            traced.waiting[walk], batch, begin = 0, np.int64(0), np.int64(0)
            for k in range(used):
                arrivals.filled[k] = 0
        else:
            # What the hits send back, and what goes on from them
            many = min(together, used - batch) * bundle
            lit = min(BLOCK, many - begin)
            if begin != named:
                named = begin
                name_rays(tables, u_of, v_of, weight_of, pulse_of, slope_of, named)
            if stage == FIRST:
                tree.start_paths(block, hit, light.medium, light.number[tb.N_POWER])
                media = media_of_walk(scratch, traced, walk, block, light, anchor[world], known, row, lit)
                light_up_found(block, hit, media, light, found, row, base, True, lit)
                gather.add_first_surfaces(block, hit, tables, arrivals, weight_of, batch, begin, lit)
                if airy:
                    gather.clear_air(air_f, lit)
                    gather.share_draws(beams, block, pulse_of, batch, lit)
                    offer_media(block, hit, media, unlimited, draws, mine, among, pulse_of, air_f, air_i, drawn, lit)
                if light.switch[tb.S_DEPTH] > 0:
                    queue = queue_of_walk(traced.queue, walk)
                    traced.waiting[walk] = tree.spawn(
                        block, hit, media.stacks, media.beyond, light, world, queue, np.int64(0)
                    )
                if light.switch[tb.S_SUN] > 0:
                    centers = pulse_steps.pick_centers(block, hit, spot, spot_hit, tables, pulse_of, begin, lit)
                    if centers > 0:
                        aim_at_sun(spot, spot_hit, child, light.sun, centers)
                        ask(traced, walk, SUN, child, centers)
                        continue
            elif stage == SUN:
                centers = pulse_steps.pick_centers(block, hit, spot, spot_hit, tables, pulse_of, begin, lit)
                mark_lit(child_hit, found, row, centers)
                add_sunlight(spot, spot_hit, child, child_hit, light.sun, centers)
                pulse_steps.keep_sunlight(spot, spot_hit, beams, batch, centers)
            else:
                here = traced.pending[walk]
                if look_past_left(child, child_hit, known, row, here):
                    ask(traced, walk, CHILDREN, child, here)
                    continue
                media = media_of_walk(scratch, traced, walk, child, light, anchor[world], known, row, here)
                light_up_found(child, child_hit, media, light, found, row, base, False, here)
                gather.add_surfaces_of_children(
                    child, child_hit, tables, arrivals, weight_of, pulse_of, batch, begin, here
                )
                if airy:
                    draw_children(child, child_hit, light, draws, mine, among, pulse_of, here)
                    offer_media(
                        child, child_hit, media, unlimited, draws, mine, among, pulse_of, air_f, air_i, drawn, here
                    )
                queue, waiting = queue_of_walk(traced.queue, walk), traced.waiting[walk]
                traced.waiting[walk] = tree.spawn(
                    child, child_hit, media.stacks, media.beyond, light, world, queue, waiting
                )
            if ask_for_children(traced, walk, light):
                continue
            if airy:
                gather.add_air(air_f, air_i, arrivals, weight_of, pulse_of, batch, lit)
            begin += BLOCK
            if begin >= many:
                batch, begin = batch + together, np.int64(0)
            if batch >= used:
                report_beams(
                    arrivals, order, beams, traced.slot_f[walk], traced.slot_i[walk], rays, anchor, labels, heads,
                    light, tables, draws, element, among, head, heads.world[head], start, used, out,
                )  # fmt: skip
                name_faces(known.faces, head, start, used, out)
                traced.pending[walk] = 0
                continue

        # The next rays
        walks.batch[walk], walks.begin[walk] = batch, begin
        lit = min(BLOCK, min(together, used - batch) * bundle - begin)
        if begin != named:
            named = begin
            name_rays(tables, u_of, v_of, weight_of, pulse_of, slope_of, named)
        aim_rays(block, beams, up, u_of, v_of, slope_of, tables, batch, begin, far, lit)
        ask(traced, walk, FIRST, block, lit)
    jit.held(owned)


@jit.function
def _of_block(arrivals, walk):
    """Arrivals of one block of beams."""
    return gather.Arrivals(
        arrivals.opl[walk],
        arrivals.light[walk],
        arrivals.diffuse[walk],
        arrivals.slack[walk],
        arrivals.sender[walk],
        arrivals.face[walk],
        arrivals.filled[walk],
    )
