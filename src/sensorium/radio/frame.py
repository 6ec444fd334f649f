"""One frame of a radar, from scatterers to detections: echoes spread over cells, noise, CFAR, peaks.

Cells lie in a cube of beams, speeds and ranges, with ranges next to each other. What is random comes in as amplitudes
of the scatterers and as a Philox key for the noise; each head (a sensor in a world) is a block of its own.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.radio.windows import spread
from sensorium.random.philox import draw_words
from sensorium.random.transforms import normal_pair_f32

# A peak is taken for a side lobe of a stronger one below this many times what that one spreads there
_SIDE_LOBE_MARGIN = 4.0

# A detection is an echo where echoes alone would give at least this share of its power
_LEAST_SHARE = 0.25

# Among echoes in one cell the straight one comes first, unless it gives less than this share of the strongest
_STRAIGHT_SHARE = 0.1

# Ground has an echo in every cell: only what is next to its speed is looked at
_REACH_OF_GROUND = np.int64(3)

ENVELOPE_STEPS = 8
"""Steps of the side lobes' envelope in a cell."""

NOISE_STAGE = 1
"""Of the counter, for the noise in cells."""


class Scatterers(NamedTuple):
    """What sends echoes, head after head."""

    start: NDArray[np.int64]  # (heads + 1,) first of each head
    cell: NDArray[np.float64]  # (n, 3) beam, speed and range, in cells; beams and speeds count round
    amplitude: NDArray[np.float32]  # (n, 2) real and imaginary part [sqrt(W)]
    in_one_cell: NDArray[np.bool_]  # (n,) ground: one range cell, one beam
    is_straight: NDArray[np.bool_]  # (n,) there and back without a mirror


class Receiver(NamedTuple):
    """What a frame is received with."""

    beams: NDArray[np.int64]  # (b,) cells of the beams that are formed
    counts: NDArray[np.int64]  # (3,) antennas, chirps and samples
    reach: NDArray[np.int64]  # (3,) how many cells echoes spread to each side
    terms: NDArray[np.float64]  # (3, TERMS) of the windows
    envelope: NDArray[np.float64]  # (3, steps) largest power that an echo of power 1 has from so far on
    noise_W: float  # mean of a cell
    factors: NDArray[np.float64]  # (2 training + 1,) of the threshold
    ranks: NDArray[np.int64]  # (2 training + 1,) which cell in order it is over; 0 for their mean
    training: int
    guard: int
    key: NDArray[np.uint32]  # (2,) of the noise
    tick: int
    first_world: int
    sensors: int  # of a world


class Peaks(NamedTuple):
    """What was found, strongest first; the kernel fills as many as there are."""

    found: NDArray[np.int32]  # (heads,) how many
    cell: NDArray[np.int32]  # (heads, most, 3) beam (its place among those formed), speed and range
    offset: NDArray[np.float32]  # (heads, most, 3) of the parabola's top through log powers, in cells
    power_W: NDArray[np.float32]  # (heads, most)
    scatterer: NDArray[np.int32]  # (heads, most) that gives most of it, -1 for noise
    map_W: NDArray[np.float32]  # (heads, speeds, ranges) strongest beam, or empty


@jit.function
def _wrapped(x, count):
    """A distance in cells that count round, from -count / 2 to count / 2."""
    return x - count * math.floor(x / count + 0.5)


@jit.function
def _weigh(terms, at, reach, count, is_round, cells, weights):
    """Cells that an echo at a place spreads to, and its weight in each; returns how many.

    Args:
        terms: Of the window.
        at: The place, in cells.
        reach: How many cells to each side.
        count: Cells of the axis.
        is_round: Whether the last is followed by the first.
        cells: Filled.
        weights: Filled.
    """
    middle, number = math.floor(at + 0.5), 0
    first, last = middle - reach, middle + reach
    if is_round:
        last = min(last, first + count - 1)
    else:
        first, last = max(first, 0), min(last, count - 1)
    for cell in range(first, last + 1):
        x = cell - at
        cells[number] = cell % count
        weights[number] = np.float32(spread(terms, _wrapped(x, count) if is_round else x, np.float64(count)))
        number += 1
    return number


