"""Random numbers inside the kernel, for a block of rows at once: four channels share the words of one draw."""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.corruption.engine.op import KEY_0, KEY_1, STAGE, TICK, Int
from sensorium.random import draw_words, log_f32, normal_pair_f32, uniform_f32
from sensorium.runtime import jit

Float32 = NDArray[np.float32]

# Laws of white noise, all of unit standard deviation
NORMAL, UNIFORM, LAPLACE = range(3)

_SQRT_12 = np.float32(math.sqrt(12.0))
_SQRT_HALF = np.float32(math.sqrt(0.5))
_HALF, _ONE, _TWO = np.float32(0.5), np.float32(1.0), np.float32(2.0)


@jit.function
def fill_normals(
    ops: Int,
    o: int,
    clock: Int,
    t: int,
    ids: Int,
    first: int,
    last: int,
    quad: int,
    draw: int,
    out: Float32,
) -> None:
    """Standard normal numbers for the channels 4 quad to 4 quad + 3 of the rows first to last - 1.

    Args:
        ops, o, clock, t: Operation and sample.
        ids: World and first element of each row in the counter, int64 (2, rows).
        first, last: Rows.
        quad: Which four channels of the operation.
        draw: Number of the draw at this sample, from 0.
        out: Filled, float32 (4, at least last - first).
    """
    k0, k1, stage, tick = clock[t, KEY_0], clock[t, KEY_1], ops[o, STAGE], clock[t, TICK]
    worlds, elements = ids[0, first:last], ids[1, first:last]
    a, b, c, d = out[0], out[1], out[2], out[3]
    for i in range(worlds.size):
        w0, w1, w2, w3 = draw_words(k0, k1, elements[i] + quad, stage, draw, tick, worlds[i])
        a[i], b[i] = normal_pair_f32(w0, w1)
        c[i], d[i] = normal_pair_f32(w2, w3)


@jit.function
def fill_uniforms(
    ops: Int,
    o: int,
    clock: Int,
    t: int,
    ids: Int,
    first: int,
    last: int,
    quad: int,
    draw: int,
    out: Float32,
) -> None:
    """Uniform numbers in (0, 1); arguments as for `fill_normals`."""
    k0, k1, stage, tick = clock[t, KEY_0], clock[t, KEY_1], ops[o, STAGE], clock[t, TICK]
    worlds, elements = ids[0, first:last], ids[1, first:last]
    a, b, c, d = out[0], out[1], out[2], out[3]
    for i in range(worlds.size):
        w0, w1, w2, w3 = draw_words(k0, k1, elements[i] + quad, stage, draw, tick, worlds[i])
        a[i], b[i], c[i], d[i] = uniform_f32(w0), uniform_f32(w1), uniform_f32(w2), uniform_f32(w3)


@jit.function
def fill_of_law(
    law: int,
    ops: Int,
    o: int,
    clock: Int,
    t: int,
    ids: Int,
    first: int,
    last: int,
    quad: int,
    draw: int,
    out: Float32,
) -> None:
    """Numbers of mean 0 and variance 1 of the given law; arguments as for `fill_normals`."""
    if law == NORMAL:
        fill_normals(ops, o, clock, t, ids, first, last, quad, draw, out)
        return
    fill_uniforms(ops, o, clock, t, ids, first, last, quad, draw, out)
    for k in range(4):
        numbers = out[k]
        if law == UNIFORM:
            for i in range(last - first):
                numbers[i] = unit_uniform(numbers[i])
        else:
            for i in range(last - first):
                numbers[i] = unit_laplace(numbers[i])


@jit.inlined
def unit_uniform(u: np.float32) -> np.float32:
    """A uniform number of mean 0 and variance 1, from one in (0, 1): sqrt(12) (u - 1/2)."""
    return _SQRT_12 * (u - _HALF)


@jit.inlined
def unit_laplace(u: np.float32) -> np.float32:
    """A Laplace number of mean 0 and variance 1 by inversion: -+ ln(2 min(u, 1 - u)) / sqrt(2)."""
    size = -_SQRT_HALF * log_f32(_TWO * min(u, _ONE - u))
    return -size if u < _HALF else size


_WORDS = 4294967296.0


@jit.function
def fill_words(
    ops: Int, o: int, clock: Int, t: int, ids: Int, first: int, last: int, quad: int, draw: int, out: NDArray[np.uint32]
) -> None:
    """Random words for the channels 4 quad to 4 quad + 3 of the rows first to last - 1.

    Arguments as for `fill_normals`, but `out` is uint32; the draw after this one belongs to it as well.
    """
    k0, k1, stage, tick = clock[t, KEY_0], clock[t, KEY_1], ops[o, STAGE], clock[t, TICK]
    worlds, elements = ids[0, first:last], ids[1, first:last]
    a, b, c, d = out[0], out[1], out[2], out[3]
    for i in range(worlds.size):
        a[i], b[i], c[i], d[i] = draw_words(k0, k1, elements[i] + quad, stage, draw, tick, worlds[i])


@jit.inlined
def happens(
    p: float, word: np.uint32, ops: Int, o: int, clock: Int, t: int, ids: Int, row: int, channel: int, draw: int
) -> np.bool_:
    """Whether an event of probability p happens, by a word of `fill_words`; only a tie needs the word behind it."""
    scaled = p * _WORDS
    limit = np.floor(scaled)
    if np.float64(word) != limit:
        return np.float64(word) < limit
    return happens_in_a_tie(scaled - limit, ops, o, clock, t, ids, row, channel, draw)


@jit.function
def happens_in_a_tie(
    p: float, ops: Int, o: int, clock: Int, t: int, ids: Int, row: int, channel: int, draw: int
) -> np.bool_:
    """The same by a word of the next draw, with the remaining probability."""
    k0, k1, stage, tick = clock[t, KEY_0], clock[t, KEY_1], ops[o, STAGE], clock[t, TICK]
    words = draw_words(k0, k1, ids[1, row] + channel // 4, stage, draw + 1, tick, ids[0, row])
    k = channel % 4
    word = words[0] if k == 0 else words[1] if k == 1 else words[2] if k == 2 else words[3]
    return np.float64(word) < p * _WORDS
