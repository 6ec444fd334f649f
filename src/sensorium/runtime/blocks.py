"""Blocks of a kernel, dealt out in advance or claimed one by one by whichever thread is free.

A kernel has the form `kernel(first, step, count, ...)`. Called with a step above 0 it does the blocks first, first +
step, ... below count. One that calls what `shared` makes may be called with minus the number of other threads as step,
and the address of their desks as first: it lays its work on the desks, and threads that sit there help until no block
is left. Such a thread never holds the GIL, and nobody waits for one that comes late. Which thread does a block changes
nothing in it. A kernel may also write its work down, and do it later: see `Prepared`.

Who shares claims blocks from the first on, who helps from the last back. So a block mostly falls to the same thread
from call to call, which still has in its cache what it wrote there; to fetch that from another core's takes long.
"""

import platform
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.runtime.jit import without_owner

NONE: Any = np.int64(-1)
"""The block before the first."""

CAN_SHARE = not numba.config.DISABLE_JIT
"""Whether kernels can be shared: one that is run as plain Python has no atomic operations."""

# A desk is a line of the cache: the address of a job, one more while it is being done, 0 for none; and the bell
DESK_BYTES = 64
_BELL = 8

_NUMBER, _NOTHING = ir.IntType(64), ir.IntType(8).as_pointer()

# Steps of workers that claim their blocks
_SHARES, _HELPS = np.int64(0), np.int64(-1)

# The step of a kernel that is not to work, but to write down its job at the address `first`
_PREPARES = -(2**63)

# Where parts of a job are [bytes]: the function that does it comes first, the arguments come last
_FIRST, _STEP, _COUNT, _COUNTERS = 8, 16, 24, 32

# Room for a job of some hundred arrays
_USUAL_JOB_BYTES = 8192

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
            _work_on(job, _HELPS)
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


@jit.function
def _begin(job: int, first: int, step: int, count: int) -> None:
    """Let others do a job, where blocks are claimed; what it has of first, step and count is set anew."""
    dealt = step > 0
    _put_at(job + _FIRST, first if dealt else job + _COUNTERS)
    _put_at(job + _STEP, step)
    _put_at(job + _COUNT, count)
    for number in range(3):
        _put_at(job + _COUNTERS + 8 * number, 0)
    _lay(first, 0 if dealt else -step, job)


@jit.function
def _end(job: int, first: int, step: int) -> None:
    """Do what is left of it, and wait for the others; nothing is left then, so that to end it twice does no harm."""
    _work_on(job, _SHARES)
    _take_back(first, 0 if step > 0 else -step, job)
    _put_at(job + _COUNT, 0)


@jit.function
def _do(job: int, first: int, step: int, count: int) -> None:
    """Do a job, with others where blocks are claimed."""
    _begin(job, first, step, count)
    _end(job, first, step)


@jit.kernel
def _do_prepared(job: int, first: int, step: int, count: int) -> None:
    """The same for one that lies in memory already."""
    _do(job, first, step, count)


@jit.kernel
def begin(job: int, first: int, step: int, count: int) -> None:
    """Let other threads begin with the job of a prepared kernel, at its address; `end` must come."""
    _begin(job, first, step, count)


@jit.kernel
def end(job: int, first: int, step: int) -> None:
    """Do what is left, of first and step as it was begun, and wait for the others."""
    _end(job, first, step)