@jit.function
def _add_scatterers(real, imaginary, scatterers, first, last, receiver):
    """Spread the echoes of scatterers over the cube."""
    antennas, chirps, samples = receiver.counts[0], receiver.counts[1], receiver.counts[2]
    beams, reach_0, reach_1, reach_2 = receiver.beams, receiver.reach[0], receiver.reach[1], receiver.reach[2]
    terms_0, terms_1, terms_2 = receiver.terms[0], receiver.terms[1], receiver.terms[2]
    speeds, along = np.empty(2 * reach_1 + 1, np.int64), np.empty(2 * reach_1 + 1, np.float32)
    ranges, away = np.empty(2 * reach_2 + 1, np.int64), np.empty(2 * reach_2 + 1, np.float32)
    one = np.float32(1.0)
    for i in range(first, last):
        alone = scatterers.in_one_cell[i]
        a, c = scatterers.amplitude[i, 0], scatterers.amplitude[i, 1]
        reach = min(reach_1, _REACH_OF_GROUND) if alone else reach_1
        dn = _weigh(terms_1, scatterers.cell[i, 1], reach, chirps, True, speeds, along)
        if alone:
            ranges[0], away[0], rn = min(max(int(scatterers.cell[i, 2] + 0.5), 0), samples - 1), one, 1
        else:
            rn = _weigh(terms_2, scatterers.cell[i, 2], reach_2, samples, False, ranges, away)
        if rn == 0:
            continue
        for b in range(beams.size):
            x = _wrapped(beams[b] - scatterers.cell[i, 0], antennas)
            if abs(x) > (0.5 if alone else reach_0 + 0.5):
                continue
            across = one if alone else np.float32(spread(terms_0, x, np.float64(antennas)))
            for j in range(dn):
                share, speed = across * along[j], speeds[j]
                for k in range(rn):
                    real[b, speed, ranges[0] + k] += share * a * away[k]
                    imaginary[b, speed, ranges[0] + k] += share * c * away[k]


@jit.function
def _add_noise(real, imaginary, receiver, head):
    """Add complex normal noise to every cell, and leave their powers in the first array."""
    k0, k1 = receiver.key[0], receiver.key[1]
    world, sensor = receiver.first_world + head // receiver.sensors, head % receiver.sensors
    sigma = np.float32(math.sqrt(0.5 * receiver.noise_W))
    re, im = real.reshape(-1), imaginary.reshape(-1)
    pairs = (re.size + 1) // 2
    for pair in range(pairs):
        w0, w1, w2, w3 = draw_words(k0, k1, sensor * pairs + pair, NOISE_STAGE, 0, receiver.tick, world)
        a, b = normal_pair_f32(w0, w1)
        i = 2 * pair
        a, b = re[i] + sigma * a, im[i] + sigma * b
        re[i] = a * a + b * b
        if i + 1 < re.size:
            a, b = normal_pair_f32(w2, w3)
            a, b = re[i + 1] + sigma * a, im[i + 1] + sigma * b
            re[i + 1] = a * a + b * b


@jit.function
def _is_peak(power, b, d, r):
    """Whether no neighbour in beams, speeds and ranges is stronger; speeds count round."""
    beams, speeds, ranges = power.shape
    own = power[b, d, r]
    for i in range(max(b - 1, 0), min(b + 2, beams)):
        for j in range(d - 1, d + 2):
            speed = j % speeds
            for k in range(max(r - 1, 0), min(r + 2, ranges)):
                if power[i, speed, k] > own:
                    return False
    return True


@jit.function
def _ordered(power, b, d, far_before, before, after, far_after, rank, values):
    """The cell of a rank among those around, counted from the smallest, by insertion into a list in order."""
    number = 0
    for r in range(far_before, far_after):
        if before <= r < after:
            continue
        value, at = power[b, d, r], number
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
        number += 1
    return values[rank - 1]


@jit.function
def _find_peaks(power, receiver, total, cells, values):
    """Local maxima over their threshold; of more than there is room for, the strongest. Returns how many."""
    beams, speeds, ranges = power.shape
    training, guard, found = receiver.training, receiver.guard, 0
    around = np.empty(2 * training + 1, np.float32)
    for b in range(beams):
        for d in range(speeds):
            total[0] = 0.0
            for r in range(ranges):
                total[r + 1] = total[r] + power[b, d, r]
            for r in range(ranges):
                before, far_before = max(r - guard, 0), max(r - guard - training, 0)
                after, far_after = min(r + guard + 1, ranges), min(r + guard + 1 + training, ranges)
                count = before - far_before + far_after - after
                if count < 2:
                    continue
                level = (total[before] - total[far_before] + total[far_after] - total[after]) / count
                rank = receiver.ranks[count]
                if rank > 0:
                    if not _is_peak(power, b, d, r):
                        continue
                    level = np.float64(_ordered(power, b, d, far_before, before, after, far_after, rank, around))
                if power[b, d, r] <= receiver.factors[count] * level or not _is_peak(power, b, d, r):
                    continue
                at = found
                if found == values.size:
                    at = 0
                    for i in range(values.size):
                        if values[i] < values[at]:
                            at = i
                    if values[at] >= power[b, d, r]:
                        continue
                else:
                    found += 1
                values[at] = power[b, d, r]
                cells[at, 0], cells[at, 1], cells[at, 2] = b, d, r
    return found


@jit.function
def _top(low, middle, high):
    """Where the parabola through three log powers has its top, in cells from the middle."""
    tiny = np.float64(1e-30)
    a, b, c = math.log(max(low, tiny)), math.log(max(middle, tiny)), math.log(max(high, tiny))
    bend = a - 2.0 * b + c
    return min(max(0.5 * (a - c) / bend, -0.5), 0.5) if bend < 0.0 else 0.0


