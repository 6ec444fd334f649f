"""What is asked about the numbers of every state, in one quick look: whether all are finite, and where they lie."""

import numpy as np

from sensorium import jit
from sensorium.rotations import Float

# the bits of a float64 that are all set in infinities and in what is not a number, and only there
_EXPONENT = np.int64(0x7FF0000000000000)


@jit.kernel
def all_finite(numbers: Float) -> bool:
    """Whether no number is infinite or not a number; shape (n,). Integers, so that the loop vectorises."""
    bad = 0
    for bits in numbers.view(np.int64):
        bad |= (bits & _EXPONENT) == _EXPONENT
    return bad == 0


@jit.kernel
def address_of(numbers: Float) -> int:
    """Where an array begins in memory, many times quicker than `numbers.ctypes.data`."""
    return numbers.ctypes.data
