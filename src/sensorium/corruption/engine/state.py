"""The state of a running chain."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.random import Stream

if TYPE_CHECKING:
    from sensorium.corruption.engine.program import Program
    from sensorium.corruption.faults.clock import FaultClock

Float = NDArray[np.float64]

NEVER = np.iinfo(np.int64).min
"""Time of the last sample before the first one [ns]."""


@dataclass
class State:
    """State of a corruption after a sample."""

    program: Program
    shape: tuple[int, ...]
    stream: Stream
    values: Float
    """State of every operation, shape (rows, slots)."""
    ids: NDArray[np.int64]
    """World and first element of each row in the counter, shape (2, rows)."""
    worlds: int
    sensors: int
    first_world: int
    clock: NDArray[np.int64] = field(repr=False)
    """A sample's row of numbers for the kernel, reused for each: period and key stay, tick and times change."""
    faults: FaultClock | None = None
    """Which faults of its chains are active, with their log; None if there are none."""
    tick: int = 0
    """Number of the next sample."""
    time_ns: int = NEVER
    """Time of the last sample [ns]."""

    def copy(self) -> State:
        """An independent copy."""
        faults = None if self.faults is None else self.faults.copy()
        return replace(self, values=self.values.copy(), clock=self.clock.copy(), faults=faults)

    def elapsed_ns(self, time_ns: int) -> int:
        """Time since the sample before [ns]; 0 for the first."""
        if self.time_ns == NEVER:
            return 0
        if time_ns <= self.time_ns:
            raise SpecError(f"time_ns is {time_ns} after {self.time_ns}; samples must follow in time")
        return time_ns - self.time_ns
