"""Turns peaks into echoes, strongest first: each is refined with its neighbors subtracted, and two are resolved.

An echo between the cells of another, or in its side lobes, shifts that one's estimate and may have no peak of its own.
So echoes are fitted in turn (RELAX): each on the cells around it minus the models of the others. A residual around a
subtracted echo that exceeds the threshold is another one.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.radio.peaks import limit_of
from sensorium.physics.radio.refinement import refine
from sensorium.physics.radio.spreading import signed_speed
from sensorium.physics.radio.windows import TERMS, main_lobe, spread, spread_line
from sensorium.runtime import jit

ENVELOPE_STEPS = 8
"""Steps of the side lobes' envelope in a cell."""

# Two echoes are resolved from this distance on [cells], along one axis at least
_APART = 1.5

# Residual of an echo after its model is subtracted, at most: its share of the power, and the share that grows with the
# fourth power of the range cells it crosses within a frame, which the model does not include
LEFT = 0.002
_LEFT_MOVING = 0.03

# Relative to the noise in a cell: models of others below it are not subtracted
_TRACE = 0.01

# Without a model of its residual, a peak below this multiple of an echo's possible residual is its side lobe
_MARGIN = 4.0

# Cells to each side of an echo in which another is searched: within its main lobe, and at least this many
AROUND = 3
REGION = 2 * max(AROUND, TERMS) + 1
"""Cells of the block in which it is looked for, along each axis, at most."""
LINE = REGION + 2 * TERMS
"""Room for an echo's weights in it."""

# Rounds in which overlapping echoes are fitted again, and two that were resolved
_ROUNDS, _PAIR_ROUNDS = 2, 12

# Two are resolved once the second moves by less than this in a round [cells]
_SETTLED = 0.003


class Echo(NamedTuple):
    """Echoes of a frame; the first `count` entries are used."""

    center: NDArray[np.int64]  # (most, 4) cell around which it was fitted; beams by their number
    place: NDArray[np.float64]  # (most, 4) cells, from near the center
    amplitude: NDArray[np.complex128]  # (most,)
    limit: NDArray[np.float64]  # (most,) threshold that it exceeds [W]
    touched: NDArray[np.bool_]  # (most,) whether others reach it


@jit.function
def wrapped(x, count):
    """A distance in cells that count round, from -count / 2 to count / 2."""
    return x - count * math.floor(x / count + 0.5)


@jit.function
def _size(value):
    return value.real * value.real + value.imag * value.imag


@jit.function
def _leaked(envelope, x):
    """Largest power that an echo of power 1 spreads x cells away, give or take a quarter of a cell."""
    step = int(max(abs(x) - 0.25, 0.0) * ENVELOPE_STEPS)
    return envelope[step] if step < envelope.size else 0.0


@jit.function
def leak(place, at, receiver, slack):
    """The same over all axes, from a place to another, or to within some cells of it."""
    total = 1.0
    for axis in range(4):
        x = abs(wrapped(at[axis] - place[axis], np.float64(receiver.grid.counts[axis])))
        total *= _leaked(receiver.envelope[axis], max(x - slack, 0.0))
        if total == 0.0:
            break
    return total


