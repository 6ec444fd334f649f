"""Operations of the kernel: each is a row of whole numbers and a stretch of parameters.

A chain becomes a list of operations over the channels of a signal. One kernel runs them all, so that a step of a sensor
is one call, whatever its chain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sensorium.random import Stream

if TYPE_CHECKING:
    from sensorium.corruption.faults.fault import Fault

Float = NDArray[np.float64]
Int = NDArray[np.int64]

# Kinds of operation are numbers, each registered beside its function (`registry`). A kind is part of the counter of its
# random numbers, so its number stays
CUSTOM = 24
"""The kind that Python runs, not the kernel."""

LAST_COMMON = 9
"""Kinds up to this one are compiled for every sensor, the others on first use."""

# Columns of an operation's row
KIND, COLUMN, WIDTH, PARAMETERS, STATE, SLOTS, STAGE, FAULT, IDLE, CHANNELS = range(10)
OPTION = 10
"""First of the columns whose meaning is the kind's own."""
OPTIONS = 4
ROW = OPTION + OPTIONS

# What happens to the state of an operation that a fault has switched off. What is MARKED is forgotten too, and known to
# be by the first number of its last slot, so that it is done once
KEEPS, FORGETS, WATCHES, MARKED = range(4)

# Columns of a time's row: the sample's number, times [ns], and the key of the randomness
TICK, TIME_NS, ELAPSED_NS, PERIOD_NS, KEY_0, KEY_1, CLOCK = range(7)

# A stage of the counter: group of channels | kind | which of that kind
_GROUP_BITS, _KIND_BITS, _REPEAT_BITS = 6, 6, 4
MAX_GROUPS, MAX_KINDS, MAX_REPEATS = 1 << _GROUP_BITS, 1 << _KIND_BITS, 1 << _REPEAT_BITS

# An element of the counter: sensor | four channels that share the words of one draw
SENSOR_SHIFT = 20
MAX_SENSORS = 1 << (32 - SENSOR_SHIFT)


def stage(group: int, kind: int, repeat: int) -> int:
    """The counter's stage for one operation; it does not depend on other operations."""
    return (group << (_KIND_BITS + _REPEAT_BITS)) | (kind << _REPEAT_BITS) | repeat


@dataclass(frozen=True)
class Start:
    """Random numbers for the start of an operation, for all rows; distinct from the draws of every sample."""

    stream: Stream
    stage: int
    tick: int
    worlds: int
    sensors: int
    first_world: int
    width: int

    def normal(self, draw: int) -> Float:
        """Standard normal numbers, shape (worlds * sensors, width); draws count from 1."""
        return self._all("normal", draw)

    def uniform(self, draw: int) -> Float:
        """Uniform numbers in (0, 1), shape (worlds * sensors, width); draws count from 1."""
        return self._all("uniform", draw)

    def _all(self, law: str, draw: int) -> Float:
        numbers = np.empty((self.worlds, self.sensors, self.width))
        for sensor in range(self.sensors):
            numbers[:, sensor] = getattr(self.stream, law)(
                self.stage,
                draw,
                self.tick,
                elements=self.width,
                worlds=self.worlds,
                first_element=sensor << SENSOR_SHIFT,
                first_world=self.first_world,
            )
        return numbers.reshape(-1, self.width)


@dataclass(frozen=True)
class Moment:
    """A sample as input to a user-defined corruption.

    Attributes:
        time_ns: When it was taken [ns].
        elapsed_s: Time since the sample before [s]; 0 for the first.
    """

    time_ns: int
    elapsed_s: float
    _start: Start

    def normal(self, draw: int) -> Float:
        """Standard normal numbers, shape (rows, channels); those of other draws, from 1, are independent."""
        return self._start.normal(draw)

    def uniform(self, draw: int) -> Float:
        """Uniform numbers in (0, 1), shape (rows, channels); those of other draws, from 1, are independent."""
        return self._start.uniform(draw)


@dataclass(frozen=True)
class Op:
    """One operation on some neighboring channels.

    Attributes:
        kind: Number of a registered operation, or `CUSTOM`.
        parameters: Any numbers the kind's function reads, in its own order.
        options: Up to four whole numbers.
        slots: Numbers of state a channel; the state of one row is (slots, width).
        start: Gives the state at the beginning, shape (rows, slots, width); zeros if None.
        forgets: State is NaN whenever a fault has the operation switched off, so that it knows its onset.
        watches: As `forgets`, but the first slot follows the signal meanwhile, for what holds the value before.
        holds: Its output may be a value of an older sample. The last slot tells: NaN before there is a value to hold, 1
            where the output is an older one, 0 where it is not.
        since_onset: Its kernel needs the time at which the fault that switches it set in. The last slot's first number
            is NaN until its first sample.
        act: What a `CUSTOM` operation does: a function of the channels (rows, width), the state (rows, slots, width),
            which it changes in place, and a `Moment`; it returns the channels after it.
        channels: Those that it changes; None for all.
        reads: First and number of other columns of the signal that it reads, if any.
        switch: Fault that switches it, if it stands in a chain; None is always on.
        on: Whether it is done at all; one that is not still keeps its place among the random numbers.
    """

    kind: int
    parameters: Float = field(default_factory=lambda: np.zeros(0))
    options: tuple[int, ...] = ()
    slots: int = 0
    start: Callable[[Start], Float] | None = None
    forgets: bool = False
    on: bool = True
    watches: bool = False
    channels: tuple[int, ...] | None = None
    switch: Fault | None = None
    holds: bool = False
    since_onset: bool = False
    act: Callable[[Float, Float, Moment], Float] | None = None
    reads: tuple[int, int] | None = None

    @property
    def idle(self) -> int:
        """Handling of its state while it is switched off."""
        if self.watches:
            return WATCHES
        if self.forgets and (self.holds or self.since_onset):
            return MARKED
        return FORGETS if self.forgets else KEEPS
