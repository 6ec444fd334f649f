"""Noise in the cells of a frame, after windowed transforms over antennas, chirps and samples.

Noise of the samples is white; windows of few terms share that of each cell between its next neighbors (`windows`), so
that it is drawn in cells, not in samples.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.radio.spreading import MOST_TAPS, shifted
from sensorium.physics.radio.windows import TERMS
from sensorium.random.philox import draw_words
from sensorium.random.transforms import normal_pair_f32
from sensorium.runtime import jit

NOISE_STAGE = 1
"""Of the counter, for the noise in cells."""


@jit.function
def _draw_row(k0, k1, element, base, tick, world, sigma, a, b):
    """Complex normal noise of the cells base, base + 1, ... into two rows, two cells a draw."""
    count, i = a.size, np.int64(0)
    if base % 2:
        w0, w1, w2, w3 = draw_words(k0, k1, element + base // 2, NOISE_STAGE, 0, tick, world)
        x, y = normal_pair_f32(w2, w3)
        a[0], b[0], i = sigma * x, sigma * y, np.int64(1)
    pair = (base + i) // 2
    for j in range((count - i) // 2):
        w0, w1, w2, w3 = draw_words(k0, k1, element + pair + j, NOISE_STAGE, 0, tick, world)
        at = i + 2 * j
        x, y = normal_pair_f32(w0, w1)
        a[at], b[at] = sigma * x, sigma * y
        x, y = normal_pair_f32(w2, w3)
        a[at + 1], b[at + 1] = sigma * x, sigma * y
    if (count - i) % 2:
        w0, w1, w2, w3 = draw_words(k0, k1, element + (base + count - 1) // 2, NOISE_STAGE, 0, tick, world)
        x, y = normal_pair_f32(w0, w1)
        a[count - 1], b[count - 1] = sigma * x, sigma * y


@jit.function
def _add_scaled(target, source, weight):
    """Add a row times a weight to another."""
    for r in range(target.size):
        target[r] += weight * source[r]


@jit.function
def add_noise(real, imaginary, grid, key, tick, world, sensor):
    """Add complex normal noise to all cells, correlated between neighbors as the windows make it.

    Every cell before windows has its own numbers, for any beams; windows mix them between neighbors.
    """
    rows, antennas, chirps, samples = grid.counts[0], grid.counts[1], grid.counts[2], grid.counts[3]
    sigma = np.float32(math.sqrt(0.5 * grid.noise_W))
    element = sensor * ((rows * antennas * chirps * samples + 1) // 2)
    zero = np.float32(0.0)
    fresh_a, fresh_b = np.empty(samples, np.float32), np.empty(samples, np.float32)
    row_a, row_b = np.empty(samples, np.float32), np.empty(samples, np.float32)
    long = np.empty(samples + MOST_TAPS - 1, np.float32)
    plane_a, plane_b = np.empty((chirps, samples), np.float32), np.empty((chirps, samples), np.float32)
    place = np.full(antennas, -1, np.int64)
    for b in range(grid.beams.size):
        place[grid.beams[b] + antennas // 2] = b
    for e in range(rows):
        for n in range(antennas):
            is_wanted = False
            for k in range(MOST_TAPS):
                at, sign = shifted(n, grid.shifts[1, k], antennas)
                is_wanted |= grid.taps[1, k] != zero and place[at] >= 0
            if not is_wanted:
                continue
            for d in range(chirps):
                base = ((e * antennas + n) * chirps + d) * samples
                _draw_row(key[0], key[1], element, base, tick, world, sigma, fresh_a, fresh_b)
                _share_along(fresh_a, grid.taps[3], long, plane_a[d])
                _share_along(fresh_b, grid.taps[3], long, plane_b[d])
            for d in range(chirps):
                row_a[...], row_b[...] = zero, zero
                for k in range(MOST_TAPS):
                    if grid.taps[2, k] != zero:
                        at, sign = shifted(d, -grid.shifts[2, k], chirps)
                        _add_scaled(row_a, plane_a[at], sign * grid.taps[2, k])
                        _add_scaled(row_b, plane_b[at], sign * grid.taps[2, k])
                for i in range(MOST_TAPS):
                    if grid.taps[0, i] == zero:
                        continue
                    up, sign_up = shifted(e, grid.shifts[0, i], rows)
                    for k in range(MOST_TAPS):
                        at, sign = shifted(n, grid.shifts[1, k], antennas)
                        weight = sign_up * grid.taps[0, i] * sign * grid.taps[1, k]
                        if weight != zero and place[at] >= 0:
                            _add_scaled(real[up, place[at], d], row_a, weight)
                            _add_scaled(imaginary[up, place[at], d], row_b, weight)


@jit.function
def _share_along(row, taps, long, out):
    """Share the noise of each cell of a row of seven or more between its neighbors; `long` has room for both ends."""
    count, most = row.size, TERMS - 1
    long[most : most + count] = row
    for k in range(most):
        at, sign = shifted(-1 - k, np.int64(0), count)
        long[most - 1 - k] = sign * row[at]
        at, sign = shifted(count + k, np.int64(0), count)
        long[most + count + k] = sign * row[at]
    for r in range(count):
        out[r] = taps[most] * long[r + most]
    for k in range(1, most + 1):
        if taps[most - k] != np.float32(0.0):
            before, after = taps[most + k], taps[most - k]
            for r in range(count):
                out[r] += before * long[r + most - k] + after * long[r + most + k]


@jit.kernel
def _draw_noise(key, tick, world, sensor, noise_W, out):
    """Noise of all cells before windows, complex numbers as two float32."""
    rows, antennas, chirps, samples = out.shape[0], out.shape[1], out.shape[2], out.shape[3]
    sigma = np.float32(math.sqrt(0.5 * noise_W))
    element = sensor * ((rows * antennas * chirps * samples + 1) // 2)
    a, b = np.empty(samples, np.float32), np.empty(samples, np.float32)
    for e in range(rows):
        for n in range(antennas):
            for d in range(chirps):
                base = ((e * antennas + n) * chirps + d) * samples
                _draw_row(key[0], key[1], element, base, tick, world, sigma, a, b)
                out[e, n, d, :, 0], out[e, n, d, :, 1] = a, b


def drawn_noise(
    counts: tuple[int, ...], *, noise_W: float, key: NDArray[np.uint32], tick: int, world: int, sensor: int
) -> NDArray[np.complex64]:
    """The numbers that `add_noise` begins with: noise of all cells before windows [sqrt(W)].

    Args:
        counts: Rows, antennas, chirps and samples, which is the shape of the result.
        noise_W: Mean power of a cell [W].
        key: Of the stream.
        tick: Of the sensor's clock.
        world: Its number.
        sensor: Its number in the world.
    """
    out = np.empty((*counts, 2), np.float32)
    _draw_noise(key, tick, world, sensor, noise_W, out)
    return out.view(np.complex64)[..., 0]