@jit.function
def _gather(cube, receiver, center, sizes, block):
    """Cells around a center as if they went on for ever, with the sign that comes with each turn (`windows`)."""
    real, imaginary = cube
    grid = receiver.grid
    rows, antennas, chirps, samples = grid.counts[0], grid.counts[1], grid.counts[2], grid.counts[3]
    for h in range(sizes[0]):
        e = center[0] + h - sizes[0] // 2
        turns = (e // rows) * (rows - 1)
        for i in range(sizes[1]):
            beam = center[1] + i - sizes[1] // 2 + antennas // 2
            b = beam % antennas - antennas // 2 - grid.beams[0]
            is_formed = 0 <= b < grid.beams.size
            across = turns + (beam // antennas) * (antennas - 1)
            for j in range(sizes[2]):
                d = center[2] + j - sizes[2] // 2
                along = across + (d // chirps) * (chirps - 1)
                for k in range(sizes[3]):
                    r = center[3] + k - sizes[3] // 2
                    sign = -1.0 if (along + (r // samples) * (samples - 1)) % 2 else 1.0
                    block[h, i, j, k] = 0.0
                    if is_formed:
                        at = e % rows, b, d % chirps, r % samples
                        block[h, i, j, k] = sign * complex(real[at], imaginary[at])


@jit.function
def _take_away(block, receiver, center, sizes, place, amplitude, lines):
    """Take the model of an echo away from a block of cells."""
    grid = receiver.grid
    for axis in range(4):
        first = center[axis] - sizes[axis] // 2 - place[axis]
        spread_line(grid.terms[axis], first, np.float64(grid.counts[axis]), sizes[axis], lines[axis])
    for h in range(sizes[0]):
        for i in range(sizes[1]):
            for j in range(sizes[2]):
                share = amplitude * (lines[0, h] * lines[1, i] * lines[2, j])
                for k in range(sizes[3]):
                    block[h, i, j, k] -= share * lines[3, k]


@jit.function
def _reaches(echoes, i, at, receiver):
    """Whether an echo leaves anything within two cells of a place."""
    share = leak(echoes.place[i], at, receiver, 2.0)
    return share * _size(echoes.amplitude[i]) > _TRACE * receiver.cell_noise_W


@jit.function
def _without_others(cube, receiver, echoes, kept, own, center, sizes, work):
    """Cells around a center minus the models of all other echoes; returns whether any contributes."""
    block, lines = work
    _gather(cube, receiver, center, sizes, block)
    touched = False
    for i in range(kept):
        if i != own and _reaches(echoes, i, center, receiver):
            _take_away(block, receiver, center, sizes, echoes.place[i], echoes.amplitude[i], lines)
            touched = True
    return touched


@jit.function
def _fit(cube, receiver, echoes, kept, own, work):
    """Fit one echo with the others taken away, once more where it turns out nearer to another cell."""
    offset = np.empty(4)
    for _ in range(2):
        center = echoes.center[own]
        touched = _without_others(cube, receiver, echoes, kept, own, center, receiver.weights.cells, work)
        echoes.touched[own] = touched
        echoes.amplitude[own] = refine(work[0], receiver.weights, offset)
        moved = False
        for axis in range(4):
            echoes.place[own, axis] = center[axis] + offset[axis]
            step = math.floor(offset[axis] + 0.5)
            if step and receiver.weights.cells[axis] < receiver.grid.counts[axis]:
                center[axis] += step
                moved = True
        if not moved:
            break


@jit.function
def _are_apart(echoes, i, j, receiver):
    """Whether two echoes can be resolved along an axis."""
    for axis in range(4):
        count = np.float64(receiver.grid.counts[axis])
        if abs(wrapped(echoes.place[i, axis] - echoes.place[j, axis], count)) >= _APART:
            return True
    return False


@jit.function
def _left(echoes, i, receiver):
    """Power that may be left of an echo where its model is taken away [W]."""
    chirps = receiver.grid.counts[2]
    moved = signed_speed(echoes.place[i, 2] % chirps, chirps) * receiver.migration
    return min(LEFT + _LEFT_MOVING * moved**4, 1.0) * _size(echoes.amplitude[i])


@jit.function
def _split(cube, power, receiver, echoes, kept, own, work, ordered):
    """Look for another echo beside one, and fit both; returns how many there are then."""
    counts, grid = receiver.grid.counts, receiver.grid
    sizes, best, found = np.empty(4, np.int64), 0.0, np.zeros(4, np.int64)
    for axis in range(4):
        sizes[axis] = min(2 * max(AROUND, main_lobe(grid.terms[axis])) + 1, counts[axis])
    center = echoes.center[own]
    _without_others(cube, receiver, echoes, kept, own, center, sizes, work)
    _take_away(work[0], receiver, center, sizes, echoes.place[own], echoes.amplitude[own], work[1])
    for h in range(sizes[0]):
        for i in range(sizes[1]):
            for j in range(sizes[2]):
                for k in range(sizes[3]):
                    size = _size(work[0][h, i, j, k])
                    if size > best:
                        best = size
                        found[0], found[1], found[2], found[3] = h, i, j, k
    if best <= max(echoes.limit[own], _left(echoes, own, receiver)):
        return kept
    new = kept
    for axis in range(4):
        echoes.center[new, axis] = center[axis] + found[axis] - sizes[axis] // 2
    b = (echoes.center[new, 1] + counts[1] // 2) % counts[1] - counts[1] // 2 - grid.beams[0]
    if not 0 <= b < grid.beams.size:
        return kept
    row = power[echoes.center[new, 0] % counts[0], b, echoes.center[new, 2] % counts[2]]
    limit = limit_of(row, echoes.center[new, 3] % counts[3], receiver.threshold, ordered)
    if best <= limit:
        return kept

    # Both in turn
    old_center, old_place = center.copy(), echoes.place[own].copy()
    old_amplitude, old_touched = echoes.amplitude[own], echoes.touched[own]
    echoes.limit[new] = limit
    before = np.zeros(4)
    for turn in range(_PAIR_ROUNDS):
        _fit(cube, receiver, echoes, kept + 1, new, work)
        _fit(cube, receiver, echoes, kept + 1, own, work)
        change = np.abs(echoes.place[new] - before).max()
        if change < _SETTLED or (turn and _size(echoes.amplitude[new]) <= limit):
            break
        before[...] = echoes.place[new]
    sizes_are_right = _size(echoes.amplitude[new]) > max(limit, _left(echoes, own, receiver))
    sizes_are_right &= _size(echoes.amplitude[own]) > max(echoes.limit[own], _left(echoes, new, receiver))
    is_new = True
    for i in range(kept):
        is_new &= _are_apart(echoes, i, new, receiver)
    if sizes_are_right and is_new:
        return kept + 1
    center[...], echoes.place[own] = old_center, old_place
    echoes.amplitude[own], echoes.touched[own] = old_amplitude, old_touched
    return kept


@jit.function
def _is_across_fold(place, at, grid):
    """Whether speeds fold between a place and a cell, where transmitters in turn are set right by the wrong speed."""
    chirps = grid.counts[2]
    apart = signed_speed(place[2] % chirps, chirps) - signed_speed(at[2], chirps)
    return grid.transmitters > 1 and 2.0 * abs(apart) > chirps


@jit.function
def _beside_others(cube, receiver, echoes, kept, cell):
    """Power of a peak with the others subtracted, and their possible residual there; -1 if none reaches it."""
    real, imaginary = cube
    left, bound, touched = complex(real[cell], imaginary[cell]), 0.0, False
    at = np.empty(4)
    at[0], at[1], at[2], at[3] = cell[0], receiver.grid.beams[cell[1]], cell[2], cell[3]
    for i in range(kept):
        size = _size(echoes.amplitude[i])
        if _is_across_fold(echoes.place[i], at, receiver.grid):
            beam, at[1] = at[1], echoes.place[i, 1]
            bound = max(bound, _MARGIN * size * leak(echoes.place[i], at, receiver, 0.0))
            touched, at[1] = True, beam
            continue
        share = leak(echoes.place[i], at, receiver, 0.0)
        if share * size < _TRACE * receiver.cell_noise_W:
            continue
        touched, model = True, 1.0
        for axis in range(4):
            x = at[axis] - echoes.place[i, axis]
            model *= spread(receiver.grid.terms[axis], x, np.float64(receiver.grid.counts[axis]))
        left -= model * echoes.amplitude[i]
        bound = max(bound, min(share * size, _left(echoes, i, receiver)))
    return _size(left), bound if touched else -1.0


@jit.function
def list_echoes(cube, power, receiver, lists, echoes, kept, is_cleaned, work, ordered):
    """Echoes of the peaks that were found; returns how many.

    Args:
        cube: Real and imaginary part of the cells.
        power: Of the cells.
        receiver: Receiver of the frame.
        lists: Cells of the peaks, their powers and thresholds.
        echoes: Filled after its first entries.
        kept: How many there are already.
        is_cleaned: Whether the peaks are those of a frame without these echoes.
        work: A block of cells and four lines.
        ordered: Room for the training cells in order.
    """
    most, (cells, values, limits) = echoes.limit.size, lists
    for at in np.argsort(-values, kind="mergesort"):
        if kept == most:
            break
        cell = cells[at, 0], cells[at, 1], cells[at, 2], cells[at, 3]
        left, bound = _beside_others(cube, receiver, echoes, kept, cell)
        least = bound
        if is_cleaned:
            left, least = min(left, values[at]), receiver.scalloping * bound
        if bound >= 0.0 and left <= max(limits[at], least):
            continue
        echoes.center[kept, 0], echoes.center[kept, 1] = cell[0], receiver.grid.beams[cell[1]]
        echoes.center[kept, 2], echoes.center[kept, 3] = cell[2], cell[3]
        echoes.limit[kept] = limits[at]
        _fit(cube, receiver, echoes, kept, kept, work)
        is_new = _size(echoes.amplitude[kept]) > bound
        for i in range(kept):
            is_new &= not echoes.touched[kept] or _are_apart(echoes, i, kept, receiver)
        if not is_new:
            continue
        kept += 1
        own = kept - 1
        while own < kept < most:
            kept = _split(cube, power, receiver, echoes, kept, own, work, ordered)
            own += 1
    for _ in range(_ROUNDS):
        for i in range(kept):
            for j in range(kept):
                if j != i and _reaches(echoes, j, echoes.center[i], receiver):
                    _fit(cube, receiver, echoes, kept, i, work)
                    break
    return kept
