"""Returned light of surfaces and media, added to the histograms of pulses by its time of arrival."""

import math

import numpy as np

from sensorium.physics.optics.detection.capture_table import captured_from_table
from sensorium.random import exp_f32
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT
from sensorium.tracing.kernels.light import curvature, rows, tree
from sensorium.tracing.kernels.light import pieces as pc
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.waveform import histograms as hg
from sensorium.tracing.kernels.waveform import tables as wt

# rows of a block that bundles of rays have no other use for: the cell in which each ray's light falls (-1: none), how
# far behind its beginning [cells], and how much light
_CELL, _PART, _HEIGHT = rows.NORMAL, rows.NORMAL_2, rows.DROPOUT

# air whose light has been dimmed to this share no longer counts
_DIM = np.float32(1e-4)
_MOST_STEPS = 4096


@jit.inlined
def _is_seen(number, u, v, z):
    """Whether the receiver sees a ray's light at the reduced path z: inside its field, at first as wide as itself."""
    x = u * (number[wt.W_EXIT_RADIUS] + z * number[wt.W_TAN_ALONG]) - number[wt.W_FIELD_OFFSET]
    y = v * (number[wt.W_EXIT_RADIUS] + z * number[wt.W_TAN_ACROSS])
    radius = number[wt.W_FIELD_RADIUS] + z * number[wt.W_FIELD_TAN]
    return x * x + y * y <= radius * radius


@jit.function
def add_first_rays(block, hit, media, light, tables, histograms, names, first, used):
    """Add the returns of first rays: of surfaces, and in a scene with volumes of the media on the way."""
    block, hit, media, light = jit.uncounted((block, hit, media, light))
    tables, histograms, names = jit.uncounted((tables, histograms, names))
    volumes = light.switch[tb.S_CROSSINGS] > 0
    add_first_surfaces(block, hit, tables, histograms, names, first, not volumes, used)
    if volumes and tables.switch[wt.V_AIR] > 0:
        _end_in_first_medium(block, hit, media.pieces, tables, histograms, names, used)
        _add_pieces(block, hit, media.pieces, light, tables, histograms, names)


@jit.function
def add_children(block, hit, media, light, tables, histograms, names, used):
    """Add the returns of children: of surfaces, and of the media on their way."""
    block, hit, media, light = jit.uncounted((block, hit, media, light))
    tables, histograms, names = jit.uncounted((tables, histograms, names))
    add_surfaces_of_children(block, hit, tables, histograms, names, used)
    if tables.switch[wt.V_AIR] == 0:
        return
    if light.switch[tb.S_CROSSINGS] > 0:
        _add_pieces(block, hit, media.pieces, light, tables, histograms, names)
        return
    for k in range(used):
        _add_air_along(
            block, hit, light, tables, histograms, names, k, np.int64(0), np.int64(0),
            np.float32(0.0), block[pk.B_T_FAR + k], np.float32(0.0), block[rows.PATH_OPL + k], block[rows.PATH_Z + k],
        )  # fmt: skip


@jit.function
def _end_in_first_medium(block, hit, pieces, tables, histograms, names, used):
    """Compute the echo of the medium around a pulse's start by table, for each ray up to its exit from that medium.

    Pieces covered by the table are removed. A ray that starts in another medium ends at once for that table.
    """
    number, pads, reach = tables.number, tables.pulse.shape[1], histograms.reach
    last, weight_of, pulse_of = np.float32(histograms.vote.shape[1] - 2), names.weight, names.pulse
    for i in range(pieces.used[0]):
        if pieces.number[i, pc.P_FROM] == np.float32(0.0):
            p = pulse_of[hit[rows.RAY + pieces.word[i, pc.P_RAY]]]
            if histograms.medium[p] == hg.NO_MEDIUM:
                histograms.medium[p] = pieces.word[i, pc.P_MEDIUM]
    for k in range(used):
        block[_PART + k] = np.float32(-1.0)  # where the ray leaves that medium [m]
    for i in range(pieces.used[0]):
        k = pieces.word[i, pc.P_RAY]
        p = pulse_of[hit[rows.RAY + k]]
        if pieces.number[i, pc.P_FROM] == np.float32(0.0) and histograms.medium[p] == pieces.word[i, pc.P_MEDIUM]:
            beyond = pieces.number[i, pc.P_TO] == block[pk.B_T_FAR + k] and hit[rows.COLUMN + k] == NO_HIT
            length = np.float32(np.inf) if beyond else pieces.number[i, pc.P_TO]
            block[_PART + k] = pieces.number[i, pc.P_OPL] + block[rows.MEDIUM_N + k] * length
            pieces.word[i, pc.P_MEDIUM] = hg.NO_MEDIUM
    for k in range(used):
        p = pulse_of[hit[rows.RAY + k]]
        if histograms.medium[p] == hg.NO_MEDIUM or block[_PART + k] == np.float32(np.inf):
            continue
        place = max(hg.place_of(number, max(block[_PART + k], np.float32(0.0)), pads), np.float32(0.0))
        if place <= last:
            hg.add_at(histograms.end_cells, p, place, weight_of[hit[rows.RAY + k]])
            bin = np.int32(place)
            reach[p, 0], reach[p, 1] = min(reach[p, 0], bin), max(reach[p, 1], bin + 1)


