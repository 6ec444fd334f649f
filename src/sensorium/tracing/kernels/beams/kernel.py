"""The kernel of beams of several rays: follows each beam's rays through the ray tree, merges and reports returns.

Between the aim and the report it follows the steps of the waveform kernel; the report is that of the light kernel, with
the draws of the beam.
"""

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK, new_block, new_packet, set_mask, trace_block
from sensorium.tracing.kernels.beams import gather
from sensorium.tracing.kernels.beams.gather import merge_beams
from sensorium.tracing.kernels.bundles import steps as fired
from sensorium.tracing.kernels.bundles import tables as bt
from sensorium.tracing.kernels.bundles.rays import aim_rays, name_rays, new_names
from sensorium.tracing.kernels.geometry.ray_errors import draws_from, draws_of
from sensorium.tracing.kernels.light import choose, rows, steps, tree
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.media_stack import new_media
from sensorium.tracing.kernels.strong_light.sunlight import gather_sunlight
from sensorium.tracing.kernels.sweep import BlockPlace


@jit.kernel
def sweep_beams(first, step, count, scene, aim, light, draws, cast, out):
    """Fire the blocks first, first + step, ... of beams of all heads.

    Args:
        first, step, count: Share of the blocks; every head has as many, of `tables.switch[V_PULSES]` beams each.
        scene, light, draws, out: As for `sweep_light`.
        aim: `SweepAim`, whose rays are the axes of beams.
        cast: `BeamCast`.
    """
    scene, aim, light, draws, cast, out = jit.uncounted((scene, aim, light, draws, cast, out))
    arrays, coherent, scattered = scene.arrays, scene.coherent, scene.scattered
    rays, heads, anchor = aim
    tables, unlimited = cast
    owned = _new_scratch(light, tables)
    of_rays, of_beams = jit.uncounted(owned)
    packet, (block, hit), (child, child_hit), (spot, spot_hit), queue, media, names = of_rays
    (beams, up, levels), slots, (air, drawn), arrivals, order = of_beams
    (floats, words, active), weight_of, pulse_of = packet, names.weight, names.pulse
    set_mask(words, scene.masks[0])
    together, most, bundle = tables.switch[bt.V_BATCH], tables.switch[bt.V_PULSES], tables.u.shape[0]
    depth, airy, far = light.switch[tb.S_DEPTH], light.switch[tb.S_ATMOSPHERE] > 0, light.number[tb.N_FAR]
    corners, volumes = light.corner_reflectance.size > 0, light.switch[tb.S_CROSSINGS] > 0
    named = -1  # first ray of those that are named in a block
    fresh = False  # whether paths in the block are as they leave the sensor; the same from block to block
    for number in range(first, count, step):
        head, start, used = fired.fire_bundles(beams, up, levels, rays, heads, light, draws, number, most)
        world = heads.world[head]
        traced = arrays.scene[world]
        own = draws_of(rays, heads, draws, head, start)
        for k in range(used):
            arrivals.filled[k] = 0
        for batch in range(0, used, together):
            many = min(together, used - batch) * bundle
            for begin in range(0, many, BLOCK):
                # First rays
                lit = min(BLOCK, many - begin)
                if begin != named:
                    named = begin
                    name_rays(tables, names, named)
                aim_rays(block, beams, up, names, tables, batch, begin, far, lit)
                if not fresh:
                    tree.start_paths(block, hit, light.medium, light.number[tb.N_POWER])
                    fresh = not volumes
                trace_block(block, hit, floats, words, active, traced, coherent, corners, lit)
                steps.cross_volumes(block, media, packet, scene, light, anchor, world, True, lit)
                steps.light_up(block, hit, media, arrays, light, world, True, lit)
                gather.add_first_surfaces(block, hit, tables, arrivals, weight_of, batch, begin, lit)
                if airy:
                    gather.clear_air(air, lit)
                    gather.share_draws(beams, block, pulse_of, batch, lit)
                    mine = draws_from(own, batch)
                    steps.offer_media(block, hit, media, unlimited, mine, pulse_of, air, drawn, lit)
                if light.switch[tb.S_SUN] > 0:
                    centers = fired.pick_centers(block, hit, spot, spot_hit, tables, pulse_of, begin, lit)
                    if centers > 0:
                        gather_sunlight(
                            spot, spot_hit, child, child_hit, floats, words, active, traced, scattered, light.sun,
                            centers,
                        )  # fmt: skip
                        fired.keep_sunlight(spot, spot_hit, beams, batch, centers)

                # Their children
                waiting = np.int64(0)
                if depth > 0:
                    waiting = tree.spawn(block, hit, media.stacks, media.beyond, light, world, queue, waiting)
                while waiting > 0:
                    here = min(BLOCK, waiting)
                    waiting -= here
                    tree.take(child, child_hit, media.stacks, light.medium, queue, waiting, here, far)
                    trace_block(child, child_hit, floats, words, active, traced, scattered, corners, here)
                    tree.pass_left(
                        child, child_hit, floats, words, active, arrays, world, scattered, corners, far, here
                    )
                    steps.cross_volumes(child, media, packet, scene, light, anchor, world, False, here)
                    steps.light_up(child, child_hit, media, arrays, light, world, False, here)
                    gather.add_surfaces_of_children(
                        child, child_hit, tables, arrivals, weight_of, pulse_of, batch, begin, here
                    )
                    if airy:
                        mine = draws_from(own, batch)
                        steps.draw_children(child, child_hit, light, mine, pulse_of, here)
                        steps.offer_media(child, child_hit, media, unlimited, mine, pulse_of, air, drawn, here)
                    waiting = tree.spawn(child, child_hit, media.stacks, media.beyond, light, world, queue, waiting)
                if airy:
                    gather.add_air(air, arrivals, weight_of, pulse_of, batch, lit)
        place = BlockPlace(head, world, start, used)
        report_beams(arrivals, order, beams, slots, aim, scene.labels, light, tables, own, place, out)
    jit.held(owned)


@jit.function
def report_beams(arrivals, order, beams, slots, aim, labels, light, tables, draws, place, out):
    """The returns of a block of beams, and the sunlight of each; arguments as for `steps.report`."""
    head, _, start, used = place
    voided_before = aim.heads.start[head]
    merge_beams(arrivals, order, beams, light, draws, tables.separation, voided_before, slots, used)
    steps.report(beams, slots, aim, labels, light, draws, place, out)
    if light.switch[tb.S_SUN] > 0:
        for k in range(used):
            out.ambient[head, start + k] = beams[rows.AMBIENT + k]


@jit.function
def _new_scratch(light, tables):
    """Scratch of one thread: for rays and their children; for beams and the arrivals along their rays."""
    of_rays = (
        new_packet(),
        rows.new_scratch(),
        rows.new_scratch(),
        rows.new_scratch(),
        tree.new_queue(light.switch[tb.S_DEPTH], light.switch[tb.S_LEVELS], light.switch[tb.S_CURVED]),
        new_media(light.switch[tb.S_CROSSINGS], light.switch[tb.S_LEVELS]),
        new_names(),
    )
    of_beams = (
        (rows.new_scratch()[0], new_block()[0], fired.new_levels()),
        choose.new_slots(light.switch[tb.S_SLOTS] + 1),
        gather.new_air(),
        gather.new_arrivals(np.int64(tables.switch[bt.V_PULSES]), tables.room),
        jit.zeros(tables.room, np.int64),
    )
    return of_rays, of_beams