@jit.function
def _leaked(envelope, x):
    """Largest power that an echo of power 1 spreads x cells away, give or take a quarter of a cell."""
    step = int(max(abs(x) - 0.25, 0.0) * ENVELOPE_STEPS)
    return envelope[step] if step < envelope.size else 0.0


@jit.function
def _owner(scatterers, first, last, receiver, b, d, r, power):
    """The scatterer that gives most of a cell's power; -1 where it is mostly noise."""
    antennas, chirps, samples = receiver.counts[0], receiver.counts[1], receiver.counts[2]
    real, imaginary, best, owner, best_straight, straight = 0.0, 0.0, 0.0, -1, 0.0, -1
    for i in range(first, last):
        x = r - scatterers.cell[i, 2]
        y = _wrapped(d - scatterers.cell[i, 1], chirps)
        z = _wrapped(receiver.beams[b] - scatterers.cell[i, 0], antennas)
        alone = scatterers.in_one_cell[i]
        if alone and (abs(x) > 0.5 or abs(z) > 0.5):
            continue
        if abs(x) > receiver.reach[2] + 0.5 or abs(y) > receiver.reach[1] + 0.5 or abs(z) > receiver.reach[0] + 0.5:
            continue
        w = spread(receiver.terms[1], y, np.float64(chirps))
        if not alone:
            w *= spread(receiver.terms[2], x, np.float64(samples)) * spread(receiver.terms[0], z, np.float64(antennas))
        a, c = w * scatterers.amplitude[i, 0], w * scatterers.amplitude[i, 1]
        real += a
        imaginary += c
        given = a * a + c * c
        if given > best:
            best, owner = given, i - first
        if scatterers.is_straight[i] and given > best_straight:
            best_straight, straight = given, i - first
    if real * real + imaginary * imaginary < _LEAST_SHARE * power:
        return -1
    return straight if best_straight >= _STRAIGHT_SHARE * best else owner


@jit.kernel
def detect(first, step, count, scatterers, receiver, peaks):
    """Receive the frames of the heads first, first + step, ..., and find the peaks in each."""
    antennas, chirps, samples = receiver.counts[0], receiver.counts[1], receiver.counts[2]
    shape = (receiver.beams.size, chirps, samples)
    real, imaginary = np.empty(shape, np.float32), np.empty(shape, np.float32)
    total = np.empty(samples + 1)
    most = peaks.power_W.shape[1]
    room = max(8 * most, 1024)
    cells, values = np.empty((room, 3), np.int32), np.empty(room, np.float32)
    for head in range(first, count, step):
        real[...], imaginary[...] = np.float32(0.0), np.float32(0.0)
        begin, end = scatterers.start[head], scatterers.start[head + 1]
        _add_scatterers(real, imaginary, scatterers, begin, end, receiver)
        _add_noise(real, imaginary, receiver, head)
        power = real
        found = _find_peaks(power, receiver, total, cells, values)
        if peaks.map_W.size:
            for d in range(chirps):
                for r in range(samples):
                    strongest = power[0, d, r]
                    for b in range(1, shape[0]):
                        strongest = max(strongest, power[b, d, r])
                    peaks.map_W[head, d, r] = strongest

        # Strongest first, without the side lobes of those before
        kept = 0
        for at in np.argsort(-values[:found], kind="mergesort"):
            b, d, r = cells[at, 0], cells[at, 1], cells[at, 2]
            hidden = False
            for i in range(kept):
                x = r - (peaks.cell[head, i, 2] + peaks.offset[head, i, 2])
                y = _wrapped(np.float64(d - (peaks.cell[head, i, 1] + peaks.offset[head, i, 1])), chirps)
                z = receiver.beams[b] - (receiver.beams[peaks.cell[head, i, 0]] + peaks.offset[head, i, 0])
                z = _wrapped(np.float64(z), antennas)
                leak = _leaked(receiver.envelope[2], x) * _leaked(receiver.envelope[1], y)
                leak *= _leaked(receiver.envelope[0], z)
                if values[at] < _SIDE_LOBE_MARGIN * leak * peaks.power_W[head, i]:
                    hidden = True
                    break
            if hidden or kept == most:
                continue
            peaks.cell[head, kept, 0], peaks.cell[head, kept, 1], peaks.cell[head, kept, 2] = b, d, r
            peaks.power_W[head, kept] = values[at]
            for axis in range(3):
                peaks.offset[head, kept, axis] = np.float32(0.0)
            if 0 < b < shape[0] - 1:
                peaks.offset[head, kept, 0] = _top(power[b - 1, d, r], power[b, d, r], power[b + 1, d, r])
            if chirps > 2:
                low, high = power[b, (d - 1) % chirps, r], power[b, (d + 1) % chirps, r]
                peaks.offset[head, kept, 1] = _top(low, power[b, d, r], high)
            if 0 < r < samples - 1:
                peaks.offset[head, kept, 2] = _top(power[b, d, r - 1], power[b, d, r], power[b, d, r + 1])
            peaks.scatterer[head, kept] = _owner(scatterers, begin, end, receiver, b, d, r, np.float64(values[at]))
            kept += 1
        peaks.found[head] = kept
