"""Blocks of a kernel, dealt out in advance or claimed one by one by whichever thread is free.

A kernel has the form `kernel(first, step, count, ...)` and asks `next_block` which block to do. Dealt out, these are
first, first + step, ... below count. With step 0 they are claimed: `first` is the address of a `Counter`, and a thread
that comes late does fewer blocks. Which thread does a block changes nothing in it.
"""

import sys
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from sensorium import jit

NONE = np.int64(-1)
"""The block before the first."""

CAN_CLAIM = not numba.config.DISABLE_JIT
"""Whether blocks can be claimed: kernels that are run as plain Python have no atomic operations."""

# Numbers of a counter, each 8 bytes: the next block, how many are done, and the address of the bell
_NEXT, _DONE, _BELL = 0, 8, 16

_give_way = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())


class Counter:
    """How far one run of a kernel is; its memory lives as long as this does."""

    def __init__(self, bell: NDArray[np.int64]) -> None:
        """Nothing is claimed.

        Args:
            bell: Its first number goes up when a thread begins with the kernel.
        """
        self._numbers = np.array([0, 0, bell.ctypes.data], np.int64)
        self.address: int = self._numbers.ctypes.data

    def is_done(self, count: int, turns: int) -> bool:
        """Whether so many blocks are done, now or within so many turns of waiting."""
        return bool(wait_for(self.address + _DONE, count, turns))


@intrinsic
def _add_at(typing_context: Any, address: Any, amount: Any) -> Any:
    """Add to the whole number at an address, at once for all threads; what it was before."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", place, arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), build


@intrinsic
def _number_at(typing_context: Any, address: Any) -> Any:
    """The whole number at an address, as other threads left it."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(types.int64), build


@jit.function
def next_block(first, step, count, last):
    """The block to do after `last`, NONE at the beginning; from count on there is none.

    Args:
        first, step, count: As the kernel was given them.
        last: The block that is done now.
    """
    if step > 0:
        return first if last < 0 else last + step
    if last < 0:
        _add_at(_number_at(first + _BELL), 1)
    else:
        _add_at(first + _DONE, 1)
    return _add_at(first + _NEXT, 1)


@jit.kernel
def wait_for(address, least, turns):
    """Whether the number at an address reaches a least one, giving way to other threads so many times meanwhile."""
    for _ in range(turns):
        if _number_at(address) >= least:
            return True
        _give_way()
    return _number_at(address) >= least


@jit.kernel
def ring(bell):
    """Let who waits for a bell hear it."""
    _add_at(bell.ctypes.data, 1)
