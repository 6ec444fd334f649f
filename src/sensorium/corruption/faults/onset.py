"""Time since the onset of a fault, for corruptions that begin there."""

import math

from sensorium.corruption.engine.op import ELAPSED_NS, FAULT, TIME_NS, Int
from sensorium.runtime import jit


@jit.inlined
def age_ns(ops: Int, o: int, clock: Int, t: int, onsets: Int, row: int, before_ns: float) -> float:
    """Time since the onset of the fault that switches an operation [ns]; without a fault, since its first sample.

    Args:
        ops, o, clock, t: Operation and sample.
        onsets: When each fault set in [ns], int64 (rows, faults).
        row: Row of the signal.
        before_ns: Its age at the sample before, NaN if it was not active then [ns].
    """
    fault = ops[o, FAULT]
    if fault >= 0:
        return float(clock[t, TIME_NS] - onsets[row, fault])
    return 0.0 if math.isnan(before_ns) else before_ns + clock[t, ELAPSED_NS]
