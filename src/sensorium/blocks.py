"""Blocks of a kernel, dealt out in advance or claimed one by one by whichever thread is free.

A kernel has the form `kernel(first, step, count, ...)`. Called with a step above 0 it does the blocks first, first +
step, ... below count. One that calls what `shared` makes may be called with minus the number of other threads as step,
and the address of their desks as first: it lays its work on the desks, and threads that sit there help until no block
is left. Such a thread never holds the GIL, and nobody waits for one that comes late. Which thread does a block changes
nothing in it.

Who shares claims blocks from the first on, who helps from the last back. So a block mostly falls to the same thread
from call to call, which still has in its cache what it wrote there; to fetch that from another core's takes long.
"""

import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from sensorium import jit

NONE: Any = np.int64(-1)
"""The block before the first."""

CAN_SHARE = not numba.config.DISABLE_JIT
"""Whether kernels can be shared: one that is run as plain Python has no atomic operations."""

# A desk is a line of the cache: the address of a job, one more while it is being done, 0 for none; and the bell
DESK_BYTES = 64
_BELL = 8

_NUMBER, _NOTHING = ir.IntType(64), ir.IntType(8).as_pointer()

# Steps of workers that claim their blocks
_SHARES, _HELPS = _NUMBER(0), _NUMBER(-1)

_HAS_CLOCK = sys.platform != "win32"
_CLOCK = np.int32(getattr(time, "CLOCK_MONOTONIC", 0))
_read_clock = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.intp))

_give_way = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())

# How often a thread that waits looks again before it gives way. To give way is a call of the operating system, which
# keeps the other half of a core as busy as work does; a pause is an instruction that leaves the core to it.
_PAUSES = 64

# What the instruction is called
_PAUSE = {"x86_64": "llvm.x86.sse2.pause", "amd64": "llvm.x86.sse2.pause"}.get(platform.machine().lower())


@jit.function
def next_block(first: int, step: int, count: int, last: int) -> int:
    """The block to do after `last`, NONE at the beginning; from count on there is none.

    Args:
        first, step, count: As the worker of `shared` was given them. With step 0 for who shares, -1 for who helps,
            first is the address of three counters: of all blocks claimed, of those from the front, from the back.
        last: The block that is done now.
    """
    if step > 0:
        return first if last < 0 else last + step
    if _add_at(first, 1) >= count:
        return count
    return _add_at(first + 8, 1) if step == 0 else count - 1 - _add_at(first + 16, 1)


@jit.kernel
def serve(desk: int, turns: int, awake_ns: int) -> None:
    """What a thread does at its desk: help with what is laid on it, until the bell rings or nothing came for long.

    Args:
        desk: Its address.
        turns: How often to give way to other threads before leaving.
        awake_ns: How long to stay at most [ns]. Where others want the core, to give way takes as long as they like to
            stay on it: a thread that then counts turns alone has nothing to do for a second, and takes half the core.
    """
    clock = jit.zeros(2, np.int64)
    left, since = turns, _now_ns(clock)
    while left > 0 and _number_at(desk + _BELL) == 0 and _now_ns(clock) - since < awake_ns:
        job = _number_after(desk, 0)
        if job != 0 and _swap_at(desk, job, job + 1) == job:
            _help_with(job)
            _swap_at(desk, job + 1, 0)
            left, since = turns, _now_ns(clock)
        else:
            _give_way()
            left -= 1


@jit.function
def _now_ns(clock: NDArray[np.int64]) -> Any:
    """Time of a clock that never goes back [ns], 0 on Windows, where turns alone are counted.

    Args:
        clock: Scratch, int64 (2,).
    """
    if _HAS_CLOCK:
        _read_clock(_CLOCK, clock.ctypes.data)
    return clock[0] * 1_000_000_000 + clock[1]


@jit.function
def _number_after(address: int, before: int) -> Any:
    """The whole number at an address as soon as it is another than before, or the same where that takes long."""
    number, looks = _number_at(address), 0
    while number == before and looks < _PAUSES:
        _pause()
        number = _number_at(address)
        looks += 1
    return number


@jit.function
def _lay(desks: int, others: int, job: int) -> None:
    """Lay a job on the desks that are free."""
    for i in range(others):
        _swap_at(desks + DESK_BYTES * i, 0, job)


@jit.function
def _take_back(desks: int, others: int, job: int) -> None:
    """Take it off again, and wait where somebody is still at it."""
    for i in range(others):
        desk = desks + DESK_BYTES * i
        if _swap_at(desk, job, 0) == job + 1:
            while _number_after(desk, job + 1) == job + 1:
                _give_way()


