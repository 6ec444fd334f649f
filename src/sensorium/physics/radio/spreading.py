"""Echoes in the cells of a frame, after windowed transforms over antennas, chirps and samples.

Cells have phases that count from the middle of antennas, chirps and samples, so that an echo of amplitude A at the
fractional cells p appears in cell c as A prod W(c - p) along all axes (`windows`); all axes are cyclic.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.radio.windows import TERMS, spread_line
from sensorium.runtime import jit

# Ground has an echo in every cell: only cells next to its speed are computed
_REACH_OF_GROUND = np.int64(3)

# An echo that moves by less than this within a frame is treated as fixed [range cells], and a piece of the frame in
# which the weights of a faster one change linearly is at most as long as that takes
_STILL = 1.0 / 32.0

# A weight below this is none: a whole cell away from an echo in a cell, sines of multiples of pi are not quite zero
_NOTHING = 1e-7

MOST_TAPS = 2 * TERMS - 1
"""Cells that noise of one cell is shared between along an axis, at most."""


class Scatterers(NamedTuple):
    """Scatterers, head after head."""

    start: NDArray[np.int64]  # (heads + 1,) first of each head
    cell: NDArray[np.float64]  # (n, 4) row beam, beam, speed and range at mid-frame, in cells, not folded
    amplitude: NDArray[np.float32]  # (n, 2) real and imaginary part [sqrt(W)]
    migration: NDArray[np.float64]  # (n,) how far the range moves within a frame, in cells
    in_one_cell: NDArray[np.bool_]  # (n,) ground: whole cells of range and beam
    is_straight: NDArray[np.bool_]  # (n,) there and back without a mirror


class Grid(NamedTuple):
    """Cells of a frame, and how echoes and noise spread over them; axes are row beams, beams, speeds and ranges."""

    beams: NDArray[np.int64]  # (b,) numbers of the beams that are formed, rising; all or those around the field
    counts: NDArray[np.int64]  # (4,) rows, antennas of the virtual row, chirps of a transmitter and samples
    reach: NDArray[np.int64]  # (4,) how many cells echoes spread to each side
    terms: NDArray[np.float64]  # (4, TERMS) of the windows
    shifts: NDArray[np.int64]  # (4, MOST_TAPS) to which cells noise of one cell goes
    taps: NDArray[np.float32]  # (4, MOST_TAPS) how much of it; 0 where there are fewer
    weights: NDArray[np.float64]  # (antennas,) of the virtual row, of sum 1
    chirp_weights: NDArray[np.float64]  # (chirps,) likewise
    transmitters: int  # that send in turn
    noise_W: float  # mean of a cell before windows


@jit.function
def shifted(index, shift, count):
    """Cell that a cell's noise goes to along a cyclic axis, and its sign (`windows`)."""
    at = index + shift
    if 0 <= at < count:
        return at, np.float32(1.0)
    turns = at // count
    return at - turns * count, np.float32(-1.0) if turns & (count - 1) & 1 else np.float32(1.0)


@jit.function
def _weigh(terms, at, reach, count, room, cells, weights):
    """Cells in a row that an echo at a place spreads to, and its weight in each; returns how many."""
    first = math.floor(at + 0.5) - reach
    number = min(2 * reach + 1, count)
    spread_line(terms, first - at, np.float64(count), number, room)
    for i in range(number):
        cells[i], sign = shifted(first + i, np.int64(0), count)
        weight = room[i] if abs(room[i]) > _NOTHING else 0.0
        weights[i] = np.float32(weight) * sign
    return number


