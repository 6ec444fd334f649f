"""Instructions for kernels that Numba lacks: atomic integers at an address, the pause instruction, a clock."""

import inspect
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from sensorium.runtime import jit

NUMBER, POINTER = ir.IntType(64), ir.IntType(8).as_pointer()

# LLVM's name of the pause instruction
_PAUSE = {"x86_64": "llvm.x86.sse2.pause", "amd64": "llvm.x86.sse2.pause"}.get(platform.machine().lower())

# Polls of a waiting thread before it yields. A yield is a system call, which loads the sibling hyper-thread as much as
# work does; a pause instruction does not.
_POLLS = 64

_ON_WINDOWS = sys.platform == "win32"
_CLOCK = np.int32(getattr(time, "CLOCK_MONOTONIC", 0))
_read_clock = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.intp))

yield_core = types.ExternalFunction("SwitchToThread" if _ON_WINDOWS else "sched_yield", types.int32())
"""Let another thread run on this core: a system call."""


def _instruction(emit: Callable[..., Any]) -> Any:
    """Make an intrinsic of integers from a function of a builder and the values, which returns the result or None."""

    def define(typing_context: Any, *given: Any) -> Any:
        def build(context: Any, builder: Any, _: Any, values: Any) -> Any:
            result = emit(builder, *values)
            return context.get_dummy_value() if result is None else result

        kind = types.none if emit.__annotations__["return"] is None else types.int64
        return kind(*[types.int64] * len(given)), build

    define.__signature__ = inspect.signature(emit)  # type: ignore[attr-defined]  # Numba reads the number of values
    return intrinsic(define)


def _at(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, NUMBER.as_pointer())


@_instruction
def load(builder: Any, address: Any) -> Any:
    """Atomic load of the integer at an address."""
    return builder.load_atomic(_at(builder, address), "seq_cst", 8)


@_instruction
def add(builder: Any, address: Any, amount: Any) -> Any:
    """Atomically add to the integer at an address; returns the value before."""
    return builder.atomic_rmw("add", _at(builder, address), amount, "seq_cst")


@_instruction
def swap(builder: Any, address: Any, expected: Any, new: Any) -> Any:
    """Atomic compare-and-swap of the integer at an address; returns the value before."""
    return builder.extract_value(builder.cmpxchg(_at(builder, address), expected, new, "seq_cst"), 0)


@_instruction
def store(builder: Any, address: Any, number: Any) -> None:
    """Store an integer at an address; other threads see it after the next atomic operation."""
    builder.store(number, _at(builder, address))


@_instruction
def pause(builder: Any) -> None:
    """Pause for some tens of cycles, if the processor has an instruction for it."""
    if _PAUSE is not None:
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, _PAUSE), [])


@jit.function
def load_after(address: int, before: int) -> Any:
    """The integer at an address once it differs from `before`, or `before` again after `_POLLS` polls."""
    number, polls = load(address), 0
    while number == before and polls < _POLLS:
        pause()
        number = load(address)
        polls += 1
    return number


@jit.function
def wait_while(address: int, value: int) -> None:
    """Wait until the integer at an address is another one."""
    while load_after(address, value) == value:
        yield_core()


@jit.function
def now_ns(clock: NDArray[np.int64]) -> Any:
    """Time of a monotonic clock [ns], given scratch, int64 (2,); on Windows half a microsecond more at each call."""
    if _ON_WINDOWS:
        clock[1] += 500
    else:
        _read_clock(_CLOCK, clock.ctypes.data)
    return clock[0] * 1_000_000_000 + clock[1]
