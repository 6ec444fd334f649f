"""The waveform kernel: a pulse is a bundle of rays through the ray tree into a time histogram, and returns out of it.

Pulses are fired in batches whose rays fill a block; what the light kernel does to a block of rays is done to it here as
it stands, but for the end: returns of rays are not chosen but added up, and found in what the electronics make of it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.optics.waveform import SPEED_OF_LIGHT
from sensorium.trace.light import choose, rows, shade, tree, write
from sensorium.trace.light import tables as tb
from sensorium.trace.light.kernel import LightOutputs, jitter, light_up, straighten
from sensorium.trace.light.sunlight import gather_sunlight
from sensorium.trace.packet import B_TIME, BLOCK, new_block, new_packet, set_mask, trace_block
from sensorium.trace.sweep import aim_block, aim_numbered
from sensorium.trace.waveform import arrivals as ar
from sensorium.trace.waveform import tables as wt
from sensorium.trace.waveform.beam import aim_rays
from sensorium.trace.waveform.detect import detect
from sensorium.trace.waveform.digitise import digitise, new_samples, noise_of
from sensorium.trace.waveform.returns import add_false_alarm, choose_returns, keep_between, put_return

# Samples whose signal is below this share of the threshold are noise to a detector
_FAINT = np.float32(0.1)


class WaveformOutputs(NamedTuple):
    """What the kernel writes."""

    light: LightOutputs  # (heads, returns, pulses)
    width_s: NDArray[np.float32]  # (heads, returns, pulses) full width at half maximum, 0 where nothing returns
    samples: NDArray[np.float32]  # (heads, pulses, bins), or no pulses where they are not kept


@jit.kernel
def sweep_waveform(
    first, step, count, arrays, labels, anchor, rays, heads, light, tables, draws, rare, mask, coherent, scattered, out
):
    """Fire the blocks first, first + step, ... of pulses of all heads.

    Args:
        first, step, count: Share of the blocks; every head has as many, of `tables.switch[V_PULSES]` pulses each.
        arrays: `InstanceTables`; anchor: float64 (worlds, 3) [m].
        labels: `LabelTables`.
        rays: `RayTables`, the axes of pulses; heads: `Heads`.
        light: `LightTables`; tables: `WaveformTables`.
        draws: Randomness, as for the light kernel.
        rare: Scratch of the decomposition, (threads, SCRATCH) float64; None for other detectors, which do not need it
            compiled.
        mask: Bits of the objects to see.
        coherent, scattered: Addresses of Embree's arguments for first rays and for their children.
        out: `WaveformOutputs`.
    """
    # Scratch
    packet = new_packet()
    set_mask(packet[1], mask)
    pulses, up = rows.new_scratch()[0], new_block()[0]
    levels = np.zeros(BLOCK, np.float32), np.ones(BLOCK, np.float32)
    block, hit = rows.new_scratch()
    child, child_hit = rows.new_scratch()
    spot, spot_hit = rows.new_scratch()
    depth, slots = light.switch[tb.S_DEPTH], light.switch[tb.S_SLOTS]
    queue_f, queue_i = tree.new_queue(depth)
    slot_f, slot_i = choose.new_slots(slots)
    widths = np.zeros((slots, BLOCK), np.float32)
    together, most = tables.switch[wt.V_BATCH], tables.switch[wt.V_PULSES]
    length = tables.switch[wt.V_BINS] + 2 * tables.pulse.shape[1]
    histograms = ar.new_histograms(together, length, tables.switch[wt.V_AIR] > 0)
    samples, normals = new_samples(length)
    peaks, found = np.zeros((wt.MOST_FOUND, 3), np.int32), np.zeros((wt.MOST_FOUND, wt.FOUND_COLUMNS))
    order, voted = np.zeros(slots, np.int64), np.zeros(ar.SENDER_COLUMNS, np.int32)
    weight_of, pulse_of, sub_of = np.zeros(BLOCK, np.float32), np.zeros(BLOCK, np.int32), np.zeros(BLOCK, np.int32)
    fit = None if rare is None else rare[first]

    around, beyond = -1, -1  # media that the paths in the block start in; the same from block to block
    total = rays.x.shape[0]
    for number in range(first, count, step):
        # Axes of the pulses, and the sensor's own z axis beside each
        head, start, used = aim_numbered(pulses, rays, heads, number, most)
        world, time = heads.world[head], rays.time[start : start + used]
        scene, medium = arrays.scene[world], draws.medium[head]
        element, among = np.int64(head % draws.sensors) * total + start, draws.first_world + world
        aim_block(up, levels[0], levels[0], levels[1], time, heads.matrix[head], heads.time, used)
        if light.number[tb.N_JITTER] > np.float32(0.0):
            jitter(pulses, draws, element, among, light.number[tb.N_JITTER], used)
        shade.draw_block(pulses, draws.key, element, draws.tick, among, slots > 1, used)
        for k in range(used):
            pulses[rows.AMBIENT + k] = np.float32(0.0)

        for batch in range(0, used, together):
            here = min(together, used - batch)
            many = here * tables.u.shape[0]
            for begin in range(0, many, BLOCK):
                lit = min(BLOCK, many - begin)
                far = light.number[tb.N_FAR]
                aim_rays(
                    block, pulses, up, tables.u, tables.v, tables.weight, tables.number, weight_of, pulse_of, sub_of,
                    batch, begin, far, lit,
                )  # fmt: skip
                if medium != around or draws.outer[head] != beyond:
                    around, beyond = medium, draws.outer[head]
                    tree.start_paths(block, hit, around, beyond, light.medium, light.number[tb.N_POWER])
                _follow(
                    block, hit, child, child_hit, queue_f, queue_i, packet, arrays, world, scene, coherent, scattered,
                    light, tables, histograms, weight_of, pulse_of, sub_of, lit,
                )  # fmt: skip
                if light.switch[tb.S_SUN] > 0:
                    _look_at_sunlight(
                        block, hit, spot, spot_hit, child, child_hit, packet, scene, scattered,
                        light, tables, pulse_of, sub_of, pulses, batch, lit,
                    )  # fmt: skip

            _receive(
                histograms, samples, normals, light, tables, draws, medium, element, among, pulses, heads.start[head],
                fit, peaks, found, order, voted, slot_f, slot_i, widths, out.samples, head, start, batch, here,
            )  # fmt: skip

        # The returns reported
        if light.number[tb.N_JITTER] > np.float32(0.0):
            straighten(pulses, used)
        _write(
            pulses,
            slot_f,
            slot_i,
            widths,
            rays,
            anchor,
            labels,
            light,
            draws,
            element,
            among,
            head,
            world,
            start,
            used,
            out,
        )


@jit.function
def _follow(
    block, hit, child, child_hit, queue_f, queue_i, packet, arrays, world, scene, coherent, scattered,
    light, tables, histograms, weight_of, pulse_of, sub_of, used,
):  # fmt: skip
    """Trace a block of rays and their children, and add what comes back."""
    floats, words, active = packet
    corners = light.corner_reflectance.size > 0
    depth, passes = light.switch[tb.S_DEPTH], light.switch[tb.S_ROUND_TRIP]
    beam_tan2, floor = light.number[tb.N_BEAM_TAN2], light.number[tb.N_FLOOR]
    trace_block(block, hit, floats, words, active, scene, coherent, corners, used)
    light_up(block, hit, arrays, light, world, used)
    ar.add_surfaces(block, hit, tables, histograms, weight_of, pulse_of, sub_of, np.bool_(False), used)
    if depth == 0:
        return
    waiting = np.int64(0)
    waiting = tree.spawn(
        block, hit, light.material, light.medium, beam_tan2, floor, passes, depth, queue_f, queue_i, waiting, used
    )
    while waiting > 0:
        batch = min(BLOCK, waiting)
        waiting -= batch
        tree.take(child, child_hit, light.medium, queue_f, queue_i, waiting, batch, light.number[tb.N_FAR])
        trace_block(child, child_hit, floats, words, active, scene, scattered, corners, batch)
        light_up(child, child_hit, arrays, light, world, batch)
        ar.add_surfaces(child, child_hit, tables, histograms, weight_of, pulse_of, sub_of, np.bool_(True), batch)
        if tables.switch[wt.V_AIR] > 0:
            ar.add_air_of_children(child, child_hit, light, tables, histograms, weight_of, pulse_of, sub_of, batch)
        waiting = tree.spawn(
            child,
            child_hit,
            light.material,
            light.medium,
            beam_tan2,
            floor,
            passes,
            depth,
            queue_f,
            queue_i,
            waiting,
            batch,
        )


@jit.function
def _look_at_sunlight(
    block, hit, spot, spot_hit, shadow, shadow_hit, packet, scene, scattered, light, tables, pulse_of, sub_of,
    pulses, batch, used,
):  # fmt: skip
    """Sunlight of each pulse, as the ray in its middle sees it."""
    floats, words, active = packet
    count = 0
    for k in range(used):
        if sub_of[k] == tables.switch[wt.V_CENTRE]:
            for row in range(rows.FLOATS // BLOCK):
                spot[row * BLOCK + count] = block[row * BLOCK + k]
            for row in range(rows.WORDS // BLOCK):
                spot_hit[row * BLOCK + count] = hit[row * BLOCK + k]
            spot_hit[rows.RAY + count] = np.uint32(pulse_of[k])
            count += 1
    if count == 0:
        return
    gather_sunlight(spot, spot_hit, shadow, shadow_hit, floats, words, active, scene, scattered, light.sun, count)
    for i in range(count):
        pulses[rows.AMBIENT + batch + spot_hit[rows.RAY + i]] = spot[rows.AMBIENT + i]


@jit.function
def _receive(
    histograms, samples, normals, light, tables, draws, medium, element, among, pulses, voided_before,
    rare, peaks, found, order, voted, slot_f, slot_i, widths, kept, head, start, batch, here,
):  # fmt: skip
    """From the histograms of a batch of pulses to their returns, in slots; and samples, where they are kept."""
    # Plain arrays: to hand on a tuple of arrays costs as much as to work on them
    number, pulse, first_tap = tables.number, tables.pulse, tables.first_tap
    d_number, d_switch, edge = tables.detector.number, tables.detector.switch, tables.detector.edge
    cells, power, mist, ends = histograms.cells, histograms.power, histograms.mist, histograms.ends
    vote, total, sender, reach = histograms.vote, histograms.total, histograms.sender, histograms.reach
    key, tick, nominal = draws.key, draws.tick, light.number
    slots, returns, airy, keeps = (
        light.switch[tb.S_SLOTS],
        light.switch[tb.S_RETURNS],
        mist.shape[0] > 0,
        kept.shape[1] > 0,
    )
    pads, bins, margin, one = pulse.shape[1], tables.switch[wt.V_BINS], tables.switch[wt.V_MARGIN], np.float32(1.0)
    gain, full_scale = number[wt.W_GAIN], number[wt.W_FULL_SCALE]
    half = np.int64(0.5 * d_number[wt.D_WIDTH]) + 1
    seconds_a_bin = one / (number[wt.W_BINS_A_M] * np.float32(0.5 * SPEED_OF_LIGHT))
    near = ar.place_of(number, nominal[tb.N_NEAR] * nominal[tb.N_CALIBRATED_INDEX], pads)
    far = ar.place_of(number, nominal[tb.N_FAR] * nominal[tb.N_CALIBRATED_INDEX], pads)
    for p in range(here):
        k = batch + p
        background = pulses[rows.AMBIENT + k]
        for j in range(slots):
            slot_f[j * choose.FLOATS_A_SLOT + choose.KEY + k] = choose.NONE

        # The light in its bins
        low, high = reach[p, 0], reach[p, 1] + 1
        first, last = max(low + first_tap, 0), min(high + first_tap + pads, power.shape[1])
        ar.shape_pulse(cells, power, pulse, first_tap, one, p, low, high)
        if airy:
            ar.shape_pulse(histograms.mist_cells, mist, pulse, first_tap, one, p, low, high)
            share = one / number[wt.W_PULSE_SUM]
            ar.shape_pulse(histograms.end_cells, ends, pulse, first_tap, share, p, low, high)
            airs = tables.air_bins[medium]
            first, last = ar.add_air(power, mist, ends, tables.air[medium], airs, pads, p, first, last)

        # Samples, only where light matters unless all are asked for
        threshold = max(d_number[wt.D_SIGMAS] * np.float32(noise_of(number, background)) * gain, d_number[wt.D_LEAST])
        if d_switch[wt.E_KIND] == wt.BY_CFAR:
            threshold = d_number[wt.D_LEAST]
        low, high, faint = first, last, _FAINT * threshold / gain
        while low < high and power[p, low] <= faint:
            low += 1
        while high > low and power[p, high - 1] <= faint:
            high -= 1
        low, high = max(low - margin, pads), min(high + margin, pads + bins)
        if keeps:
            low, high = pads, pads + bins
        count = 0
        if high > low:
            full = np.float32(np.inf)
            if full_scale > np.float32(0.0):
                full = full_scale - background * gain
            digitise(power, p, samples, normals, number, background, pads, low, high, key, element + k, tick, among)
            count = detect(samples, low, high, threshold, full, d_number, d_switch, edge, rare, peaks, found)
        if keeps:
            for b in range(bins):
                kept[head, start + k, b] = samples[pads + b] + background * gain

        # Returns, unless a reset made the pulse void
        if pulses[B_TIME + k] >= voided_before:
            chance = pulses[rows.UNIFORM + k]
            count = add_false_alarm(
                found, count, number, chance, threshold, low, high, pads, bins, key, element + k, tick, among
            )
            count = keep_between(found, count, near, far)
            choose_returns(found, count, returns, slots, order)
            for j in range(slots):
                if order[j] >= 0:
                    put_return(
                        found, order[j], number, half, pads, power, mist, vote, total, sender, p, samples,
                        slot_f, slot_i, j, k, voted,
                    )  # fmt: skip
                    widths[j, k] = found[order[j], wt.F_WIDTH] * seconds_a_bin
        elif keeps:
            for b in range(bins):
                kept[head, start + k, b] = np.float32(0.0)
        ar.clear(power, vote, total, reach, p, first, last)
        if airy:
            ar.clear_air(mist, ends, p, first, last)


@jit.function
def _write(
    pulses, slot_f, slot_i, widths, rays, anchor, labels, light, draws, element, among, head, world, start, used, out
):
    """Returns with their errors, to where the reading is."""
    end, to = start + used, out.light
    for j in range(to.range_m.shape[1]):
        if j >= 2 and j % 2 == 0:
            write.draw_again(pulses, draws, element, among, j, used)
        range_m = to.range_m[head, j, start:end]
        normals = rows.NORMAL if j % 2 == 0 else rows.NORMAL_2
        write.finish_ranges(pulses, slot_f, slot_i, light.number, j, normals, range_m, used)
        if light.switch[tb.S_IN_WORLD] > 0:
            write.write_points_in_world(pulses, anchor[world], range_m, to.points_W[head, j, start:end], used)
        else:
            points = to.points_S[head, j, start:end]
            write.write_points(pulses, rays.x[start:end], rays.y[start:end], rays.z[start:end], range_m, points, used)
            if rays.origin.shape[0] > 0:
                write.shift_points(pulses, rays.origin[start:end], points, used)
        write.write_returns(
            slot_f,
            slot_i,
            labels,
            world,
            j,
            used,
            to.intensity[head, j, start:end],
            to.cause[head, j, start:end],
            to.depth[head, j, start:end],
            to.object_id[head, j, start:end],
            to.face_id[head, j, start:end],
            to.mirror_id[head, j, start:end],
            to.label[head, j, start:end],
        )
        for k in range(used):
            there = slot_i[j * choose.WORDS_A_SLOT + choose.CAUSE + k] != tb.NO_CAUSE
            out.width_s[head, j, start + k] = widths[j, k] if there else np.float32(0.0)
    if light.switch[tb.S_SUN] > 0:
        for k in range(used):
            to.ambient[head, start + k] = pulses[rows.AMBIENT + k]
