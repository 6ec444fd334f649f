"""The beam kernel, `sweep_beams`, in stages for rays that other processes trace; see bundles/stages.py."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.beams import gather
from sensorium.tracing.kernels.beams.kernel import report_beams
from sensorium.tracing.kernels.bundles import stages as bs
from sensorium.tracing.kernels.bundles import steps
from sensorium.tracing.kernels.bundles import tables as bt
from sensorium.tracing.kernels.bundles.rays import name_rays, new_names
from sensorium.tracing.kernels.bundles.tables import BeamTables
from sensorium.tracing.kernels.geometry.ray_errors import draws_from, draws_of
from sensorium.tracing.kernels.light import choose, rows, tree
from sensorium.tracing.kernels.light import stages as ls
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.media_stack import new_media
from sensorium.tracing.kernels.light.steps import draw_children, light_up_found, offer_media
from sensorium.tracing.kernels.sweep import BlockPlace, block_of


class BeamWalks(NamedTuple):
    """Active blocks of beams, one per row."""

    bundles: bs.BundleWalks
    air_f: NDArray[np.float32]  # slots of the air
    air_i: NDArray[np.int32]
    arrivals: gather.Arrivals  # each array with an axis of blocks before its own


def new_beam_walks(count: int, light: tb.LightTables, tables: BeamTables) -> BeamWalks:
    """Arrays for this many active blocks."""
    shape, slots = (count, int(tables.switch[bt.V_PULSES]), int(tables.room)), gather.AIR_SLOTS + 1
    return BeamWalks(
        bundles=bs.new_bundle_walks(count, light, int(light.switch[tb.S_SLOTS]) + 1),
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
def follow_beams(first, step, count, chosen, known, aim, light, draws, walks, cast, out):
    """Advance the chosen blocks of beams first, first + step, ... to their next trace, or to their returns.

    Args:
        first, step, count: Share of the chosen blocks.
        chosen, known, aim, light, draws, out: As for `follow_light`.
        walks: `BeamWalks`; cast: `BeamCast`.
    """
    rays, heads, anchor = aim
    tables, unlimited = cast
    owned = (steps.new_levels(), rows.new_scratch(), new_names())
    levels, (spot, spot_hit), names = owned
    weight_of, pulse_of = names.weight, names.pulse
    bundles = walks.bundles
    drawn, order = np.zeros(BLOCK + 1, np.int32), jit.zeros(tables.room, np.int64)
    named = -1  # first ray of those that are named
    together, most, bundle = tables.switch[bt.V_BATCH], tables.switch[bt.V_PULSES], tables.u.shape[0]
    airy, far, traced = light.switch[tb.S_ATMOSPHERE] > 0, light.number[tb.N_FAR], bundles.rays
    found, base = known.found, known.base
    scratch = new_media(ls.room_for(known, light), light.switch[tb.S_LEVELS])
    for turn in range(first, count, step):
        walk = chosen.row[turn]
        stage, row, batch, begin = traced.stage[walk], chosen.at[turn], bundles.batch[walk], bundles.begin[walk]
        block, hit, child, child_hit = traced.block[walk], traced.hit[walk], traced.child[walk], traced.child_hit[walk]
        beams, up = bundles.axes[walk], bundles.up[walk]
        slots, air = ls.slots_of_walk(traced, walk), choose.ReturnSlots(walks.air_f[walk], walks.air_i[walk])
        arrivals = _of_block(walks.arrivals, walk)
        head, start, used = block_of(chosen.number[walk], rays.x.shape[0], most)
        own = draws_of(rays, heads, draws, head, start)
        world, mine = heads.world[head], draws_from(own, batch)
        if stage == ls.AIM:
            steps.fire_bundles(beams, up, levels, rays, heads, light, draws, chosen.number[walk], most)
            traced.waiting[walk], batch, begin = 0, np.int64(0), np.int64(0)
            for k in range(used):
                arrivals.filled[k] = 0
        else:
            # Returns of the hits, and their children
            many = min(together, used - batch) * bundle
            lit = min(BLOCK, many - begin)
            if begin != named:
                named = begin
                name_rays(tables, names, named)
            if stage == ls.FIRST:
                tree.start_paths(block, hit, light.medium, light.number[tb.N_POWER])
                media = ls.media_of_walk(scratch, traced, walk, block, light, anchor[world], known, row, lit)
                light_up_found(block, hit, media, light, found, row, base, True, lit)
                gather.add_first_surfaces(block, hit, tables, arrivals, weight_of, batch, begin, lit)
                if airy:
                    gather.clear_air(air, lit)
                    gather.share_draws(beams, block, pulse_of, batch, lit)
                    offer_media(block, hit, media, unlimited, mine, pulse_of, air, drawn, lit)
                if light.switch[tb.S_DEPTH] > 0:
                    bs.send_on(traced, walk, block, hit, media, light, world, np.int64(0))
                if bs.ask_for_sun(bundles, walk, spot, spot_hit, light, tables, pulse_of, lit):
                    continue
            elif stage == ls.SUN:
                bs.take_sun(bundles, walk, spot, spot_hit, light, tables, known, row, pulse_of, lit)
            else:
                here = traced.pending[walk]
                if ls.look_past_left(child, child_hit, known, row, here):
                    ls.ask(traced, walk, ls.CHILDREN, child, here)
                    continue
                media = ls.media_of_walk(scratch, traced, walk, child, light, anchor[world], known, row, here)
                light_up_found(child, child_hit, media, light, found, row, base, False, here)
                gather.add_surfaces_of_children(
                    child, child_hit, tables, arrivals, weight_of, pulse_of, batch, begin, here
                )
                if airy:
                    draw_children(child, child_hit, light, mine, pulse_of, here)
                    offer_media(child, child_hit, media, unlimited, mine, pulse_of, air, drawn, here)
                bs.send_on(traced, walk, child, child_hit, media, light, world, traced.waiting[walk])
            if ls.ask_for_children(traced, walk, light):
                continue
            if airy:
                gather.add_air(air, arrivals, weight_of, pulse_of, batch, lit)
            begin += BLOCK
            if begin >= many:
                batch, begin = batch + together, np.int64(0)
            if batch >= used:
                place = BlockPlace(head, world, start, used)
                report_beams(arrivals, order, beams, slots, aim, known.labels, light, tables, own, place, out)
                ls.name_faces(known.faces, head, start, used, out)
                traced.pending[walk] = 0
                continue

        # The next rays
        named = bs.ask_for_rays(bundles, walk, block, names, named, tables, batch, begin, far, used)
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