class Prepared:
    """A kernel whose blocks are shared, with arguments that were unpacked from Python's objects beforehand.

    To find the machine code for the types of seventy arrays, and to unpack them, takes 40 us at each call, as long as a
    small image does. Here it is done once; what changes from call to call has to be in the arrays themselves. Made by
    `threads.prepared`; a copy of it would work on the same arrays, so there is none.
    """

    def __init__(self, kernel: Callable[..., None], *arguments: Any) -> None:
        self._kernel, self._arguments = kernel, arguments  # kept, since their code and memory are used
        size = _USUAL_JOB_BYTES
        while True:
            self._job = np.zeros(size // 8, np.int64)
            self._job[_FIRST // 8] = size
            self.address = int(self._job.ctypes.data)
            """Where its job lies, for `begin` and `end`."""
            kernel(self.address, _PREPARES, 0, *arguments)
            if self._job[_FIRST // 8] <= size:
                break
            size = int(self._job[_FIRST // 8])

        # A job of no blocks, until it is called; and nothing is compiled any more once it has begun
        begin(self.address, 0, 1, 0)
        end(self.address, 0, 1)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a prepared kernel knows where its arrays are; it cannot be copied or pickled")

    def __call__(self, first: int, step: int, count: int) -> None:
        """Call the kernel; not from two threads at once."""
        _do_prepared(self.address, first, step, count)


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
        compiled: list[tuple[Any, Any]] = [(worker, with_arguments), (_do, (types.int64, *numbers))]
        called = [
            (function._numba_type_, function._numba_type_.get_call_type(typing_context, given, {}))
            for function, given in compiled
        ]

        def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            functions = [context.get_function(*one) for one in called]
            for function in functions:
                context.add_linking_libs(getattr(function, "libs", ()))
            *which, given = values
            unowned = without_owner(context, builder, arguments, given)  # who calls owns them until it has returned
            _build_sharing(context, builder, functions, which, unowned)
            return context.get_dummy_value()

        return types.none(*numbers, arguments), build

    return share


def _build_sharing(context: Any, builder: Any, functions: list[Any], which: list[Any], arguments: Any) -> None:
    """Write the instructions of `shared`: of the functions that work and that do a job, for first, step and count."""
    (work, do), (first, step, count) = functions, which

    # A job: the function that does it, first, step and count, counters, the arguments
    job_type = ir.LiteralStructType([_NOTHING, *[_NUMBER] * 3, ir.ArrayType(_NUMBER, 3), arguments.type])

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

    def write(job: Any) -> None:
        builder.store(builder.bitcast(does, _NOTHING), part(builder, job, 0))
        builder.store(arguments, part(builder, job, 5))

    # Only prepared, it goes where the caller wants it, if there is room; else on the stack, and is done at once
    own_job, size = cgutils.alloca_once(builder, job_type), _NUMBER(context.get_abi_sizeof(job_type))
    with builder.if_else(builder.icmp_signed("==", step, _NUMBER(_PREPARES))) as (only_prepared, done):
        with only_prepared:
            job = builder.inttoptr(first, job_type.as_pointer())
            room = builder.load(part(builder, job, 1))
            builder.store(size, part(builder, job, 1))
            with builder.if_then(builder.icmp_signed(">=", room, size)):
                write(job)
        with done:
            write(own_job)
            do(builder, [builder.ptrtoint(own_job, _NUMBER), first, step, count])


def _form_of_jobs(builder: Any) -> Any:
    """Type of the function that does a job: places for a result and an error as Numba has them, the job, and who."""
    outer = builder.function
    return ir.FunctionType(outer.function_type.return_type, [_NOTHING, outer.args[1].type, _NOTHING, _NUMBER])


@intrinsic
def _work_on(typing_context: Any, job: Any, who: Any) -> Any:
    """Do blocks of the job at an address, as who shares it or as one who helps."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = _form_of_jobs(builder)
        place = builder.inttoptr(values[0], kind.as_pointer().as_pointer())
        error = cgutils.alloca_once(builder, kind.args[1].pointee)
        builder.call(builder.load(place), [_NOTHING(None), error, builder.inttoptr(values[0], _NOTHING), values[1]])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), build


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
def _put_at(typing_context: Any, address: Any, number: Any) -> Any:
    """Put a whole number at an address; others see it with the next atomic operation."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.store(values[1], builder.inttoptr(values[0], _NUMBER.as_pointer()))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), build


@intrinsic
def _number_at(typing_context: Any, address: Any) -> Any:
    """The whole number at an address, as other threads left it."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(values[0], _NUMBER.as_pointer()), "seq_cst", 8)

    return types.int64(types.int64), build
