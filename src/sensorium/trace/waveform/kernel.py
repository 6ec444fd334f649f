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
from sensorium.trace.light.kernel import LightOutputs
from sensorium.trace.light.steps import jitter, light_up, straighten
from sensorium.trace.light.sunlight import gather_sunlight
from sensorium.trace.packet import B_TIME, BLOCK, new_block, new_packet, set_mask, trace_block
from sensorium.trace.sweep import aim_block, aim_numbered
from sensorium.trace.waveform import arrivals as ar
from sensorium.trace.waveform import tables as wt
from sensorium.trace.waveform.beam import aim_rays, find_axes, name_rays
from sensorium.trace.waveform.detect import detect
from sensorium.trace.waveform.digitise import digitise, draw_normals, new_draws, noise_of, plan_draws
from sensorium.trace.waveform.returns import add_false_alarm, choose_returns, keep_between, put_return
from sensorium.trace.waveform.timing import SPARE

# columns of a pulse's spans [bins]: light, samples, and the place of the first sample's noise
SPAN_FIRST, SPAN_LAST, SPAN_LOW, SPAN_HIGH, SPAN_NOISE = range(5)
SPAN_COLUMNS = 5

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
    # Nobody counts references: what came from outside stays, and the scratch is held until the end
    arrays, labels, rays, heads, light = jit.uncounted((arrays, labels, rays, heads, light))
    tables, draws, out, anchor = jit.uncounted((tables, draws, out, anchor))
    owned = _new_scratch(light, tables)
    of_rays, of_pulses = jit.uncounted(owned)
    packet, pulses, up, levels, first_rays, children, spots, queue, of_slots = of_rays
    histograms, of_samples, named_rays, of_returns = of_pulses
    (block, hit), (child, child_hit), (spot, spot_hit), (queue_f, queue_i) = first_rays, children, spots, queue
    (slot_f, slot_i, widths), (drawn_by, draw_of, normals, samples, logs) = of_slots, of_samples
    (u_of, v_of, weight_of, pulse_of, slope_of), (peaks, found, order, spans) = named_rays, of_returns
    set_mask(packet[1], mask)
    together, most = tables.switch[wt.V_BATCH], tables.switch[wt.V_PULSES]
    named = -1  # first ray of those that are named in a block
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
        find_axes(pulses, up, used)
        shade.draw_block(pulses, draws.key, element, draws.tick, among, light.switch[tb.S_SLOTS] > 1, used)
        for k in range(used):
            pulses[rows.AMBIENT + k] = np.float32(0.0)

        for batch in range(0, used, together):
            here = min(together, used - batch)
            many = here * tables.u.shape[0]
            for begin in range(0, many, BLOCK):
                lit = min(BLOCK, many - begin)
                if begin != named:
                    named = begin
                    name_rays(tables, u_of, v_of, weight_of, pulse_of, slope_of, named)
                far = light.number[tb.N_FAR]
                aim_rays(block, pulses, up, u_of, v_of, slope_of, tables, batch, begin, far, lit)
                if medium != around or draws.outer[head] != beyond:
                    around, beyond = medium, draws.outer[head]
                    tree.start_paths(block, hit, around, beyond, light.medium, light.number[tb.N_POWER])
                _follow(
                    block, hit, child, child_hit, queue_f, queue_i, packet, arrays, world, scene, coherent, scattered,
                    light, tables, histograms, weight_of, pulse_of, u_of, v_of, begin, lit,
                )  # fmt: skip
                if light.switch[tb.S_SUN] > 0:
                    _look_at_sunlight(
                        block, hit, spot, spot_hit, child, child_hit, packet, scene, scattered,
                        light, tables, pulse_of, pulses, batch, begin, lit,
                    )  # fmt: skip

            # What the electronics make of it, and the returns in that
            planned = _shape(histograms, tables, medium, light, pulses, batch, here, drawn_by, draw_of, spans)
            if planned > 0:
                draw_normals(drawn_by, draw_of, normals, planned, draws.key, element + batch, draws.tick, among)
            _receive(
                histograms, samples, logs, normals, spans, light, tables, draws, element, among, pulses,
                heads.start[head], fit, peaks, found, order, slot_f, slot_i, widths, out.samples, head, start, batch,
                here,
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
    jit.held(owned)


@jit.function
def _new_scratch(light, tables):
    """All that one thread needs: of rays and children, of slots; of histograms, samples and what is found in them."""
    depth, slots = light.switch[tb.S_DEPTH], light.switch[tb.S_SLOTS]
    together = tables.switch[wt.V_BATCH]
    length = tables.switch[wt.V_BINS] + 2 * tables.pulse.shape[1]
    slot_f, slot_i = choose.new_slots(slots)
    of_rays = (
        new_packet(),
        rows.new_scratch()[0],
        new_block()[0],
        (np.zeros(BLOCK, np.float32), np.ones(BLOCK, np.float32)),
        rows.new_scratch(),
        rows.new_scratch(),
        rows.new_scratch(),
        tree.new_queue(depth),
        (slot_f, slot_i, np.zeros((slots, BLOCK), np.float32)),
    )
    drawn_by, draw_of, normals = new_draws(together, length)
    of_pulses = (
        ar.new_histograms(together, length, tables.switch[wt.V_AIR] > 0),
        (drawn_by, draw_of, normals, np.zeros(length + SPARE, np.float32), np.zeros(length + SPARE, np.float32)),
        (
            np.zeros(BLOCK, np.float32),
            np.zeros(BLOCK, np.float32),
            np.zeros(BLOCK, np.float32),
            np.zeros(BLOCK, np.int32),
            np.zeros((3, BLOCK), np.float32),
        ),
        (
            np.zeros((wt.MOST_FOUND, 3), np.int32),
            np.zeros((wt.MOST_FOUND, wt.FOUND_COLUMNS)),
            np.zeros(slots, np.int64),
            np.zeros((together, SPAN_COLUMNS), np.int64),
        ),
    )
    return of_rays, of_pulses


@jit.inlined
def _follow(
    block, hit, child, child_hit, queue_f, queue_i, packet, arrays, world, scene, coherent, scattered,
    light, tables, histograms, weight_of, pulse_of, u_of, v_of, begin, used,
):  # fmt: skip
    """Trace a block of rays and their children, and add what comes back."""
    floats, words, active = packet
    corners = light.corner_reflectance.size > 0
    depth, passes = light.switch[tb.S_DEPTH], light.switch[tb.S_ROUND_TRIP]
    beam_tan2, floor = light.number[tb.N_BEAM_TAN2], light.number[tb.N_FLOOR]
    trace_block(block, hit, floats, words, active, scene, coherent, corners, used)
    light_up(block, hit, arrays, light, world, used)
    ar.add_first_surfaces(block, hit, tables, histograms, weight_of, u_of, v_of, begin, used)
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
        ar.add_surfaces_of_children(child, child_hit, tables, histograms, weight_of, pulse_of, u_of, v_of, batch)
        if tables.switch[wt.V_AIR] > 0:
            ar.add_air_of_children(child, child_hit, light, tables, histograms, weight_of, pulse_of, u_of, v_of, batch)
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
    block, hit, spot, spot_hit, shadow, shadow_hit, packet, scene, scattered, light, tables, pulse_of,
    pulses, batch, begin, used,
):  # fmt: skip
    """Sunlight of each pulse, as the ray in its middle sees it."""
    floats, words, active = packet
    count, rays, centre = 0, tables.u.shape[0], tables.switch[wt.V_CENTRE]
    for k in range(used):
        if (begin + k) % rays == centre:
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


