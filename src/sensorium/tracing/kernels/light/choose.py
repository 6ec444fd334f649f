"""Choice of the returns that a lidar reports: candidates are offered one by one and the best kept, a few slots a ray.

Slots live in two flat arrays like the rest of a block's scratch: slot j holds FLOAT_ROWS rows of floats from
j * FLOATS_A_SLOT and WORD_ROWS rows of integers from j * WORDS_A_SLOT. Slot 0 is the best.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import tables as tb

KEY, INTENSITY, OPL = 0, BLOCK, 2 * BLOCK
FLOATS_A_SLOT = 3 * BLOCK
CAUSE, DEPTH, COLUMN, FACE, MIRROR = 0, BLOCK, 2 * BLOCK, 3 * BLOCK, 4 * BLOCK
WORDS_A_SLOT = 5 * BLOCK

NONE = np.float32(-np.inf)
OUTSIDE = np.float32(-1e30)  # rank of what only noise brings between the limits of range
NOBODY = np.int32(-1)  # in place of a column, a face or a mirror


class ReturnSlots(NamedTuple):
    """Slots for the returns of a block of rays."""

    floats: NDArray[np.float32]  # (slots x FLOATS_A_SLOT,)
    words: NDArray[np.int32]  # (slots x WORDS_A_SLOT,)


@jit.function
def new_slots(count):
    """Empty slots, `count` a ray."""
    return ReturnSlots(np.full(count * FLOATS_A_SLOT, NONE, np.float32), np.full(count * WORDS_A_SLOT, -1, np.int32))


@jit.inlined
def key_of(returns, intensity, opl, threshold, near, far):
    """Rank of a return; minus infinity for one that is too weak, too near or too far.

    Args:
        returns: Reporting rule; intensity, opl: of this one; threshold: of intensities.
        near, far: Least and greatest optical path [m], each without noise and with the most favorable noise; a return
            between the two ranks behind all others, so that it displaces no certain return.
    """
    key = intensity
    if returns == tb.FIRST:
        key = -opl
    elif returns == tb.LAST:
        key = opl
    key = key if (opl >= near[0]) & (opl <= far[0]) else OUTSIDE
    seen = (intensity >= threshold) & (intensity > np.float32(0.0)) & (opl >= near[1]) & (opl <= far[1])
    return key if seen else NONE


@jit.function
def offer(floats, words, ranked, k, key, intensity, opl, cause, depth, column, face, mirror):
    """Keep a candidate if it ranks among the first `ranked`; the nearer one wins between equal ranks."""
    j = np.int32(ranked - 1)
    worst = j * FLOATS_A_SLOT + k
    if key == NONE or key < floats[KEY + worst] or (key == floats[KEY + worst] and opl >= floats[OPL + worst]):
        return
    while j > 0:
        above = (j - 1) * FLOATS_A_SLOT + k
        if key < floats[KEY + above] or (key == floats[KEY + above] and opl >= floats[OPL + above]):
            break
        _copy(floats, words, np.int32(j - 1), j, k)
        j = np.int32(j - 1)
    put(floats, words, j, k, key, intensity, opl, cause, depth, column, face, mirror)


@jit.function
def offer_last(floats, words, j, k, opl, intensity, cause, depth, column, face, mirror):
    """Keep a candidate in slot j if it is farther than the present one."""
    if opl > floats[j * FLOATS_A_SLOT + KEY + k]:
        put(floats, words, j, k, opl, intensity, opl, cause, depth, column, face, mirror)


@jit.function
def put(floats, words, j, k, key, intensity, opl, cause, depth, column, face, mirror):
    """Write slot j of ray k."""
    f, w = j * FLOATS_A_SLOT + k, j * WORDS_A_SLOT + k
    floats[f + KEY], floats[f + INTENSITY], floats[f + OPL] = key, intensity, opl
    words[w + CAUSE], words[w + DEPTH] = cause, depth
    words[w + COLUMN], words[w + FACE], words[w + MIRROR] = column, face, mirror


@jit.function
def _copy(floats, words, source, target, k):
    """Copy slot `source` of a ray into slot `target`."""
    for row in range(3):
        floats[target * FLOATS_A_SLOT + row * BLOCK + k] = floats[source * FLOATS_A_SLOT + row * BLOCK + k]
    for row in range(5):
        words[target * WORDS_A_SLOT + row * BLOCK + k] = words[source * WORDS_A_SLOT + row * BLOCK + k]


@jit.function
def settle_dual(floats, words, used):
    """Dual returns: strongest and last; where they are the same, strongest and second strongest.

    Slots 0 and 1 hold the two strongest, slot 2 the last; the pair ends up in slots 0 and 1.
    """
    last = 2 * FLOATS_A_SLOT
    for k in range(used):
        if floats[last + KEY + k] > NONE and floats[last + OPL + k] != floats[OPL + k]:
            _copy(floats, words, np.int32(2), np.int32(1), np.int32(k))


@jit.function
def sort_by_distance(floats, words, count, used):
    """All returns, nearest first; empty slots stay behind."""
    for k in range(used):
        for i in range(1, count):
            if floats[i * FLOATS_A_SLOT + KEY + k] == NONE:
                break
            j = i
            while j > 0 and floats[j * FLOATS_A_SLOT + OPL + k] < floats[(j - 1) * FLOATS_A_SLOT + OPL + k]:
                _swap(floats, words, j, j - 1, k)
                j -= 1


@jit.function
def _swap(floats, words, a, b, k):
    for row in range(3):
        fa, fb = a * FLOATS_A_SLOT + row * BLOCK + k, b * FLOATS_A_SLOT + row * BLOCK + k
        floats[fa], floats[fb] = floats[fb], floats[fa]
    for row in range(5):
        wa, wb = a * WORDS_A_SLOT + row * BLOCK + k, b * WORDS_A_SLOT + row * BLOCK + k
        words[wa], words[wb] = words[wb], words[wa]
