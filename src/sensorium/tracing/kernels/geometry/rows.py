"""Rows of the scratch in which a kernel works on a block of rays: flat arrays with BLOCK entries for each quantity.

One flat array with constant row offsets lets the compiler turn the loops over a block into vector code. The first rows
are those of packet.py: the rays before the trace, distances and normals after it. Light adds rows of its own.
"""

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK, BLOCK_FLOATS, BLOCK_WORDS

# floats: incidence
COS = BLOCK_FLOATS  # cosine between ray and normal, above 0
SIN2 = COS + BLOCK  # square of the sine, accurate for angles far too small for the cosine
SIDE = SIN2 + BLOCK  # +1 where the ray meets the outside of a face, -1 for the inside

# floats: random numbers of each ray, and directions before the jitter
UNIFORM, NORMAL, NORMAL_2, DROPOUT = (SIDE + i * BLOCK for i in range(1, 5))
NOMINAL_X, NOMINAL_Y, NOMINAL_Z = (DROPOUT + i * BLOCK for i in range(1, 4))
FLOATS = NOMINAL_Z + BLOCK

# words
COLUMN = BLOCK_WORDS  # object that was hit, NO_HIT for none
WORDS = COLUMN + BLOCK


@jit.function
def new_scratch():
    """Scratch for one block: floats (FLOATS,) and words (WORDS,)."""
    return jit.zeros(FLOATS, np.float32), jit.zeros(WORDS, np.uint32)
