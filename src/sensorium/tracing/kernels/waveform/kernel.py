"""The waveform kernel: follows each pulse as a bundle of rays into a time histogram, and detects returns in it.

Pulses are fired in batches whose rays fill a block; the block goes through the steps of the light kernel except the
last: returns of rays are not chosen but added up, digitized and detected.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK, new_block, new_packet, set_mask, trace_block
from sensorium.tracing.kernels.bundles import steps as fired
from sensorium.tracing.kernels.bundles.rays import aim_rays, name_rays, new_names
from sensorium.tracing.kernels.geometry.ray_errors import draws_from, draws_of
from sensorium.tracing.kernels.light import choose, rows, tree
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.kernel import LightOutputs
from sensorium.tracing.kernels.light.media_stack import new_media
from sensorium.tracing.kernels.light.steps import cross_volumes, light_up
from sensorium.tracing.kernels.strong_light.sunlight import gather_sunlight
from sensorium.tracing.kernels.sweep import BlockPlace
from sensorium.tracing.kernels.waveform import arrivals as ar
from sensorium.tracing.kernels.waveform import histograms as hg
from sensorium.tracing.kernels.waveform import steps
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.digitize import draw_normals


class WaveformOutputs(NamedTuple):
    """Outputs of the kernel."""

    light: LightOutputs  # (heads, returns, pulses)
    width_s: NDArray[np.float32]  # (heads, returns, pulses) full width at half maximum, 0 where nothing returns
    samples: NDArray[np.float32]  # (heads, pulses, bins), or no pulses where they are not kept


@jit.kernel
def sweep_waveform(first, step, count, scene, aim, light, draws, cast):
    """Fire the blocks first, first + step, ... of pulses of all heads.

    Args:
        first, step, count: Share of the blocks; every head has as many, of `tables.switch[V_PULSES]` pulses each.
        scene, light, draws: As for `sweep_light`.
        aim: `SweepAim`, whose rays are the axes of pulses.
        cast: `PulseCast`.
    """
    # References are not counted: arguments outlive the call, and the scratch is held until the end
    scene, aim, light, draws, cast = jit.uncounted((scene, aim, light, draws, cast))
    rays, heads, anchor = aim
    tables, rare, out = cast
    owned = _new_scratch(light, tables)
    of_rays, of_pulses = jit.uncounted(owned)
    packet, pulses, up, levels, first_rays, children, spots, queue, media, (slots, widths) = of_rays
    histograms, receiver, names = of_pulses
    (block, hit), (child, child_hit), (spot, spot_hit) = first_rays, children, spots
    set_mask(packet[1], scene.masks[0])
    together, most = tables.switch[wt.V_BATCH], tables.switch[wt.V_PULSES]
    named = -1  # first ray of those that are named in a block
    fit = rare[first]

    volumes, fresh = light.switch[tb.S_CROSSINGS] > 0, False  # fresh: paths are as they leave the sensor
    for number in range(first, count, step):
        # Axes of the pulses, and the sensor's own z axis beside each
        head, start, used = fired.fire_bundles(pulses, up, levels, rays, heads, light, draws, number, most)
        world = heads.world[head]
        own, place = draws_of(rays, heads, draws, head, start), BlockPlace(head, world, start, used)

        for batch in range(0, used, together):
            here = min(together, used - batch)
            many = here * tables.u.shape[0]
            for begin in range(0, many, BLOCK):
                lit = min(BLOCK, many - begin)
                if begin != named:
                    named = begin
                    name_rays(tables, names, named)
                far = light.number[tb.N_FAR]
                aim_rays(block, pulses, up, names, tables, batch, begin, far, lit)
                if not fresh:
                    tree.start_paths(block, hit, light.medium, light.number[tb.N_POWER])
                    fresh = not volumes
                _follow(
                    first_rays, children, queue, media, packet, scene, anchor, world, light, tables, histograms, names,
                    begin, lit,
                )  # fmt: skip
                if light.switch[tb.S_SUN] > 0:
                    centers = fired.pick_centers(block, hit, spot, spot_hit, tables, names.pulse, begin, lit)
                    if centers > 0:
                        gather_sunlight(
                            spot, spot_hit, child, child_hit, packet[0], packet[1], packet[2],
                            scene.arrays.scene[world], scene.scattered, light.sun, centers,
                        )  # fmt: skip
                        fired.keep_sunlight(spot, spot_hit, pulses, batch, centers)

            # Digitize, and detect returns
            planned = steps.shape(histograms, tables, pulses, batch, here, receiver)
            if planned > 0:
                draw_normals(*receiver[:3], planned, draws_from(own, batch))
            steps.receive(
                histograms, receiver, light, tables, own, pulses, aim, fit, slots, widths, place, batch, here, out
            )

        # The returns reported
        steps.write_pulses(pulses, slots, widths, aim, scene.labels, light, own, place, out)
    jit.held(owned)


@jit.function
def _new_scratch(light, tables):
    """Scratch of one thread: for rays and children, for slots; for histograms, samples and detected returns."""
    depth, slots = light.switch[tb.S_DEPTH], light.switch[tb.S_SLOTS]
    length = tables.switch[wt.V_BINS] + 2 * tables.pulse.shape[1]
    of_rays = (
        new_packet(),
        rows.new_scratch()[0],
        new_block()[0],
        fired.new_levels(),
        rows.new_scratch(),
        rows.new_scratch(),
        rows.new_scratch(),
        tree.new_queue(depth, light.switch[tb.S_LEVELS], light.switch[tb.S_CURVED]),
        new_media(light.switch[tb.S_CROSSINGS], light.switch[tb.S_LEVELS]),
        (choose.new_slots(slots), np.zeros((slots, BLOCK), np.float32)),
    )
    histograms = hg.new_histograms(
        tables.switch[wt.V_BATCH], length, tables.switch[wt.V_AIR] > 0, light.switch[tb.S_CROSSINGS] > 0
    )
    return of_rays, (histograms, steps.new_receiver(light, tables), new_names())


@jit.inlined
def _follow(
    first_rays, children, queue, media, packet, scene, anchor, world, light, tables, histograms, names, begin, used
):
    """Trace a block of rays and their children, and add their returns."""
    (block, hit), (child, child_hit), (floats, words, active) = first_rays, children, packet
    arrays = scene.arrays
    corners, traced, far = light.corner_reflectance.size > 0, arrays.scene[world], light.number[tb.N_FAR]
    trace_block(block, hit, floats, words, active, traced, scene.coherent, corners, used)
    cross_volumes(block, media, packet, scene, light, anchor, world, True, used)
    light_up(block, hit, media, arrays, light, world, True, used)
    ar.add_first_rays(block, hit, media, light, tables, histograms, names, begin, used)
    if light.switch[tb.S_DEPTH] == 0:
        return
    waiting = tree.spawn(block, hit, media.stacks, media.beyond, light, world, queue, np.int64(0))
    while waiting > 0:
        batch = min(BLOCK, waiting)
        waiting -= batch
        tree.take(child, child_hit, media.stacks, light.medium, queue, waiting, batch, far)
        trace_block(child, child_hit, floats, words, active, traced, scene.scattered, corners, batch)
        tree.pass_left(child, child_hit, floats, words, active, arrays, world, scene.scattered, corners, far, batch)
        cross_volumes(child, media, packet, scene, light, anchor, world, False, batch)
        light_up(child, child_hit, media, arrays, light, world, False, batch)
        ar.add_children(child, child_hit, media, light, tables, histograms, names, batch)
        waiting = tree.spawn(child, child_hit, media.stacks, media.beyond, light, world, queue, waiting)