@jit.function
def _add_pieces(block, hit, pieces, light, tables, histograms, names):
    """Add the returns of the stretches of rays in media."""
    block, hit, pieces, light = jit.uncounted((block, hit, pieces, light))
    tables, histograms, names = jit.uncounted((tables, histograms, names))
    for i in range(pieces.used[0]):
        medium = np.int64(pieces.word[i, pc.P_MEDIUM])
        if medium >= 0:
            length = pieces.number[i, pc.P_TO] - pieces.number[i, pc.P_FROM]
            _add_air_along(
                block, hit, light, tables, histograms, names,
                np.int64(pieces.word[i, pc.P_RAY]), medium, np.int64(pieces.word[i, pc.P_INDEX]),
                pieces.number[i, pc.P_FROM], length, pieces.number[i, pc.P_TAU], pieces.number[i, pc.P_OPL],
                pieces.number[i, pc.P_Z],
            )  # fmt: skip


@jit.function
def add_first_surfaces(block, hit, tables, histograms, names, first, ends_air, used):
    """Add the returns of surfaces that first rays hit; the air before them ends there too.

    Args:
        block, hit: Scratch, shaded.
        tables: `WaveformTables`.
        histograms: `Histograms`.
        names: `RayNames`.
        first: Number of the block's first ray in the batch.
        ends_air: Whether the air ends there.
        used: Rays in the block.
    """
    block, hit, tables, histograms = jit.uncounted((block, hit, tables, histograms))
    weight_of, u_of, v_of = jit.uncounted((names.weight, names.u, names.v))
    number, pads, zero = tables.number, tables.pulse.shape[1], np.float32(0.0)
    last, none = np.float32(histograms.vote.shape[1] - 2), np.float32(-1.0)
    for k in range(used):
        t = block[pk.B_T_FAR + k]
        seen = _is_seen(number, u_of[k], v_of[k], block[rows.PATH_Z + k] + block[rows.WIDENING + k] * t)
        place = hg.place_of(number, block[rows.PATH_OPL + k] + block[rows.MEDIUM_N + k] * t, pads)
        at = place * np.float32(wt.CELLS)
        cell = np.float32(math.floor(at))
        arrives = (hit[rows.COLUMN + k] != NO_HIT) & (place >= zero) & (place <= last)
        block[_CELL + k] = cell if arrives else none
        block[_PART + k] = at - cell
        block[_HEIGHT + k] = block[rows.STRENGTH + k] * weight_of[k] if seen else zero
    cells, end_cells, reach, sole = histograms.cells, histograms.end_cells, histograms.reach, histograms.sole
    vote, total, sender, face = histograms.vote, histograms.total, histograms.sender, histograms.face
    rays, misty = tables.u.shape[0], ends_air and end_cells.shape[0] > 0
    k, pulse = 0, first // rays
    while k < used:
        # All rays of a pulse, and whether one object sends all their light
        p, end = np.uint32(pulse), min((pulse + 1) * rays - first, used)
        least, most = _senders(block, hit, np.uint32(k), np.uint32(end - k))
        one = least > most or (least == most and (sole[p] == hg.NO_SENDER or sole[p] == least))
        if least == most and one:
            sole[p] = least
        elif not one and sole[p] != hg.SEVERAL:
            hg.open_votes(cells, vote, total, sender, face, reach, sole, p)
        low, high = reach[p, 0], reach[p, 1]
        for i in range(np.uint32(k), np.uint32(end)):
            place = block[np.uint32(_CELL) + i]
            if place < zero:
                continue
            cell, part, height = np.uint32(place), block[np.uint32(_PART) + i], block[np.uint32(_HEIGHT) + i]
            bin = cell // np.uint32(wt.CELLS)
            low, high = min(low, np.int32(bin)), max(high, np.int32(bin) + np.int32(1))
            if misty:
                hg.add(end_cells, p, cell, part, weight_of[i])
            if height > zero:
                hg.add(cells, p, cell, part, height)
                its_face = np.int32(hit[np.uint32(pk.B_FACE) + i])
                if one:
                    face[p, bin] = its_face
                else:
                    who = np.int64(hit[np.uint32(rows.COLUMN) + i])
                    hg.cast_vote(vote, total, sender, face, p, bin, height, who, its_face)
        reach[p, 0], reach[p, 1] = low, high
        k, pulse = end, pulse + 1