@jit.inlined
def _shape(histograms, tables, medium, light, pulses, batch, here, drawn_by, draw_of, spans):
    """Light into its bins for a batch of pulses; returns how many draws its noise takes.

    Fills for each pulse the columns of `spans`: which bins hold light, which are sampled, where the noise of the first
    of these will be. Only where light matters are there samples, unless all are asked for.
    """
    histograms, tables, pulses = jit.uncounted((histograms, tables, pulses))
    drawn_by, draw_of, spans = jit.uncounted((drawn_by, draw_of, spans))
    number, pulse, first_tap = tables.number, tables.pulse, tables.first_tap
    cells, power, mist, ends, reach = (
        histograms.cells,
        histograms.power,
        histograms.mist,
        histograms.ends,
        histograms.reach,
    )
    pads, bins, margin, one = pulse.shape[1], tables.switch[wt.V_BINS], tables.switch[wt.V_MARGIN], np.float32(1.0)
    airy, keeps = mist.shape[0] > 0, tables.switch[wt.V_KEEP] > 0
    noisy = number[wt.W_NOISE_W] > np.float32(0.0) or number[wt.W_ELECTRONS_A_WATT] > np.float32(0.0)
    planned = 0
    for p in range(here):
        low, high = reach[p, 0], reach[p, 1] + 1
        first, last = max(low + first_tap, 0), min(high + first_tap + pads, power.shape[1])
        ar.shape_pulse(cells, power, pulse, first_tap, one, p, low, high)
        if airy:
            ar.shape_pulse(histograms.mist_cells, mist, pulse, first_tap, one, p, low, high)
            share = one / number[wt.W_PULSE_SUM]
            ar.shape_pulse(histograms.end_cells, ends, pulse, first_tap, share, p, low, high)
            airs = tables.air_bins[medium]
            first, last = ar.add_air(power, mist, ends, tables.air[medium], airs, pads, p, first, last)

        # Where light matters
        faint = _FAINT * _threshold(tables, pulses[rows.AMBIENT + batch + p]) / number[wt.W_GAIN]
        a, b = np.uint32(max(first, 0)), np.uint32(max(last, 0))
        while a < b and power[p, a] <= faint:
            a += np.uint32(1)
        while b > a and power[p, b - np.uint32(1)] <= faint:
            b -= np.uint32(1)
        low, high = max(np.int64(a) - margin, pads), min(np.int64(b) + margin, pads + bins)
        if keeps:
            low, high = pads, pads + bins
        spans[p, SPAN_FIRST], spans[p, SPAN_LAST] = first, last
        spans[p, SPAN_LOW], spans[p, SPAN_HIGH] = low, high
        if noisy and high > low:
            spans[p, SPAN_NOISE], planned = plan_draws(drawn_by, draw_of, planned, p, pads, low, high)
    return planned