def shared(worker: Callable[..., None]) -> Callable[..., None]:
    """What a kernel whose blocks are shared calls: a compiled function of (first, step, count, other arguments).

    Args:
        worker: Function of `jit.function`, of (first, step, count, *arguments), that asks `next_block` for its blocks,
            returns nothing and raises nothing.
    """

    @intrinsic
    def share(typing_context: Any, first: Any, step: Any, count: Any, arguments: Any) -> Any:
        numbers = (types.int64,) * 3
        with_arguments: tuple[Any, ...] = numbers + tuple(arguments.types)
        compiled: list[tuple[Any, Any]] = [(worker, with_arguments), (_lay, numbers), (_take_back, numbers)]
        called = [
            (function._numba_type_, function._numba_type_.get_call_type(typing_context, given, {}))
            for function, given in compiled
        ]

        def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            functions = [context.get_function(*one) for one in called]
            for function in functions:
                context.add_linking_libs(getattr(function, "libs", ()))
            _build_sharing(context, builder, *functions, *values)
            return context.get_dummy_value()

        return types.none(*numbers, arguments), build

    return share


def _build_sharing(
    context: Any, builder: Any, work: Any, lay: Any, take_back: Any, first: Any, step: Any, count: Any, arguments: Any
) -> None:
    """Write the instructions of `shared`."""
    # A job, on the stack of who shares it: the function that does it, first, step and count, counters, the arguments
    counters_type = ir.ArrayType(_NUMBER, 3)
    job_type = ir.LiteralStructType([_NOTHING, _NUMBER, _NUMBER, _NUMBER, counters_type, arguments.type])
    job = cgutils.alloca_once(builder, job_type)

    def part(builder: Any, job: Any, number: int) -> Any:
        return cgutils.gep_inbounds(builder, job, 0, number)

    # That function has the form of all that Numba makes: places for a result and for an error come first. It alone
    # calls the worker, which is so compiled once.
    kind = _form_of_jobs(builder)
    does = ir.Function(builder.module, kind, name=f"{builder.function.name}.job")
    does.linkage = "internal"
    inside = ir.IRBuilder(does.append_basic_block("entry"))
    known = inside.bitcast(does.args[2], job_type.as_pointer())
    job_first, job_step, job_count, given = (inside.load(part(inside, known, number)) for number in (1, 2, 3, 5))
    own_step = inside.select(inside.icmp_signed(">", job_step, _NUMBER(0)), job_step, does.args[3])
    work(inside, [job_first, own_step, job_count, *cgutils.unpack_tuple(inside, given)])
    inside.ret(kind.return_type(0))

    # Dealt out there are no others; claimed there are minus the step
    is_dealt, zero = builder.icmp_signed(">", step, _NUMBER(0)), _NUMBER(0)
    counters = builder.ptrtoint(part(builder, job, 4), _NUMBER)
    others = builder.select(is_dealt, zero, builder.neg(step))
    own_first, no_counts = builder.select(is_dealt, first, counters), ir.Constant(counters_type, None)
    code = builder.bitcast(does, _NOTHING)
    for number, value in enumerate((code, own_first, step, count, no_counts, arguments)):
        builder.store(value, part(builder, job, number))
    address = builder.ptrtoint(job, _NUMBER)
    lay(builder, [first, others, address])
    builder.call(does, [_NOTHING(None), builder.function.args[1], builder.bitcast(job, _NOTHING), _SHARES])
    take_back(builder, [first, others, address])


def _form_of_jobs(builder: Any) -> Any:
    """Type of the function that does a job: places for a result and an error as Numba has them, the job, and who."""
    outer = builder.function
    return ir.FunctionType(outer.function_type.return_type, [_NOTHING, outer.args[1].type, _NOTHING, _NUMBER])


@intrinsic
def _help_with(typing_context: Any, job: Any) -> Any:
    """Help with the job at an address."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = _form_of_jobs(builder)
        place = builder.inttoptr(values[0], kind.as_pointer().as_pointer())
        error = cgutils.alloca_once(builder, kind.args[1].pointee)
        builder.call(builder.load(place), [_NOTHING(None), error, builder.inttoptr(values[0], _NOTHING), _HELPS])
        return context.get_dummy_value()

    return types.none(types.int64), build


@intrinsic
def _pause(typing_context: Any) -> Any:
    """Wait for some tens of cycles, where the processor has an instruction for that."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if _PAUSE is not None:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, _PAUSE), [])
        return context.get_dummy_value()

    return types.none(), build


@intrinsic
def _add_at(typing_context: Any, address: Any, amount: Any) -> Any:
    """Add to the whole number at an address, at once for all threads; what it was before."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.atomic_rmw("add", builder.inttoptr(values[0], _NUMBER.as_pointer()), values[1], "seq_cst")

    return types.int64(types.int64, types.int64), build


@intrinsic
def _swap_at(typing_context: Any, address: Any, expected: Any, new: Any) -> Any:
    """Put a new number at an address if the expected one is there, at once for all threads; what was there."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = builder.inttoptr(values[0], _NUMBER.as_pointer())
        return builder.extract_value(builder.cmpxchg(place, values[1], values[2], "seq_cst"), 0)

    return types.int64(types.int64, types.int64, types.int64), build


@intrinsic
def _number_at(typing_context: Any, address: Any) -> Any:
    """The whole number at an address, as other threads left it."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(values[0], _NUMBER.as_pointer()), "seq_cst", 8)

    return types.int64(types.int64), build
