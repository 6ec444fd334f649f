"""Philox4x32-10: a counter-based generator without state. The counter selects the number.

Ten rounds of two 32 x 32 -> 64 bit products turn (counter, key) into four independent uniform words.
Ref: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11, section 3.3.
"""

import numpy as np

from sensorium.runtime import jit

Words = tuple[np.uint32, np.uint32, np.uint32, np.uint32]

# The counter's fields: 32 bit element | 16 bit stage, 16 bit draw | 40 bit tick, 24 bit world
MAX_ELEMENTS = 1 << 32
MAX_STAGES = 1 << 16
MAX_DRAWS = 1 << 16
MAX_TICKS = 1 << 40
MAX_WORLDS = 1 << 24

_u32 = np.uint32
_u64 = np.uint64
_HALF = np.uint64(32)
_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint32(0x9E3779B9)
_WEYL_1 = np.uint32(0xBB67AE85)


@jit.inlined
def philox(c0: np.uint32, c1: np.uint32, c2: np.uint32, c3: np.uint32, k0: np.uint32, k1: np.uint32) -> Words:
    """Four random words of the counter (c0..c3) under the key (k0, k1)."""
    for _ in range(10):
        product_0 = _MULTIPLIER_0 * _u64(c0)
        product_1 = _MULTIPLIER_1 * _u64(c2)
        c0 = _u32(_u32(product_1 >> _HALF) ^ c1 ^ k0)
        c1 = _u32(product_1)
        c2 = _u32(_u32(product_0 >> _HALF) ^ c3 ^ k1)
        c3 = _u32(product_0)
        k0 = _u32(k0 + _WEYL_0)
        k1 = _u32(k1 + _WEYL_1)
    return c0, c1, c2, c3


@jit.inlined
def counter_words(element: int, stage: int, draw: int, tick: int, world: int) -> Words:
    """Pack the indices of a draw into a counter: one-to-one while every argument is below its MAX_... above.

    c0 = element, c1 = stage << 16 | draw, c2 = low 32 bits of tick, c3 = high 8 bits of tick << 24 | world.
    A 100 kHz sensor reaches tick 2^40 after 127 days. Any integer type will do; nothing is checked here.
    """
    ticks = _u64(tick)
    c1 = _u32((_u32(stage) << _u32(16)) | _u32(draw))
    c3 = _u32((_u32(ticks >> _HALF) << _u32(24)) | _u32(world))
    return _u32(element), c1, _u32(ticks), c3


@jit.inlined
def draw_words(k0: np.uint32, k1: np.uint32, element: int, stage: int, draw: int, tick: int, world: int) -> Words:
    """Four random words for one draw; a kernel passes them to a transform."""
    c0, c1, c2, c3 = counter_words(element, stage, draw, tick, world)
    return philox(c0, c1, c2, c3, _u32(k0), _u32(k1))
