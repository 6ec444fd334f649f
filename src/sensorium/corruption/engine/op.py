"""Operations of the kernel: each is a row of whole numbers and a stretch of parameters.

A chain becomes a list of operations over the channels of a signal. One kernel runs them all, so that a step of a sensor
is one call, whatever its chain. Each kind of operation has a number, and is registered once, beside its function:

    @operation(1)
    @jit.function
    def bias(ops, o, par, x, state, first, last): ...

The kernel's dispatch is generated from the registered operations (`kernel.py`), so an unregistered number is an error
before a program starts. Packages register theirs in the same way, with numbers from `FIRST_OF_OTHERS` on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.random import Stream

if TYPE_CHECKING:
    from sensorium.corruption.faults.fault import Fault


Float = NDArray[np.float64]
Int = NDArray[np.int64]

# Kinds of operation are numbers, each registered beside its function. A kind is part of the counter of its
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


F = TypeVar("F", bound=Callable[..., None])

FIRST_OF_OTHERS = 32
"""Numbers from this one up to `MAX_KINDS` - 1 belong to packages of third parties, the others to the library."""

ARGUMENTS = ("ops", "o", "par", "x", "state", "ids", "clock", "t", "onsets", "first", "last")
"""Possible arguments of an operation's function; it names those that it needs, in this order."""

COMMON_ARGUMENTS = tuple(name for name in ARGUMENTS if name != "onsets")
"""The same for common operations."""


@dataclass(frozen=True)
class Operation:
    """One kind of operation.

    Attributes:
        number: Of its kind. It is part of the counter of its random numbers, so it stays.
        name: Module and name of the function.
        function: The compiled function, a `jit.Called`.
        arguments: Names of what the function is given, of `ARGUMENTS`.
    """

    number: int
    name: str
    function: Any
    arguments: tuple[str, ...]

    @property
    def is_common(self) -> bool:
        """Whether it is compiled for every sensor; others are compiled on first use."""
        return self.number <= LAST_COMMON


_registered: dict[int, Operation] = {}


def operation(number: int) -> Callable[[F], F]:
    """Register a compiled function for the operations of a number.

    The function takes some of `ARGUMENTS`, in their order, and changes `x` and `state` in place:

    - ops, o: Rows of all operations, int64 (operations, ROW), and the number of its own row; `op` names the columns.
    - par: Parameters of all operations, float64; its own begin at ops[o, PARAMETERS].
    - x: The sample, float64 (rows, columns); its own channels are WIDTH columns from ops[o, COLUMN] on.
    - state: float64 (rows, slots); its own begins at ops[o, STATE] and is (SLOTS, WIDTH), row by row.
    - ids, clock, t: For `fill_normals` and the like of `draws`; clock[t, TIME_NS] is the sample's time [ns].
    - onsets: When the fault that switches it set in [ns], int64 (rows, faults); for `Op.since_onset`.
    - first, last: Rows to do, from first to last - 1.

    Args:
        number: Of the kind; 1 to 31 in the library, 32 to 63 in other packages. Random numbers follow from it.
    """

    def register(function: F) -> F:
        plain = getattr(function, "py_func", None)
        if plain is None:
            raise SpecError(f"operation {number} is {function!r}; it must be compiled, put @jit.function below")
        arguments = tuple(inspect.signature(plain).parameters)
        made = Operation(number, f"{plain.__module__}.{plain.__qualname__}", function, arguments)
        _check(made)
        _registered[number] = made
        return function

    return register


def _check(made: Operation) -> None:
    """Raise SpecError if an operation cannot be registered."""
    number = made.number
    own = made.name.startswith("sensorium.")
    least, end = (1, FIRST_OF_OTHERS) if own else (FIRST_OF_OTHERS, MAX_KINDS)
    if not least <= number < end or number == CUSTOM:
        whose = "the library" if own else "another package"
        raise SpecError(f"operation {made.name} has the number {number}; one of {whose} must have {least} to {end - 1}")
    other = _registered.get(number)
    if other is not None and other.name != made.name:
        raise SpecError(
            f"operations {other.name} and {made.name} both have the number {number}; each needs its own, {least} to "
            f"{end - 1} ({', '.join(map(str, sorted({*_registered, CUSTOM})))} are taken by what is loaded so far)"
        )
    known = COMMON_ARGUMENTS if made.is_common else ARGUMENTS
    if made.arguments != tuple(name for name in known if name in made.arguments):
        raise SpecError(
            f"operation {made.name} takes {', '.join(made.arguments)}; it may take {', '.join(known)}, in this order"
        )


def registered() -> dict[int, Operation]:
    """All operations of the kernel, by number, except those of corruptions that are not loaded."""
    return dict(sorted(_registered.items()))


def common_operations() -> tuple[Operation, ...]:
    """Operations in every sensor's kernel, in the order of their numbers."""
    return tuple(each for each in registered().values() if each.is_common)


def runs(number: int) -> bool:
    """Whether operations of a number can run: in the kernel, or in Python for `CUSTOM`."""
    return number in _registered or number == CUSTOM


def rare_operations(numbers: set[int]) -> tuple[Operation, ...]:
    """Operations that the kernel of a program needs beside the common ones, in the order of their numbers.

    Those of the library are compiled together, to keep kernels few; those of other packages on first use.

    Args:
        numbers: Of all operations of the program.
    """
    rare = [each for each in registered().values() if not each.is_common]
    others = [each for each in rare if each.number >= FIRST_OF_OTHERS and each.number in numbers]
    own = [each for each in rare if each.number < FIRST_OF_OTHERS]
    if others and not any(each.number in numbers for each in own):
        return tuple(others)
    return (*own, *others)