@jit.function
def _weigh_beams(grid, place, room, cells, weights, real, imaginary):
    """Weights of an echo in the beams that are formed, of one transmitter: real."""
    real[...], imaginary[...] = np.float32(0.0), np.float32(0.0)
    antennas = grid.counts[1]
    number = _weigh(grid.terms[1], place + antennas // 2, grid.reach[1], antennas, room, cells, weights)
    for i in range(number):
        b = cells[i] - antennas // 2 - grid.beams[0]
        if 0 <= b < grid.beams.size:
            real[b] = weights[i]


@jit.function
def weight_in_turn(grid, place, behind, beam):
    """Weight of an echo in a beam where transmitters send in turn, real and imaginary part.

    Transmitter k sends (k - (n - 1) / 2) T_c off the middle, within which the phase of an echo turns by its speed. The
    receiver corrects it by the speed of the cell; the residual is 2 pi k behind / n.

    Args:
        grid: Of the frame.
        place: Beam of the echo, in cells.
        behind: Speed of the echo less that of the cell, in cells over the number of chirps.
        beam: Of the cell.
    """
    antennas, transmitters = grid.counts[1], grid.transmitters
    receivers, a, c = antennas // transmitters, 0.0, 0.0
    for n in range(antennas):
        turn = (n - 0.5 * (antennas - 1)) * (place - beam) / antennas
        turn += (n // receivers - 0.5 * (transmitters - 1)) * behind / transmitters
        a += grid.weights[n] * math.cos(2.0 * math.pi * turn)
        c += grid.weights[n] * math.sin(2.0 * math.pi * turn)
    return a, c


@jit.function
def signed_speed(speed, chirps):
    """A speed cell counted from -chirps / 2, as the motion between transmitters is taken out with it."""
    return speed - chirps if 2 * speed >= chirps else speed


@jit.function
def _add_row(real, imaginary, e, b, speed, first, a, c, weights, number):
    """Add (a + i c) times weights to a row, from one cell on, round its end."""
    ranges = real.shape[3]
    until = min(number, ranges - first)
    for k in range(until):
        real[e, b, speed, first + k] += a * weights[k]
        imaginary[e, b, speed, first + k] += c * weights[k]
    for k in range(until, number):
        real[e, b, speed, first + k - ranges] += a * weights[k]
        imaginary[e, b, speed, first + k - ranges] += c * weights[k]


@jit.function
def _smear(grid, place, migration, speeds, dn, ranges, rn, room, along, tile):
    """Weights over speeds and ranges of an echo whose range moves within the frame.

    Weights over ranges are computed at the ends of pieces of the frame, and change linearly in between: with steps
    instead, the frame would have side lobes along the speed that no radar has, 40 dB below the echo.

    Args:
        grid: Of the frame.
        place: Row beam, beam, speed and range of the echo at mid-frame, in cells.
        migration: Range cells that it moves by within the frame.
        speeds: Cells of speed.
        dn: How many.
        ranges: Cells of range, one after the other and round the end.
        rn: How many.
        room: For a line of weights.
        along: For four numbers for each speed.
        tile: Filled, real and imaginary part, (2, speeds, ranges).
    """
    chirps, samples = grid.counts[2], grid.counts[3]
    last = max(chirps - 1, 1)
    pieces = min(last, math.ceil(abs(migration) / _STILL))
    tile[:, :dn, :rn] = np.float32(0.0)
    along[:dn] = 0.0
    away = np.empty(rn, np.float32)
    for knot in range(pieces + 1):
        begin, end = -(-knot * last // pieces), min(-(-(knot + 1) * last // pieces), chirps)
        for j in range(dn):
            turn = 2.0 * math.pi * (place[2] - speeds[j]) / chirps
            step_real, step_imaginary = math.cos(turn), math.sin(turn)
            at = turn * (begin - 0.5 * (chirps - 1))
            a, c, next_real, next_imaginary = math.cos(at), math.sin(at), 0.0, 0.0
            real, imaginary = 0.0, 0.0
            for m in range(begin, end):
                real += grid.chirp_weights[m] * a
                imaginary += grid.chirp_weights[m] * c
                to_next = grid.chirp_weights[m] * (m * pieces / last - knot)
                next_real += to_next * a
                next_imaginary += to_next * c
                a, c = a * step_real - c * step_imaginary, a * step_imaginary + c * step_real
            along[j, 0] += real - next_real
            along[j, 1] += imaginary - next_imaginary
            along[j, 2], along[j, 3] = next_real, next_imaginary
        moved = place[3] + migration * (knot / pieces - 0.5) * (chirps - 1) / chirps
        spread_line(grid.terms[3], ranges[0] - moved, np.float64(samples), rn, room)
        for k in range(rn):
            sign = shifted(ranges[0] + k, np.int64(0), samples)[1]
            away[k] = sign * np.float32(room[k])
        for j in range(dn):
            a, c = np.float32(along[j, 0]), np.float32(along[j, 1])
            for k in range(rn):
                tile[0, j, k] += a * away[k]
                tile[1, j, k] += c * away[k]
            along[j, 0], along[j, 1] = along[j, 2], along[j, 3]


@jit.function
def add_scatterers(real, imaginary, scatterers, first, last, grid):
    """Spread the echoes of scatterers over the cells of a frame, (row beams, beams, speeds, ranges)."""
    rows, antennas, chirps, samples = grid.counts[0], grid.counts[1], grid.counts[2], grid.counts[3]
    beams, in_turn = grid.beams.size, grid.transmitters > 1
    most_moved = 0
    for i in range(first, last):
        most_moved = max(most_moved, math.ceil(abs(scatterers.migration[i])))
    ground_reach = 0
    for k in range(MOST_TAPS):
        ground_reach = max(ground_reach, abs(grid.shifts[3, k]) if grid.taps[3, k] != 0.0 else 0)
    extra = most_moved + 1
    dm, rm = min(2 * (grid.reach[2] + extra) + 1, chirps), min(2 * (grid.reach[3] + extra) + 1, samples)
    speeds, along = np.empty(dm, np.int64), np.empty(dm, np.float32)
    ranges, away = np.empty(rm, np.int64), np.empty(rm, np.float32)
    heights, up = np.empty(rows, np.int64), np.empty(rows, np.float32)
    across, turned = np.empty(beams, np.float32), np.empty(beams, np.float32)
    numbers, aside = np.empty(antennas, np.int64), np.empty(antennas, np.float32)
    room = np.empty(max(dm, rm, antennas, rows) + 2 * TERMS)
    tile, pair = np.empty((2, dm if most_moved else 1, rm if most_moved else 1), np.float32), np.empty((dm, 4))
    for i in range(first, last):
        alone, moved = scatterers.in_one_cell[i], scatterers.migration[i]
        a, c = scatterers.amplitude[i, 0], scatterers.amplitude[i, 1]
        place = scatterers.cell[i]
        more = math.ceil(abs(moved)) if abs(moved) > _STILL and not alone else 0
        reach_1 = min(grid.reach[2], _REACH_OF_GROUND) if alone else min(grid.reach[2] + more, chirps // 2)
        reach_2 = ground_reach if alone else min(grid.reach[3] + more, samples // 2)
        dn = _weigh(grid.terms[2], place[2], reach_1, chirps, room, speeds, along)
        if alone and not in_turn and rows == 1:
            _add_ground(real, imaginary, grid, place, a, c, dn, speeds, along)
            continue
        rn = _weigh(grid.terms[3], place[3], reach_2, samples, room, ranges, away)
        en = _weigh(grid.terms[0], place[0], grid.reach[0], rows, room, heights, up)
        if more:
            _smear(grid, place, moved, speeds, dn, ranges, rn, room, pair, tile)
        if not in_turn:
            _weigh_beams(grid, place[1], room, numbers, aside, across, turned)
        for j in range(dn):
            if in_turn:
                behind = (place[2] - signed_speed(speeds[j], chirps)) / chirps
                for b in range(beams):
                    across[b], turned[b] = weight_in_turn(grid, place[1], behind, grid.beams[b])
            for b in range(beams):
                if across[b] == np.float32(0.0) and turned[b] == np.float32(0.0):
                    continue
                for h in range(en):
                    p, q = across[b] * up[h], turned[b] * up[h]
                    x, y = p * a - q * c, p * c + q * a
                    if more:
                        _add_smeared(real, imaginary, heights[h], b, speeds[j], ranges[0], rn, tile[:, j], x, y)
                    else:
                        x, y = x * along[j], y * along[j]
                        _add_row(real, imaginary, heights[h], b, speeds[j], ranges[0], x, y, away, rn)


@jit.function
def _add_ground(real, imaginary, grid, place, a, c, dn, speeds, along):
    """Add a patch of ground, which is in whole cells of beam and range: windows mix it as they mix noise."""
    antennas, samples = grid.counts[1], grid.counts[3]
    zero = np.float32(0.0)
    for i in range(MOST_TAPS):
        if grid.taps[1, i] == zero:
            continue
        beam, sign = shifted(int(place[1]) + antennas // 2, grid.shifts[1, i], antennas)
        b = beam - antennas // 2 - grid.beams[0]
        if not 0 <= b < grid.beams.size:
            continue
        for k in range(MOST_TAPS):
            if grid.taps[3, k] == zero:
                continue
            r, turned = shifted(int(place[3]), grid.shifts[3, k], samples)
            share = sign * turned * grid.taps[1, i] * grid.taps[3, k]
            x, y = share * a, share * c
            for j in range(dn):
                real[0, b, speeds[j], r] += x * along[j]
                imaginary[0, b, speeds[j], r] += y * along[j]


@jit.function
def _add_smeared(real, imaginary, e, b, speed, first, number, line, a, c):
    """Add an echo whose weights over ranges are complex: (a + i c) times each, round the end of the row."""
    ranges, begin = real.shape[3], np.int64(0)
    while begin < number:
        at = (first + begin) % ranges
        until = min(number, begin + ranges - at)
        for k in range(begin, until):
            real[e, b, speed, at + k - begin] += a * line[0, k] - c * line[1, k]
            imaginary[e, b, speed, at + k - begin] += a * line[1, k] + c * line[0, k]
        begin = until
