"""The waveform kernel in stages, for rays that are traced elsewhere, as light/stages.py is for the light kernel.

A block of pulses takes one block of rays after the other through the ray tree, in the order of `sweep_waveform`, since
sums of float32 depend on it; meanwhile other blocks of pulses do the same.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK, BLOCK_FLOATS
from sensorium.tracing.kernels.light import rows, tree
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.media_stack import new_media
from sensorium.tracing.kernels.light.ray_errors import numbers_of, straighten
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
from sensorium.tracing.kernels.light.steps import light_up_found
from sensorium.tracing.kernels.strong_light.sunlight import add_sunlight, aim_at_sun
from sensorium.tracing.kernels.sweep import block_of
from sensorium.tracing.kernels.waveform import arrivals as ar
from sensorium.tracing.kernels.waveform import steps
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.beam import aim_rays, name_rays
from sensorium.tracing.kernels.waveform.digitize import draw_normals


class PulseWalks(NamedTuple):
    """Blocks of pulses under way, one a row."""

    rays: Walks  # what of each is being traced
    batch: NDArray[np.int64]  # first pulse of the batch that it belongs to
    begin: NDArray[np.int64]  # first ray of it in the batch
    pulses: NDArray[np.float32]  # (blocks, FLOATS)
    up: NDArray[np.float32]  # (blocks, BLOCK_FLOATS)
    widths: NDArray[np.float32]  # (blocks, slots, BLOCK)
    histograms: ar.Histograms  # each array with an axis of blocks before its own


def new_pulse_walks(count: int, light: tb.LightTables, tables: wt.WaveformTables) -> PulseWalks:
    """Room for blocks under way, as many as said."""
    slots = int(light.switch[tb.S_SLOTS])
    length = tables.switch[wt.V_BINS] + 2 * tables.pulse.shape[1]
    one = ar.new_histograms.py_func(  # type: ignore[attr-defined]
        tables.switch[wt.V_BATCH], length, tables.switch[wt.V_AIR] > 0, light.switch[tb.S_CROSSINGS] > 0
    )
    return PulseWalks(
        rays=new_walks(count, light, slots),
        batch=np.zeros(count, np.int64),
        begin=np.zeros(count, np.int64),
        pulses=np.zeros((count, rows.FLOATS), np.float32),
        up=np.zeros((count, BLOCK_FLOATS), np.float32),
        widths=np.zeros((count, slots, BLOCK), np.float32),
        histograms=ar.Histograms(*(np.repeat(column[None], count, axis=0) for column in one)),
    )


@jit.kernel
def follow_pulses(
    first, step, count, numbers, chosen, at, known, labels, anchor, rays, heads, light, tables, draws, rare, walks, out,
):  # fmt: skip
    """Take the chosen blocks of pulses first, first + step, ... to their next trace, or to their returns.

    Args:
        first, step, count: Share of the chosen blocks.
        numbers, chosen, at, known, labels: As for `follow_light`.
        anchor, rays, heads, light, tables, draws, rare, out: As for `sweep_waveform`.
        walks: `PulseWalks`.
    """
    owned = (steps.new_levels(), rows.new_scratch(), steps.new_names(), steps.new_receiver(light, tables))
    levels, (spot, spot_hit), named_rays, (of_samples, of_returns) = owned
    (drawn_by, draw_of, normals, samples, logs), (peaks, kept, order, spans) = of_samples, of_returns
    u_of, v_of, weight_of, pulse_of, slope_of = named_rays
    named = -1  # first ray of those that are named
    fit = rare[first]
    together, most, bundle = tables.switch[wt.V_BATCH], tables.switch[wt.V_PULSES], tables.u.shape[0]
    far = light.number[tb.N_FAR]
    traced, found, base = walks.rays, known.found, known.base
    scratch = new_media(room_for(known, light), light.switch[tb.S_LEVELS])
    for turn in range(first, count, step):
        walk = chosen[turn]
        stage, row, batch, begin = traced.stage[walk], at[turn], walks.batch[walk], walks.begin[walk]
        block, hit, child, child_hit = traced.block[walk], traced.hit[walk], traced.child[walk], traced.child_hit[walk]
        slot_f, slot_i, widths = traced.slot_f[walk], traced.slot_i[walk], walks.widths[walk]
        pulses, up, histograms = walks.pulses[walk], walks.up[walk], _of_block(walks.histograms, walk)
        head, start, used = block_of(numbers[walk], rays.x.shape[0], most)
        world = heads.world[head]
        element, among = numbers_of(rays, heads, draws, head, start)
        if stage == AIM:
            steps.fire_pulses(pulses, up, levels, rays, heads, light, draws, numbers[walk], most)
            tree.start_paths(block, hit, light.medium, light.number[tb.N_POWER])
            traced.waiting[walk], batch, begin = 0, np.int64(0), np.int64(0)
        else:
            # What the hits send back, and what goes on from them
            here = min(together, used - batch)
            lit = min(BLOCK, here * bundle - begin)
            if begin != named:
                named = begin
                name_rays(tables, u_of, v_of, weight_of, pulse_of, slope_of, named)
            if stage == FIRST:
                media = media_of_walk(scratch, traced, walk, block, light, anchor[world], known, row, lit)
                tree.start_paths(block, hit, light.medium, light.number[tb.N_POWER])
                light_up_found(block, hit, media, light, found, row, base, True, lit)
                names = (weight_of, pulse_of, u_of, v_of)
                ar.add_first_rays(block, hit, media, light, tables, histograms, *names, begin, lit)
                if light.switch[tb.S_DEPTH] > 0:
                    queue = queue_of_walk(traced.queue, walk)
                    traced.waiting[walk] = tree.spawn(
                        block, hit, media.stacks, media.beyond, light, world, queue, np.int64(0)
                    )
                if light.switch[tb.S_SUN] > 0:
                    centers = steps.pick_centers(block, hit, spot, spot_hit, tables, pulse_of, begin, lit)
                    if centers > 0:
                        aim_at_sun(spot, spot_hit, child, light.sun, centers)
                        ask(traced, walk, SUN, child, centers)
                        continue
            elif stage == SUN:
                centers = steps.pick_centers(block, hit, spot, spot_hit, tables, pulse_of, begin, lit)
                mark_lit(child_hit, found, row, centers)
                add_sunlight(spot, spot_hit, child, child_hit, light.sun, centers)
                steps.keep_sunlight(spot, spot_hit, pulses, batch, centers)
            else:
                many, names = traced.pending[walk], (weight_of, pulse_of, u_of, v_of)
                if look_past_left(child, child_hit, known, row, many):
                    ask(traced, walk, CHILDREN, child, many)
                    continue
                media = media_of_walk(scratch, traced, walk, child, light, anchor[world], known, row, many)
                light_up_found(child, child_hit, media, light, found, row, base, False, many)
                ar.add_children(child, child_hit, media, light, tables, histograms, *names, many)
                queue, waiting = queue_of_walk(traced.queue, walk), traced.waiting[walk]
                traced.waiting[walk] = tree.spawn(
                    child, child_hit, media.stacks, media.beyond, light, world, queue, waiting
                )
            if ask_for_children(traced, walk, light):
                continue

            # What the electronics make of a batch, and the returns in that
            begin += BLOCK
            if begin >= here * bundle:
                planned = steps.shape(histograms, tables, light, pulses, batch, here, drawn_by, draw_of, spans)
                if planned > 0:
                    draw_normals(drawn_by, draw_of, normals, planned, draws.key, element + batch, draws.tick, among)
                steps.receive(
                    histograms, samples, logs, normals, spans, light, tables, draws, element, among, pulses,
                    heads.start[head], fit, peaks, kept, order, slot_f, slot_i, widths, out.samples, head, start, batch,
                    here,
                )  # fmt: skip
                batch, begin = batch + together, np.int64(0)
            if batch >= used:
                if light.number[tb.N_JITTER] > np.float32(0.0):
                    straighten(pulses, used)
                steps.write_pulses(
                    pulses, slot_f, slot_i, widths, rays, anchor, labels, light, draws, element, among, head, world,
                    start, used, out,
                )  # fmt: skip
                name_faces(known.faces, head, start, used, out.light)
                traced.pending[walk] = 0
                continue

        # The next rays
        walks.batch[walk], walks.begin[walk] = batch, begin
        lit = min(BLOCK, min(together, used - batch) * bundle - begin)
        if begin != named:
            named = begin
            name_rays(tables, u_of, v_of, weight_of, pulse_of, slope_of, named)
        aim_rays(block, pulses, up, u_of, v_of, slope_of, tables, batch, begin, far, lit)
        ask(traced, walk, FIRST, block, lit)
    jit.held(owned)


@jit.function
def _of_block(histograms, walk):
    """Histograms of one block of pulses."""
    return ar.Histograms(
        histograms.cells[walk],
        histograms.mist_cells[walk],
        histograms.end_cells[walk],
        histograms.power[walk],
        histograms.mist[walk],
        histograms.ends[walk],
        histograms.vote[walk],
        histograms.total[walk],
        histograms.sender[walk],
        histograms.sole[walk],
        histograms.face[walk],
        histograms.reach[walk],
        histograms.medium[walk],
    )
