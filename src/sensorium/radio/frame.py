"""One frame of a radar, from scatterers to echoes: cells with noise, CFAR, peaks, places between cells.

Cells lie in an array of row beams, beams, speeds and ranges, with ranges next to each other. What is random comes in as
amplitudes of the scatterers and as a Philox key for the noise; each head (a sensor in a world) is a block of its own.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.radio.echo_list import LINE, REGION, Echo, list_echoes, wrapped
from sensorium.radio.peaks import Threshold, find_peaks
from sensorium.radio.refinement import Weights
from sensorium.radio.spreading import Grid, add_noise, add_scatterers, signed_speed, weight_in_turn
from sensorium.radio.windows import spread

# A detection is an echo where echoes alone would give at least this share of its power
_LEAST_SHARE = 0.25

# Among echoes in one cell the straight one comes first, unless it gives less than this share of the strongest
_STRAIGHT_SHARE = 0.1


class Receiver(NamedTuple):
    """What a frame is received with."""

    grid: Grid
    threshold: Threshold
    weights: Weights
    envelope: NDArray[np.float64]  # (4, steps) largest power that an echo of power 1 has from so far on
    cell_noise_W: float  # mean of a cell
    migration: float  # range cells that an echo moves by within a frame, for each speed cell
    key: NDArray[np.uint32]  # (2,) of the noise
    tick: int
    first_world: int
    sensors: int  # of a world


class Peaks(NamedTuple):
    """What was found, strongest first; the kernel fills as many as there are."""

    found: NDArray[np.int32]  # (heads,) how many
    place: NDArray[np.float64]  # (heads, most, 4) row beam, beam, speed and range, in cells
    power_W: NDArray[np.float64]  # (heads, most)
    scatterer: NDArray[np.int32]  # (heads, most) that gives most of it, -1 for noise
    map_W: NDArray[np.float32]  # (heads, speeds, ranges) strongest beam, or empty


@jit.function
def _given(scatterers, i, grid, place):
    """What a scatterer gives of the amplitude at a place, as a real and an imaginary weight."""
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
        w, turned = w * share, turned * share
    return w, turned


@jit.function
def _owner(scatterers, first, last, receiver, place, power):
    """The scatterer that gives most of an echo's power; -1 where it is mostly noise."""
    real, imaginary, best, owner, best_straight, straight = 0.0, 0.0, 0.0, -1, 0.0, -1
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
        given = a * a + c * c
        if given > best:
            best, owner = given, i - first
        if scatterers.is_straight[i] and given > best_straight:
            best_straight, straight = given, i - first
    if max(real * real + imaginary * imaginary, best) < _LEAST_SHARE * power:
        return -1
    return straight if best_straight >= _STRAIGHT_SHARE * best else owner


@jit.kernel
def detect(first, step, count, scatterers, receiver, given, room, peaks):
    """Receive the frames of the heads first, first + step, ..., and find the echoes in each.

    Args:
        first: Head.
        step: Of heads.
        count: How many heads there are.
        scatterers: What sends echoes.
        receiver: What they are received with.
        given: Cells as they were received, complex (heads, row beams, beams, speeds, ranges), or none: then they are
            made of scatterers and noise.
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
        flat_power, a, b = power.reshape(-1), real.reshape(-1), imaginary.reshape(-1)
        for i in range(flat_power.size):
            flat_power[i] = a[i] * a[i] + b[i] * b[i]
        if peaks.map_W.size:
            strongest = power.reshape(-1, chirps, samples)
            for d in range(chirps):
                for r in range(samples):
                    peaks.map_W[head, d, r] = strongest[:, d, r].max()
        found = find_peaks(power, around, receiver.threshold, is_round, cells, values, limits)
        kept = list_echoes((real, imaginary), power, receiver, cells, values[:found], limits, echoes, work, ordered)
        size = np.empty(kept)
        for i in range(kept):
            size[i] = echoes.amplitude[i].real ** 2 + echoes.amplitude[i].imag ** 2
        order = np.argsort(-size, kind="mergesort")
        for i in range(kept):
            at = order[i]
            peaks.place[head, i] = echoes.place[at]
            peaks.power_W[head, i] = size[at]
            peaks.scatterer[head, i] = _owner(scatterers, begin, end, receiver, echoes.place[at], size[at])
        peaks.found[head] = kept
