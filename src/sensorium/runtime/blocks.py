"""Blocks of a kernel, assigned to threads in advance or claimed by free threads one at a time.

A kernel has the form `kernel(first, step, count, ...)`. With a positive step it does the blocks first, first + step,
... below count. A kernel that calls a function made by `shared` also accepts a negative step, minus the number of
other threads, with the address of their job slots as first: it posts its job in the slots, and the threads that poll
them help until no block is left. These threads do not hold the GIL, and the caller does not wait for a late one. The
result of a block does not depend on the thread. `Prepared` stores a job in memory, to be done later.

The caller claims blocks from the front, helpers claim from the back. A block therefore mostly goes to the same thread
from call to call, with its output still in that core's cache; a transfer from another core's cache is slow.
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
"""Passed to `next_block` before the first block."""

CAN_SHARE = not numba.config.DISABLE_JIT
"""Whether kernels can be shared: one that is run as plain Python has no atomic operations."""

# A job slot is one cache line: the address of a job (plus one while a thread works on it, 0 if empty), the wake flag
SLOT_BYTES = 64
_WAKE_FLAG = 8

_NUMBER, _NOTHING = ir.IntType(64), ir.IntType(8).as_pointer()

# Steps that mark the role of a thread that claims blocks: the caller, a helper
_SHARES, _HELPS = np.int64(0), np.int64(-1)

# The step of a call that only writes the job to the address `first`
_PREPARES = -(2**63)

# Byte offsets in a job, after the address of its function; the arguments come last
_FIRST, _STEP, _COUNT, _COUNTERS = 8, 16, 24, 32

# Enough for a job of about a hundred arrays
_USUAL_JOB_BYTES = 8192

_HAS_CLOCK = sys.platform != "win32"
_CLOCK = np.int32(getattr(time, "CLOCK_MONOTONIC", 0))
_read_clock = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.intp))

_yield_core = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())

# Polls of a waiting thread before it yields. A yield is a system call, which loads the sibling hyper-thread as much as
# work does; a pause instruction does not.
_PAUSES = 64

# LLVM's name of the pause instruction
_PAUSE = {"x86_64": "llvm.x86.sse2.pause", "amd64": "llvm.x86.sse2.pause"}.get(platform.machine().lower())


@jit.function
def next_block(first: int, step: int, count: int, last: int) -> int:
    """The block after `last`, which is NONE at the beginning; a result of count or more means no block is left.

    Args:
        first, step, count: As passed to the worker of `shared`. With step 0 (the caller) or -1 (a helper),
            first is the address of three counters: all blocks claimed, claimed from the front, from the back.
        last: The block that was just done.
    """
    if step > 0:
        return first if last < 0 else last + step
    if _add_at(first, 1) >= count:
        return count
    return _add_at(first + 8, 1) if step == 0 else count - 1 - _add_at(first + 16, 1)


@jit.kernel
def worker_loop(slot: int, turns: int, awake_ns: int) -> None:
    """Poll a job slot and help with each job posted there, until the wake flag is set or no job came for long.

    Args:
        slot: Address of the slot.
        turns: Number of yields without a job before returning.
        awake_ns: Longest time without a job before returning [ns]. On a busy core a yield lasts a whole time slice, so
            that a limit on yields alone would keep an idle thread polling for a second.
    """
    clock = jit.zeros(2, np.int64)
    left, since = turns, _now_ns(clock)
    while left > 0 and _number_at(slot + _WAKE_FLAG) == 0 and _now_ns(clock) - since < awake_ns:
        job = _number_after(slot, 0)
        if job != 0 and _swap_at(slot, job, job + 1) == job:
            _work_on(job, _HELPS)
            _swap_at(slot, job + 1, 0)
            left, since = turns, _now_ns(clock)
        else:
            _yield_core()
            left -= 1


@jit.function
def _now_ns(clock: NDArray[np.int64]) -> Any:
    """Time of a monotonic clock [ns]; 0 on Windows, where only turns limit the loop.

    Args:
        clock: Scratch, int64 (2,).
    """
    if _HAS_CLOCK:
        _read_clock(_CLOCK, clock.ctypes.data)
    return clock[0] * 1_000_000_000 + clock[1]


@jit.function
def _number_after(address: int, before: int) -> Any:
    """The integer at an address once it differs from `before`, or `before` again after `_PAUSES` polls."""
    number, looks = _number_at(address), 0
    while number == before and looks < _PAUSES:
        _pause()
        number = _number_at(address)
        looks += 1
    return number


@jit.function
def _post_job(slots: int, others: int, job: int) -> None:
    """Post a job in the slots that are empty."""
    for i in range(others):
        _swap_at(slots + SLOT_BYTES * i, 0, job)


@jit.function
def _retract_job(slots: int, others: int, job: int) -> None:
    """Remove a job from the slots, and wait for the threads that still work on it."""
    for i in range(others):
        slot = slots + SLOT_BYTES * i
        if _swap_at(slot, job, 0) == job + 1:
            while _number_after(slot, job + 1) == job + 1:
                _yield_core()


@jit.function
def _begin(job: int, first: int, step: int, count: int) -> None:
    """Set first, step and count of a job, and post it to other threads if step is negative."""
    dealt = step > 0
    _put_at(job + _FIRST, first if dealt else job + _COUNTERS)
    _put_at(job + _STEP, step)
    _put_at(job + _COUNT, count)
    for number in range(3):
        _put_at(job + _COUNTERS + 8 * number, 0)
    _post_job(first, 0 if dealt else -step, job)


@jit.function
def _end(job: int, first: int, step: int) -> None:
    """Do the remaining blocks and wait for the helpers; a second call has no effect."""
    _work_on(job, _SHARES)
    _retract_job(first, 0 if step > 0 else -step, job)
    _put_at(job + _COUNT, 0)


@jit.function
def _do(job: int, first: int, step: int, count: int) -> None:
    """Do a job, with helpers if step is negative."""
    _begin(job, first, step, count)
    _end(job, first, step)


@jit.kernel
def _do_prepared(job: int, first: int, step: int, count: int) -> None:
    """The same for a job that is already in memory."""
    _do(job, first, step, count)


@jit.kernel
def begin(job: int, first: int, step: int, count: int) -> None:
    """Post the job of a prepared kernel, given by its address; `end` must be called afterwards."""
    _begin(job, first, step, count)


@jit.kernel
def end(job: int, first: int, step: int) -> None:
    """Do the remaining blocks and wait for the helpers; first and step are those passed to `begin`."""
    _end(job, first, step)


class Prepared:
    """A shared kernel whose arguments are unpacked from Python objects once, at construction.

    Dispatch on the types of seventy arrays and their unpacking take 40 us a call, as long as a small image. Values that
    change from call to call must be in the arrays. `threads.prepared` makes one; it cannot be copied, since a copy
    would work on the same arrays.
    """

    def __init__(self, kernel: Callable[..., None], *arguments: Any) -> None:
        self._kernel, self._arguments = kernel, arguments  # keeps their code and memory alive
        size = _USUAL_JOB_BYTES
        while True:
            self._job = np.zeros(size // 8, np.int64)
            self._job[_FIRST // 8] = size
            self.address = int(self._job.ctypes.data)
            """Address of its job, for `begin` and `end`."""
            kernel(self.address, _PREPARES, 0, *arguments)
            if self._job[_FIRST // 8] <= size:
                break
            size = int(self._job[_FIRST // 8])

        # Until it is called the job has no blocks. These calls also compile `begin` and `end`.
        begin(self.address, 0, 1, 0)
        end(self.address, 0, 1)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a prepared kernel knows where its arrays are; it cannot be copied or pickled")

    def __call__(self, first: int, step: int, count: int) -> None:
        """Call the kernel; not from two threads at once."""
        _do_prepared(self.address, first, step, count)


def shared(worker: Callable[..., None]) -> Callable[..., None]:
    """A compiled function of (first, step, count, other arguments) that a kernel calls to share its blocks.

    Args:
        worker: Function of `jit.function` of (first, step, count, *arguments) that gets its blocks from `next_block`,
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
            unowned = without_owner(context, builder, arguments, given)  # the caller owns them until this returns
            _build_sharing(context, builder, functions, which, unowned)
            return context.get_dummy_value()

        return types.none(*numbers, arguments), build

    return share


