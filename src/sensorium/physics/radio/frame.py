"""One frame of a radar, from scatterers to echoes: cells with noise, CFAR, peaks, positions between cells.

Cells are in an array of row beams, beams, speeds and ranges, with ranges contiguous. Randomness comes in as amplitudes
of the scatterers and as a Philox key for the noise; each head (a sensor in a world) is a block of its own.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.radio.cell_noise import add_noise
from sensorium.physics.radio.cleaning import CLEANINGS, add_echoes, hiding_echoes
from sensorium.physics.radio.echo_list import LINE, REGION, Echo, list_echoes, wrapped
from sensorium.physics.radio.peaks import Threshold, find_peaks
from sensorium.physics.radio.refinement import Weights
from sensorium.physics.radio.spreading import Grid, add_scatterers, signed_speed, weight_in_turn
from sensorium.physics.radio.windows import spread
from sensorium.runtime import jit

# A detection is an echo where echoes alone would give at least this share of its power
_LEAST_SHARE = 0.25

# Among echoes in one cell the straight one comes first, unless it gives less than this share of the strongest
_STRAIGHT_SHARE = 0.1


class Receiver(NamedTuple):
    """Receiver of a frame."""

    grid: Grid
    threshold: Threshold
    weights: Weights
    envelope: NDArray[np.float64]  # (4, steps) largest power that an echo of power 1 has from so far on
    cell_noise_W: float  # mean of a cell
    is_cleaned: bool  # whether frames are searched again without the echoes that were found (`cleaning`)
    scalloping: float  # least share of an echo's power that its strongest cell has
    migration: float  # range cells that an echo moves by within a frame, for each speed cell
    key: NDArray[np.uint32]  # (2,) of the noise
    tick: int
    first_world: int
    sensors: int  # of a world


class Peaks(NamedTuple):
    """Echoes, strongest first; the kernel fills as many as there are."""

    found: NDArray[np.int32]  # (heads,) how many
    place: NDArray[np.float64]  # (heads, most, 4) row beam, beam, speed and range, in cells
    power_W: NDArray[np.float64]  # (heads, most)
    scatterer: NDArray[np.int32]  # (heads, most) that gives most of it, -1 for noise
    map_W: NDArray[np.float32]  # (heads, speeds, ranges) strongest beam, or empty


@jit.function
def _given(scatterers, i, grid, place):
    """Contribution of a scatterer to the amplitude at a place, as a real and an imaginary weight."""
    w, turned, alone = 1.0, 0.0, scatterers.in_one_cell[i]
    for axis in (3, 2, 1, 0):
        count = np.float64(grid.counts[axis])
        x = wrapped(place[axis] - scatterers.cell[i, axis], count)
        if axis == 1 and grid.transmitters > 1:
            speed = signed_speed(math.floor(place[2] + 0.5) % grid.counts[2], grid.counts[2])
            behind = (scatterers.cell[i, 2] - speed) / grid.counts[2]
            a, c = weight_in_turn(grid, scatterers.cell[i, 1], behind, place[1])
            w, turned = w * a, w * c
            continue
        far = grid.reach[axis] + (abs(scatterers.migration[i]) if axis == 3 else 0.0) + 0.5
        if abs(x) > (1.5 if alone and axis & 1 else far):
            return 0.0, 0.0
        share = spread(grid.terms[axis], x, count)

        # Cells count round with a sign (`windows`)
        turns = round((place[axis] - scatterers.cell[i, axis] - x) / count)
        share = -share if turns * (grid.counts[axis] - 1) % 2 else share
        w, turned = w * share, turned * share
    return w, turned


@jit.function
def _is_in_the_cell(scatterers, i, grid, place):
    """Whether a scatterer is within a cell of a place, in speed and range."""
    for axis in (2, 3):
        if abs(wrapped(place[axis] - scatterers.cell[i, axis], np.float64(grid.counts[axis]))) > 1.0:
            return False
    return True


@jit.function
def _owner(scatterers, first, last, receiver, place, amplitude):
    """The scatterer that an echo came from; -1 where it is mostly noise.

    It is the one with the least residual of the echo, min |A - a_i|^2 with a_i its contribution at the echo's place. A
    is fitted with the other echoes subtracted, so the largest a_i may be the main lobe of a subtracted echo.
    """
    real, imaginary, most = 0.0, 0.0, 0.0
    least, owner, least_straight, straight, given, straight_given = np.inf, -1, np.inf, -1, 0.0, 0.0
    samples, reach = np.float64(receiver.grid.counts[3]), receiver.grid.reach[3] + 0.5
    for i in range(first, last):
        away = abs(wrapped(place[3] - scatterers.cell[i, 3], samples))
        if away > (1.5 if scatterers.in_one_cell[i] else reach + abs(scatterers.migration[i])):
            continue
        w, turned = _given(scatterers, i, receiver.grid, place)
        if w == 0.0 and turned == 0.0:
            continue
        a = w * scatterers.amplitude[i, 0] - turned * scatterers.amplitude[i, 1]
        c = w * scatterers.amplitude[i, 1] + turned * scatterers.amplitude[i, 0]
        real += a
        imaginary += c
        size, left = a * a + c * c, (amplitude.real - a) ** 2 + (amplitude.imag - c) ** 2
        most = max(most, size)
        if left < least:
            least, owner, given = left, i - first, size
        if left < least_straight and scatterers.is_straight[i] and _is_in_the_cell(scatterers, i, receiver.grid, place):
            least_straight, straight, straight_given = left, i - first, size
    if max(real * real + imaginary * imaginary, most) < _LEAST_SHARE * (amplitude.real**2 + amplitude.imag**2):
        return -1
    return straight if straight_given > _STRAIGHT_SHARE * given else owner


@jit.function
def _fill_power(real, imaginary, power):
    """Power of all cells."""
    z, a, b = power.reshape(-1), real.reshape(-1), imaginary.reshape(-1)
    for i in range(z.size):
        z[i] = a[i] * a[i] + b[i] * b[i]


@jit.kernel
def detect(first, step, count, scatterers, receiver, given, room, peaks):
    """Receive the frames of the heads first, first + step, ..., and find the echoes in each.

    Args:
        first: Head.
        step: Of heads.
        count: How many heads there are.
        scatterers: The scatterers.
        receiver: The receiver.
        given: Received cells, complex (heads, row beams, beams, speeds, ranges), or none: then they are computed from
            scatterers and noise.
        room: For the cells of one head of each thread, float32 (threads, 4, row beams, beams, speeds, ranges).
        peaks: Filled.
    """
    grid = receiver.grid
    antennas, chirps, samples = grid.counts[1], grid.counts[2], grid.counts[3]
    real, imaginary, power, around = room[first, 0], room[first, 1], room[first, 2], room[first, 3]
    is_round = grid.beams.size == antennas
    most = peaks.power_W.shape[1]
    candidates = max(8 * most, 1024)
    cells = np.empty((candidates, 4), np.int64)
    values, limits = np.empty(candidates, np.float32), np.empty(candidates, np.float64)
    echoes = Echo(
        np.zeros((most, 4), np.int64),
        np.zeros((most, 4)),
        np.zeros(most, np.complex128),
        np.zeros(most),
        np.zeros(most, np.bool_),
    )
    work = np.empty((REGION, REGION, REGION, REGION), np.complex128), np.empty((4, LINE))
    ordered = np.empty(receiver.threshold.around.size, np.float32)
    for head in range(first, count, step):
        begin, end = scatterers.start[head], scatterers.start[head + 1]
        if given.size:
            real[...], imaginary[...] = given[head].real, given[head].imag
        else:
            real[...], imaginary[...] = np.float32(0.0), np.float32(0.0)
            world, sensor = receiver.first_world + head // receiver.sensors, head % receiver.sensors
            add_scatterers(real, imaginary, scatterers, begin, end, grid)
            add_noise(real, imaginary, grid, receiver.key, receiver.tick, world, sensor)
        _fill_power(real, imaginary, power)
        if peaks.map_W.size:
            strongest = power.reshape(-1, chirps, samples)
            for d in range(chirps):
                for r in range(samples):
                    peaks.map_W[head, d, r] = strongest[:, d, r].max()
        found = find_peaks(power, around, receiver.threshold, is_round, cells, values, limits)
        cube = real, imaginary
        lists = cells, values[:found], limits
        kept = list_echoes(cube, power, receiver, lists, echoes, 0, False, work, ordered)
        for _ in range(CLEANINGS if receiver.is_cleaned and kept else 0):
            before = kept
            place, amplitude = hiding_echoes(echoes, kept)
            if not amplitude.size:
                break
            add_echoes(real, imaginary, grid, receiver.migration, place, -amplitude)
            _fill_power(real, imaginary, power)
            add_echoes(real, imaginary, grid, receiver.migration, place, amplitude)
            found = find_peaks(power, around, receiver.threshold, is_round, cells, values, limits)
            lists = cells, values[:found], limits
            kept = list_echoes(cube, power, receiver, lists, echoes, kept, True, work, ordered)
            if kept == before:
                break
        size = np.empty(kept)
        for i in range(kept):
            size[i] = echoes.amplitude[i].real ** 2 + echoes.amplitude[i].imag ** 2
        order = np.argsort(-size, kind="mergesort")
        for i in range(kept):
            at = order[i]
            peaks.place[head, i] = echoes.place[at]
            peaks.power_W[head, i] = size[at]
            peaks.scatterer[head, i] = _owner(scatterers, begin, end, receiver, echoes.place[at], echoes.amplitude[at])
        peaks.found[head] = kept