@jit.inlined
def _threshold(tables, background):
    """Height of a return that the detector begins to look at, in the unit of the samples, at a background [W]."""
    number, d_number = tables.number, tables.detector.number
    if tables.detector.switch[wt.E_KIND] == wt.BY_CFAR:
        return d_number[wt.D_LEAST]
    noise = np.float32(noise_of(number, background)) * number[wt.W_GAIN]
    return max(d_number[wt.D_SIGMAS] * noise, d_number[wt.D_LEAST])


@jit.inlined
def _receive(
    histograms, samples, logs, normals, spans, light, tables, draws, element, among, pulses, voided_before,
    rare, peaks, found, order, slot_f, slot_i, widths, kept, head, start, batch, here,
):  # fmt: skip
    """From light in its bins to the returns of a batch of pulses, in slots; and samples, where they are kept."""
    histograms, samples, logs, normals, spans = jit.uncounted((histograms, samples, logs, normals, spans))
    light, tables, draws, pulses, kept = jit.uncounted((light, tables, draws, pulses, kept))
    peaks, found, order, slot_f, slot_i, widths = jit.uncounted((peaks, found, order, slot_f, slot_i, widths))
    number, d_number = tables.number, tables.detector.number
    d_switch, edge = tables.detector.switch, tables.detector.edge
    power, mist, ends, faces = histograms.power, histograms.mist, histograms.ends, histograms.face
    vote, total, sender, sole = histograms.vote, histograms.total, histograms.sender, histograms.sole
    reach, key, tick, nominal = histograms.reach, draws.key, draws.tick, light.number
    slots, returns = light.switch[tb.S_SLOTS], light.switch[tb.S_RETURNS]
    airy, keeps = mist.shape[0] > 0, kept.shape[1] > 0
    pads, bins, one = tables.pulse.shape[1], tables.switch[wt.V_BINS], np.float32(1.0)
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

        # Samples, and what the detector finds in them
        low, high, at = spans[p, SPAN_LOW], spans[p, SPAN_HIGH], spans[p, SPAN_NOISE]
        threshold, count = _threshold(tables, background), 0
        if high > low:
            full = np.float32(np.inf)
            if full_scale > np.float32(0.0):
                full = full_scale - background * gain
            digitise(power, p, samples, normals, at, number, background, pads, low, high, key, element + k, tick, among)
            count = detect(samples, logs, low, high, threshold, full, d_number, d_switch, edge, rare, peaks, found)
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
                        found, order[j], number, half, pads, power, mist, vote, total, sender, sole, faces, p,
                        samples, slot_f, slot_i, j, k,
                    )  # fmt: skip
                    widths[j, k] = found[order[j], wt.F_WIDTH] * seconds_a_bin
        elif keeps:
            for b in range(bins):
                kept[head, start + k, b] = np.float32(0.0)
        ar.clear(power, sole, faces, reach, p, spans[p, SPAN_FIRST], spans[p, SPAN_LAST])
        if airy:
            ar.clear_air(mist, ends, p, spans[p, SPAN_FIRST], spans[p, SPAN_LAST])


@jit.function
def _write(
    pulses, slot_f, slot_i, widths, rays, anchor, labels, light, draws, element, among, head, world, start, used, out
):
    """Returns with their errors, to where the reading is."""
    to = out.light
    write.write_block(
        pulses, slot_f, slot_i, rays, anchor, labels, light, draws, element, among, head, world, start, used, to
    )
    for j in range(to.range_m.shape[1]):
        for k in range(used):
            there = slot_i[j * choose.WORDS_A_SLOT + choose.CAUSE + k] != tb.NO_CAUSE
            out.width_s[head, j, start + k] = widths[j, k] if there else np.float32(0.0)
    if light.switch[tb.S_SUN] > 0:
        for k in range(used):
            to.ambient[head, start + k] = pulses[rows.AMBIENT + k]