def _build_sharing(context: Any, builder: Any, functions: list[Any], which: list[Any], arguments: Any) -> None:
    """Emit the instructions of `shared`, given the worker and `_do`, for first, step and count."""
    (work, do), (first, step, count) = functions, which

    # A job: its function, first, step, count, three counters, the arguments
    job_type = ir.LiteralStructType([_NOTHING, *[_NUMBER] * 3, ir.ArrayType(_NUMBER, 3), arguments.type])

    def part(builder: Any, job: Any, number: int) -> Any:
        return cgutils.gep_inbounds(builder, job, 0, number)

    # The function has Numba's calling convention: pointers to the result and to the error come first. Only this
    # function calls the worker, so the worker is compiled once.
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

    # A prepared job is written to the caller's buffer if it fits; any other goes on the stack and is done now
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
    """Type of a job's function: Numba's pointers to result and error, the job, the role of the thread."""
    outer = builder.function
    return ir.FunctionType(outer.function_type.return_type, [_NOTHING, outer.args[1].type, _NOTHING, _NUMBER])


@intrinsic
def _work_on(typing_context: Any, job: Any, who: Any) -> Any:
    """Do blocks of the job at an address, as the caller or as a helper."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = _form_of_jobs(builder)
        place = builder.inttoptr(values[0], kind.as_pointer().as_pointer())
        error = cgutils.alloca_once(builder, kind.args[1].pointee)
        builder.call(builder.load(place), [_NOTHING(None), error, builder.inttoptr(values[0], _NOTHING), values[1]])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), build


@intrinsic
def _pause(typing_context: Any) -> Any:
    """Pause for some tens of cycles, if the processor has an instruction for it."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if _PAUSE is not None:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, _PAUSE), [])
        return context.get_dummy_value()

    return types.none(), build


@intrinsic
def _add_at(typing_context: Any, address: Any, amount: Any) -> Any:
    """Atomically add to the integer at an address; returns the value before."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.atomic_rmw("add", builder.inttoptr(values[0], _NUMBER.as_pointer()), values[1], "seq_cst")

    return types.int64(types.int64, types.int64), build


@intrinsic
def _swap_at(typing_context: Any, address: Any, expected: Any, new: Any) -> Any:
    """Atomic compare-and-swap of the integer at an address; returns the value before."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = builder.inttoptr(values[0], _NUMBER.as_pointer())
        return builder.extract_value(builder.cmpxchg(place, values[1], values[2], "seq_cst"), 0)

    return types.int64(types.int64, types.int64, types.int64), build


@intrinsic
def _put_at(typing_context: Any, address: Any, number: Any) -> Any:
    """Store an integer at an address; other threads see it after the next atomic operation."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.store(values[1], builder.inttoptr(values[0], _NUMBER.as_pointer()))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), build


@intrinsic
def _number_at(typing_context: Any, address: Any) -> Any:
    """Atomic load of the integer at an address."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(values[0], _NUMBER.as_pointer()), "seq_cst", 8)

    return types.int64(types.int64), build
