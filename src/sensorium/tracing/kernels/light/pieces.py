"""Stretches of rays in media that backscatter, recorded on the way for returns from fog."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import tables as tb

# columns of Pieces.number: from and to along the segment [m], optical depth, optical path and reduced path at its
# beginning, and how far the path had come in that medium by then [m]
P_FROM, P_TO, P_TAU, P_OPL, P_Z, P_TRAVELED = range(6)
PIECE_NUMBERS = 6

# columns of Pieces.word: ray of the block, medium, the medium whose index counts there, and number of the visit
P_RAY, P_MEDIUM, P_INDEX, P_VISIT = range(4)
PIECE_WORDS = 4


class Pieces(NamedTuple):
    """Stretches of the rays of a block in media that backscatter."""

    used: NDArray[np.int64]  # (1,)
    number: NDArray[np.float32]  # (pieces, PIECE_NUMBERS)
    word: NDArray[np.int32]  # (pieces, PIECE_WORDS)


@jit.function
def new_pieces(room):
    """Arrays for all pieces of a block whose rays have at most this many crossings."""
    most = BLOCK * (room + 1) if room > 0 else 0
    return Pieces(
        jit.zeros(1, np.int64), jit.zeros((most, PIECE_NUMBERS), np.float32), jit.zeros((most, PIECE_WORDS), np.int32)
    )


@jit.inlined
def note_piece(pieces, stacks, medium, here, index, began, end, tau, opl, z, k):
    """Record a stretch of ray k in the medium on top of its stack, if that backscatters."""
    level = stacks.held[k]
    traveled, visit = stacks.traveled[level, k], stacks.visit[level, k]
    put_piece(pieces, medium, here, index, began, end, tau, opl, z, traveled, visit, k)


@jit.inlined
def put_piece(pieces, medium, here, index, began, end, tau, opl, z, traveled, visit, k):
    """Record a stretch of ray k in a medium, if that backscatters; see `Pieces`."""
    if medium[here, tb.G_ECHO] <= np.float32(0.0) or end <= began:
        return
    i = pieces.used[0]
    pieces.number[i, P_FROM], pieces.number[i, P_TO], pieces.number[i, P_TAU] = began, end, tau
    pieces.number[i, P_OPL] = opl + medium[index, tb.G_INDEX] * began
    pieces.number[i, P_Z] = z + medium[index, tb.G_WIDENING] * began
    pieces.number[i, P_TRAVELED] = traveled
    pieces.word[i, P_RAY], pieces.word[i, P_VISIT] = k, visit
    pieces.word[i, P_MEDIUM], pieces.word[i, P_INDEX] = here, index
    pieces.used[0] = i + 1
