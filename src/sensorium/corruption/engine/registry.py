"""Operations of the kernel, by number: each is registered once, beside its function.

    @operation(1)
    @jit.function
    def bias(ops, o, par, x, state, first, last): ...

The kernel's dispatch is generated from the registered operations (`kernel.py`), so an unregistered number
is an error before a program starts. Packages register theirs in the same way, with numbers from `FIRST_OF_OTHERS` on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sensorium.core.errors import SpecError
from sensorium.corruption.engine.op import CUSTOM, LAST_COMMON, MAX_KINDS

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
