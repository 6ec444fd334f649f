"""Whether all numbers of an array are finite, in one quick look: it is asked about every state."""

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
