"""Random decisions of any probability, exact to 2^-64."""

import numpy as np
from numpy.typing import NDArray

from sensorium.corruption.engine.op import KEY_0, KEY_1, STAGE, TICK, Int
from sensorium.random import draw_words
from sensorium.runtime import jit

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