@jit.inlined
def _senders(block, hit, start, count):
    """Least and greatest number of the objects that some rays' light arrives from; where none does, the other way."""
    least, most = NO_HIT, np.uint32(0)
    for i in range(count):
        column = hit[np.uint32(rows.COLUMN) + start + i]
        arrives = block[np.uint32(_CELL) + start + i] >= np.float32(0.0)
        least = min(least, column if arrives else NO_HIT)
        most = max(most, column if arrives else np.uint32(0))
    return np.int64(least), np.int64(most)


@jit.function
def add_surfaces_of_children(block, hit, tables, histograms, names, used):
    """Add the returns of surfaces that children hit; arguments as for first rays, whose numbers the children carry."""
    block, hit, tables, histograms, names = jit.uncounted((block, hit, tables, histograms, names))
    u_of, v_of, weight_of, pulse_of = names.u, names.v, names.weight, names.pulse
    number, pads, zero = tables.number, tables.pulse.shape[1], np.float32(0.0)
    cells, reach, sole = histograms.cells, histograms.reach, histograms.sole
    vote, total, sender, face = histograms.vote, histograms.total, histograms.sender, histograms.face
    last = np.float32(vote.shape[1] - 2)
    for k in range(used):
        if hit[rows.COLUMN + k] == NO_HIT:
            continue
        ray, t = hit[rows.RAY + k], block[pk.B_T_FAR + k]
        place = hg.place_of(number, block[rows.PATH_OPL + k] + block[rows.MEDIUM_N + k] * t, pads)
        height, z = block[rows.STRENGTH + k] * weight_of[ray], block[rows.PATH_Z + k] + block[rows.WIDENING + k] * t
        if place < zero or place > last or height <= zero or not _is_seen(number, u_of[ray], v_of[ray], z):
            continue
        p, bin = np.uint32(pulse_of[ray]), np.uint32(place)
        if sole[p] != hg.SEVERAL:
            hg.open_votes(cells, vote, total, sender, face, reach, sole, p)
        reach[p, 0], reach[p, 1] = min(reach[p, 0], np.int32(bin)), max(reach[p, 1], np.int32(bin) + 1)
        hg.add_at(cells, p, place, height)
        depth, mirror = tree.depth_of(hit[rows.NODE + k]), np.int32(hit[rows.MIRROR + k])
        who = hg.sender_of(np.int32(hit[rows.COLUMN + k]), mirror, depth)
        hg.cast_vote(vote, total, sender, face, p, bin, height, who, np.int32(hit[pk.B_FACE + k]))


@jit.function
def _add_air_along(
    block,
    hit,
    light,
    tables,
    histograms,
    names,
    k,
    medium,
    index,
    start,
    end,
    tau,
    opl,
    z_start,
):
    """Add the returns of a medium along a stretch of ray k, in steps of half a pulse.

    Args:
        block, hit, light, tables, histograms, names: As for `add_children`.
        k: Ray; medium: number of the medium; index: that of the medium whose index counts there.
        start: Where the stretch begins along the ray [m]; end: its length [m].
        tau, opl, z_start: Optical depth since the ray's start [1], optical path and reduced path [m] at its beginning.
    """
    block, hit, light = jit.uncounted((block, hit, light))
    tables, histograms, names = jit.uncounted((tables, histograms, names))
    beta = tables.backscatter[medium]
    if beta <= np.float32(0.0):
        return
    number, media, reach, pads = tables.number, light.medium, histograms.reach, tables.pulse.shape[1]
    mist_cells, last = histograms.mist_cells, np.float32(histograms.vote.shape[1] - 2)
    passes, inverse_z0 = np.float32(light.switch[tb.S_ROUND_TRIP]), light.number[tb.N_INVERSE_Z0]
    ray = hit[rows.RAY + k]
    p, u, v = names.pulse[ray], names.u[ray], names.v[ray]
    steps = min(np.int64(end / number[wt.W_AIR_STEP_M]) + 1, _MOST_STEPS)
    step = min(end / np.float32(steps), number[wt.W_AIR_STEP_M])
    kept = block[rows.GAIN + k] * names.weight[ray] * beta * step
    for i in range(steps):
        x = (np.float32(i) + np.float32(0.5)) * step
        lost = exp_f32(-passes * (tau + media[medium, tb.G_ALPHA] * x))
        if lost < _DIM:
            break
        z = z_start + x * media[index, tb.G_WIDENING]
        place = hg.place_of(number, opl + media[index, tb.G_INDEX] * x, pads)
        if place < np.float32(0.0) or place > last or not _is_seen(number, u, v, z):
            continue
        if light.switch[tb.S_CURVED] > 0:
            z = curvature.spread_at(block, k, z, start + x, media[index, tb.G_WIDENING])
        hg.add_at(mist_cells, p, place, kept * lost * captured_from_table(light.capture, z, inverse_z0))
        bin = np.int32(place)
        reach[p, 0], reach[p, 1] = min(reach[p, 0], bin), max(reach[p, 1], bin + 1)
