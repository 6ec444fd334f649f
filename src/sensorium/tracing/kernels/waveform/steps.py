"""Steps of the waveform kernel on a block of pulses, beside the steps of the light kernel on rays.

Between the steps rays are traced: directly by kernel.py, or in the processes of a partitioned scene, see stages.py.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.runtime import jit
from sensorium.tracing.embree.packet import B_TIME
from sensorium.tracing.kernels.geometry.ray_errors import straighten
from sensorium.tracing.kernels.light import choose, rows, write
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.waveform import histograms as hg
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.detect import detect
from sensorium.tracing.kernels.waveform.digitize import digitize, new_draws, noise_of, plan_draws
from sensorium.tracing.kernels.waveform.returns import add_false_alarm, choose_returns, keep_between, put_return
from sensorium.tracing.kernels.waveform.timing import SPARE

# columns of a pulse's spans [bins]: light, samples, and the place of the first sample's noise
SPAN_FIRST, SPAN_LAST, SPAN_LOW, SPAN_HIGH, SPAN_NOISE = range(5)
SPAN_COLUMNS = 5

# Samples whose signal is below this share of the threshold are noise to a detector
_FAINT = np.float32(0.1)


class Receiver(NamedTuple):
    """Arrays for the samples of pulses and their noise, and for detected returns."""

    drawn_by: NDArray[np.int32]  # pulse of each draw
    draw_of: NDArray[np.int32]  # its number
    normals: NDArray[np.float32]  # and its normal numbers
    samples: NDArray[np.float32]
    logs: NDArray[np.float32]
    peaks: NDArray[np.int32]
    found: NDArray[np.float64]  # (MOST_FOUND, FOUND_COLUMNS)
    order: NDArray[np.int64]  # (slots,)
    spans: NDArray[np.int64]  # (pulses, SPAN_COLUMNS)


@jit.function
def new_receiver(light, tables):
    """`Receiver` of a batch of pulses."""
    slots, together = light.switch[tb.S_SLOTS], tables.switch[wt.V_BATCH]
    length = tables.switch[wt.V_BINS] + 2 * tables.pulse.shape[1]
    drawn_by, draw_of, normals = new_draws(together, length)
    return Receiver(
        drawn_by,
        draw_of,
        normals,
        np.zeros(length + SPARE, np.float32),
        np.zeros(length + SPARE, np.float32),
        np.zeros((wt.MOST_FOUND, 3), np.int32),
        np.zeros((wt.MOST_FOUND, wt.FOUND_COLUMNS)),
        np.zeros(slots, np.int64),
        np.zeros((together, SPAN_COLUMNS), np.int64),
    )


@jit.inlined
def shape(histograms, tables, pulses, batch, here, receiver):
    """Convolve the light of a batch of pulses into bins; returns how many draws its noise takes.

    Fills for each pulse the columns of `Receiver.spans`: which bins hold light, which are sampled, where the noise of
    the first of these will be. Samples exist only where light matters, unless all are requested.
    """
    histograms, tables, pulses, receiver = jit.uncounted((histograms, tables, pulses, receiver))
    drawn_by, draw_of, spans = receiver.drawn_by, receiver.draw_of, receiver.spans
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
        hg.shape_pulse(cells, power, pulse, first_tap, one, p, low, high)
        if airy:
            hg.shape_pulse(histograms.mist_cells, mist, pulse, first_tap, one, p, low, high)
            share = one / number[wt.W_PULSE_SUM]
            hg.shape_pulse(histograms.end_cells, ends, pulse, first_tap, share, p, low, high)
            medium = max(histograms.medium[p], np.int32(0))
            airs = tables.air_bins[medium] if histograms.medium[p] >= 0 else np.int32(0)
            first, last = hg.add_air(power, mist, ends, tables.air[medium], airs, pads, p, first, last)

        # Where light matters
        faint = _FAINT * threshold_of(tables, pulses[rows.AMBIENT + batch + p]) / number[wt.W_GAIN]
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
def threshold_of(tables, background):
    """Least height of a return for the detector, in the unit of the samples, at a background [W]."""
    number, d_number = tables.number, tables.detector.number
    if tables.detector.switch[wt.E_KIND] == wt.BY_CFAR:
        return d_number[wt.D_LEAST]
    noise = np.float32(noise_of(number, background)) * number[wt.W_GAIN]
    return max(d_number[wt.D_SIGMAS] * noise, d_number[wt.D_LEAST])


@jit.inlined
def receive(histograms, receiver, light, tables, draws, pulses, aim, rare, slots, widths, place, batch, here, out):
    """Detect the returns of a batch of pulses from the light in bins, into slots; and keep samples on request.

    Args:
        histograms: `Histograms`, cleared; receiver: `Receiver`.
        light: `LightTables`; tables: `WaveformTables`; draws: `BlockDraws`.
        pulses: Scratch of the block's pulses; aim: `SweepAim`.
        rare: Scratch of the decomposition.
        slots: `ReturnSlots`, filled; widths: float32 (slots, BLOCK), filled.
        place: `BlockPlace`; batch, here: first pulse of the batch in the block, and how many.
        out: `WaveformOutputs`, whose samples are filled if they are kept.
    """
    histograms, receiver, light, tables, draws = jit.uncounted((histograms, receiver, light, tables, draws))
    pulses, rare, slots, widths, kept = jit.uncounted((pulses, rare, slots, widths, out.samples))
    _, _, normals, samples, logs, peaks, found, order, spans = receiver
    (slot_f, _), head, start, voided_before = slots, place.head, place.start, aim.heads.start[place.head]
    key, tick, element, world = draws
    number, d_number = tables.number, tables.detector.number
    d_switch, edge = tables.detector.switch, tables.detector.edge
    power, mist, ends, faces = histograms.power, histograms.mist, histograms.ends, histograms.face
    sole, reach, nominal = histograms.sole, histograms.reach, light.number
    ranked, returns = light.switch[tb.S_SLOTS], light.switch[tb.S_RETURNS]
    airy, keeps, volumes = mist.shape[0] > 0, kept.shape[1] > 0, light.switch[tb.S_CROSSINGS] > 0
    pads, bins, one = tables.pulse.shape[1], tables.switch[wt.V_BINS], np.float32(1.0)
    gain, full_scale = number[wt.W_GAIN], number[wt.W_FULL_SCALE]
    half = np.int64(0.5 * d_number[wt.D_WIDTH]) + 1
    seconds_a_bin = one / (number[wt.W_BINS_A_M] * np.float32(0.5 * SPEED_OF_LIGHT_M_S))
    n = nominal[tb.N_CALIBRATED_INDEX]
    near = hg.place_of(number, nominal[tb.N_NEAR] * n, pads), hg.place_of(number, nominal[tb.N_EARLIEST] * n, pads)
    far = hg.place_of(number, nominal[tb.N_LATE] * n, pads), hg.place_of(number, nominal[tb.N_LATEST] * n, pads)
    for p in range(here):
        k = batch + p
        background = pulses[rows.AMBIENT + k]
        for j in range(ranked):
            slot_f[j * choose.FLOATS_A_SLOT + choose.KEY + k] = choose.NONE

        # Samples, and what the detector finds in them
        low, high, at = spans[p, SPAN_LOW], spans[p, SPAN_HIGH], spans[p, SPAN_NOISE]
        threshold, count = threshold_of(tables, background), 0
        if high > low:
            full = np.float32(np.inf)
            if full_scale > np.float32(0.0):
                full = full_scale - background * gain
            digitize(power, p, samples, normals, at, number, background, pads, low, high, key, element + k, tick, world)
            count = detect(samples, logs, low, high, threshold, full, d_number, d_switch, edge, rare, peaks, found)
        if keeps:
            for b in range(bins):
                kept[head, start + k, b] = samples[pads + b] + background * gain

        # Returns, unless a reset made the pulse void
        if pulses[B_TIME + k] >= voided_before:
            chance = pulses[rows.UNIFORM + k]
            count = add_false_alarm(
                found, count, number, chance, threshold, background, low, high, pads, bins, key, element + k, tick,
                world,
            )  # fmt: skip
            count = keep_between(found, count, near, far)
            choose_returns(found, count, returns, ranked, order)
            for j in range(ranked):
                if order[j] >= 0:
                    put_return(found, order[j], number, half, pads, histograms, p, samples, slots, j, k)
                    widths[j, k] = found[order[j], wt.F_WIDTH] * seconds_a_bin
        elif keeps:
            for b in range(bins):
                kept[head, start + k, b] = np.float32(0.0)
        hg.clear(power, sole, faces, reach, histograms.medium, volumes, p, spans[p, SPAN_FIRST], spans[p, SPAN_LAST])
        if airy:
            hg.clear_air(mist, ends, p, spans[p, SPAN_FIRST], spans[p, SPAN_LAST])


@jit.function
def write_pulses(pulses, slots, widths, aim, labels, light, draws, place, out):
    """Write returns with their errors to the arrays of the reading; arguments as for `write.write_block`."""
    pulses, slots, widths, aim, labels = jit.uncounted((pulses, slots, widths, aim, labels))
    light, draws, out = jit.uncounted((light, draws, out))
    head, _, start, used = place
    if light.number[tb.N_JITTER] > np.float32(0.0):
        straighten(pulses, used)
    to = out.light
    write.write_block(pulses, slots, aim, labels, light, draws, place, to)
    for j in range(to.range_m.shape[1]):
        for k in range(used):
            there = to.cause[head, j, start + k] != tb.NO_CAUSE
            out.width_s[head, j, start + k] = widths[j, k] if there else np.float32(0.0)
    if light.switch[tb.S_SUN] > 0:
        for k in range(used):
            to.ambient[head, start + k] = pulses[rows.AMBIENT + k]
