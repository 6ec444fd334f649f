"""What is asked about the numbers of every state, in one quick look: whether all are finite, and where they lie."""

from sensorium.core.rotations import Float
from sensorium.runtime import jit


@jit.kernel
def all_finite(numbers: Float) -> bool:
    """Whether no number is infinite or not a number; shape (n,). No branches, so that the loop vectorizes."""
    bad = 0
    for number in numbers:
        bad |= number - number != 0.0  # neither gives zero
    return bad == 0


@jit.kernel
def address_of(numbers: Float) -> int:
    """Where an array begins in memory, many times quicker than `numbers.ctypes.data`."""
    return numbers.ctypes.data
