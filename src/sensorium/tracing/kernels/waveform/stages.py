"""The waveform kernel, `sweep_waveform`, in stages for rays that other processes trace; see bundles/stages.py."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.bundles import stages as bs
from sensorium.tracing.kernels.bundles import steps as fired
from sensorium.tracing.kernels.bundles.rays import name_rays, new_names
from sensorium.tracing.kernels.geometry.ray_errors import draws_from, draws_of
from sensorium.tracing.kernels.light import rows, tree
from sensorium.tracing.kernels.light import stages as ls
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.media_stack import new_media
from sensorium.tracing.kernels.light.steps import light_up_found
from sensorium.tracing.kernels.sweep import BlockPlace, block_of
from sensorium.tracing.kernels.waveform import arrivals as ar
from sensorium.tracing.kernels.waveform import histograms as hg
from sensorium.tracing.kernels.waveform import steps
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.digitize import draw_normals


class PulseWalks(NamedTuple):
    """Active blocks of pulses, one per row."""

    bundles: bs.BundleWalks
    widths: NDArray[np.float32]  # (blocks, slots, BLOCK)
    histograms: hg.Histograms  # each array with an axis of blocks before its own


def new_pulse_walks(count: int, light: tb.LightTables, tables: wt.WaveformTables) -> PulseWalks:
    """Arrays for this many active blocks."""
    slots = int(light.switch[tb.S_SLOTS])
    length = tables.switch[wt.V_BINS] + 2 * tables.pulse.shape[1]
    one = hg.new_histograms.py_func(  # type: ignore[attr-defined]
        tables.switch[wt.V_BATCH], length, tables.switch[wt.V_AIR] > 0, light.switch[tb.S_CROSSINGS] > 0
    )
    return PulseWalks(
        bundles=bs.new_bundle_walks(count, light, slots),
        widths=np.zeros((count, slots, BLOCK), np.float32),
        histograms=hg.Histograms(*(np.repeat(column[None], count, axis=0) for column in one)),
    )


@jit.kernel
def follow_pulses(first, step, count, chosen, known, aim, light, draws, walks, cast):
    """Advance the chosen blocks of pulses first, first + step, ... to their next trace, or to their returns.

    Args:
        first, step, count: Share of the chosen blocks.
        chosen, known, aim, light, draws: As for `follow_light`.
        walks: `PulseWalks`; cast: `PulseCast`.
    """
    rays, heads, anchor = aim
    tables, rare, out = cast
    owned = (fired.new_levels(), rows.new_scratch(), new_names(), steps.new_receiver(light, tables))
    levels, (spot, spot_hit), names, receiver = owned
    bundles = walks.bundles
    named = -1  # first ray of those that are named
    fit = rare[first]
    together, most, bundle = tables.switch[wt.V_BATCH], tables.switch[wt.V_PULSES], tables.u.shape[0]
    far = light.number[tb.N_FAR]
    traced, found, base = bundles.rays, known.found, known.base
    scratch = new_media(ls.room_for(known, light), light.switch[tb.S_LEVELS])
    for turn in range(first, count, step):
        walk = chosen.row[turn]
        stage, row, batch, begin = traced.stage[walk], chosen.at[turn], bundles.batch[walk], bundles.begin[walk]
        block, hit, child, child_hit = traced.block[walk], traced.hit[walk], traced.child[walk], traced.child_hit[walk]
        slots, widths = ls.slots_of_walk(traced, walk), walks.widths[walk]
        pulses, up, histograms = bundles.axes[walk], bundles.up[walk], _of_block(walks.histograms, walk)
        head, start, used = block_of(chosen.number[walk], rays.x.shape[0], most)
        world = heads.world[head]
        own, place = draws_of(rays, heads, draws, head, start), BlockPlace(head, world, start, used)
        if stage == ls.AIM:
            fired.fire_bundles(pulses, up, levels, rays, heads, light, draws, chosen.number[walk], most)
            tree.start_paths(block, hit, light.medium, light.number[tb.N_POWER])
            traced.waiting[walk], batch, begin = 0, np.int64(0), np.int64(0)
        else:
            # Returns of the hits, and their children
            here = min(together, used - batch)
            lit = min(BLOCK, here * bundle - begin)
            if begin != named:
                named = begin
                name_rays(tables, names, named)
            if stage == ls.FIRST:
                media = ls.media_of_walk(scratch, traced, walk, block, light, anchor[world], known, row, lit)
                tree.start_paths(block, hit, light.medium, light.number[tb.N_POWER])
                light_up_found(block, hit, media, light, found, row, base, True, lit)
                ar.add_first_rays(block, hit, media, light, tables, histograms, names, begin, lit)
                if light.switch[tb.S_DEPTH] > 0:
                    bs.send_on(traced, walk, block, hit, media, light, world, np.int64(0))
                if bs.ask_for_sun(bundles, walk, spot, spot_hit, light, tables, names.pulse, lit):
                    continue
            elif stage == ls.SUN:
                bs.take_sun(bundles, walk, spot, spot_hit, light, tables, known, row, names.pulse, lit)
            else:
                many = traced.pending[walk]
                if ls.look_past_left(child, child_hit, known, row, many):
                    ls.ask(traced, walk, ls.CHILDREN, child, many)
                    continue
                media = ls.media_of_walk(scratch, traced, walk, child, light, anchor[world], known, row, many)
                light_up_found(child, child_hit, media, light, found, row, base, False, many)
                ar.add_children(child, child_hit, media, light, tables, histograms, names, many)
                bs.send_on(traced, walk, child, child_hit, media, light, world, traced.waiting[walk])
            if ls.ask_for_children(traced, walk, light):
                continue

            # Digitize a batch, and detect returns
            begin += BLOCK
            if begin >= here * bundle:
                planned = steps.shape(histograms, tables, pulses, batch, here, receiver)
                if planned > 0:
                    draw_normals(*receiver[:3], planned, draws_from(own, batch))
                steps.receive(
                    histograms, receiver, light, tables, own, pulses, aim, fit, slots, widths, place, batch, here, out
                )
                batch, begin = batch + together, np.int64(0)
            if batch >= used:
                steps.write_pulses(pulses, slots, widths, aim, known.labels, light, own, place, out)
                ls.name_faces(known.faces, head, start, used, out.light)
                traced.pending[walk] = 0
                continue

        # The next rays
        named = bs.ask_for_rays(bundles, walk, block, names, named, tables, batch, begin, far, used)
    jit.held(owned)


@jit.function
def _of_block(histograms, walk):
    """Histograms of one block of pulses."""
    return hg.Histograms(
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
