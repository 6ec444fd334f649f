"""The compiled side of the worker pool: jobs in memory, the slots where they are posted, and the loop of a worker.

A kernel that calls a function made by `shared` also accepts a negative step, minus the number of workers, with the
address of their slots as first: it posts its job in the slots, and the workers that poll them claim blocks until none
is left. Workers do not hold the GIL, and the caller does not wait for a worker that comes late.

The caller claims blocks from the front, workers claim from the back. A block therefore mostly goes to the same thread
from call to call, with its output still in that core's cache; a transfer from another core's cache is slow.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.runtime.worker_pool import atomics
from sensorium.runtime.worker_pool.atomics import NUMBER, POINTER

NONE: Any = np.int64(-1)
"""Passed to `next_block` before the first block."""

# A slot is one cache line with two integers: the address of a job (plus one while the slot's worker works on it, 0 if
# empty), and the wake flag
SLOT_BYTES = 64
_WAKE_FLAG = 8

OFFERED, BEGUN, DONE, WITHDRAWN = range(4)
"""States of a share of `pool.run`."""

# Steps that mark the role of a thread that claims blocks
_CALLER, _WORKER = np.int64(0), np.int64(-1)

# The step of a call that only writes the job to the address `first`
_PREPARES = -(2**63)

# Byte offsets in a job, after the address of its function; the arguments come last
_FIRST, _STEP, _COUNT, _COUNTERS = 8, 16, 24, 32


@jit.function
def next_block(first: int, step: int, count: int, last: int) -> int:
    """The block after `last`, which is NONE at the beginning; a result of count or more means no block is left.

    Args:
        first, step, count: As passed to the worker of `shared`. With step 0 (the caller) or -1 (a worker),
            first is the address of three counters: all blocks claimed, claimed from the front, from the back.
        last: The block that was just done.
    """
    if step > 0:
        return first if last < 0 else last + step
    if atomics.add(first, 1) >= count:
        return count
    return atomics.add(first + 8, 1) if step == 0 else count - 1 - atomics.add(first + 16, 1)


@jit.kernel
def worker_loop(slot: int, awake_ns: int) -> None:
    """Help with each job posted in the slot at an address, until the wake flag is set or none came for so long [ns]."""
    clock = jit.zeros(2, np.int64)
    since = atomics.now_ns(clock)
    while atomics.load(slot + _WAKE_FLAG) == 0 and atomics.now_ns(clock) - since < awake_ns:
        job = atomics.load_after(slot, 0)
        if job != 0 and atomics.swap(slot, job, job + 1) == job:
            _work_on(job, _WORKER)
            atomics.swap(slot, job + 1, 0)
            since = atomics.now_ns(clock)
        else:
            atomics.yield_core()


def _begin(job: int, first: int, step: int, count: int) -> None:
    """Set first, step and count of a job, given by its address; if step is negative, post it in the empty slots."""
    atomics.store(job + _FIRST, first if step > 0 else job + _COUNTERS)
    atomics.store(job + _STEP, step)
    atomics.store(job + _COUNT, count)
    for number in range(3):
        atomics.store(job + _COUNTERS + 8 * number, 0)
    for i in range(-step):
        atomics.swap(first + SLOT_BYTES * i, 0, job)


def _end(job: int, first: int, step: int) -> None:
    """Do the remaining blocks, remove the job from the slots and wait for its workers; a second call has no effect."""
    _work_on(job, _CALLER)
    for i in range(-step):
        slot = first + SLOT_BYTES * i
        if atomics.swap(slot, job, 0) == job + 1:
            atomics.wait_while(slot, job + 1)
    atomics.store(job + _COUNT, 0)


def _do(job: int, first: int, step: int, count: int) -> None:
    """Do a job, with workers if step is negative."""
    _begin_inside(job, first, step, count)
    _end_inside(job, first, step)


# For other kernels, and for Python
_begin_inside, _end_inside, _do_inside = jit.function(_begin), jit.function(_end), jit.function(_do)
begin, end, _do_prepared = jit.kernel(_begin), jit.kernel(_end), jit.kernel(_do)


@jit.kernel
def change_share(states: NDArray[np.int64], number: int, before: int, after: int) -> bool:
    """Change the state of a share, unless it is no longer `before`; returns whether it was."""
    return bool(atomics.swap(states.ctypes.data + 8 * number, before, after) == before)


@jit.kernel
def withdraw_shares(states: NDArray[np.int64], waits: bool) -> int:
    """Withdraw the shares that no worker has begun, wait for the others if asked; returns the number withdrawn."""
    withdrawn = 0
    for number in range(len(states)):
        state = states.ctypes.data + 8 * number
        if atomics.swap(state, OFFERED, WITHDRAWN) == OFFERED:
            withdrawn += 1
        elif waits:
            atomics.wait_while(state, BEGUN)
    return withdrawn


class Prepared:
    """A shared kernel whose arguments are unpacked from Python objects once, at construction.

    Dispatch on the types of seventy arrays and their unpacking take 40 us a call, as long as a small image. Values that
    change from call to call must be in the arrays. It cannot be copied, since a copy would work on the same arrays.
    """

    def __init__(self, kernel: Callable[..., None], *arguments: Any) -> None:
        self._kernel, self._arguments = kernel, arguments  # keeps their code and memory alive
        self._job = np.zeros(2, np.int64)
        for _ in range(2):  # where there is no room for the job only its size is written, as its second number
            self._job = np.zeros(int(self._job[1]) // 8 + 2, np.int64)
            self._job[1] = self._job.nbytes
            self.address = int(self._job.ctypes.data)
            kernel(self.address, _PREPARES, 0, *arguments)

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

    The worker, a `jit.function` of (first, step, count, *arguments), gets its blocks from `next_block`; it returns
    nothing and raises nothing.
    """

    @intrinsic
    def share(typing_context: Any, first: Any, step: Any, count: Any, arguments: Any) -> Any:
        numbers = (types.int64,) * 3
        with_arguments: tuple[Any, ...] = numbers + tuple(arguments.types)
        compiled: list[tuple[Any, Any]] = [(worker, with_arguments), (_do_inside, (types.int64, *numbers))]
        called = [
            (function._numba_type_, function._numba_type_.get_call_type(typing_context, given, {}))
            for function, given in compiled
        ]

        def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            functions = [context.get_function(*one) for one in called]
            for function in functions:
                context.add_linking_libs(getattr(function, "libs", ()))
            *which, given = values
            unowned = jit.without_owner(context, builder, arguments, given)  # the caller owns them until this returns
            _build_sharing(context, builder, functions, which, unowned)
            return context.get_dummy_value()

        return types.none(*numbers, arguments), build

    return share


def _build_sharing(context: Any, builder: Any, functions: list[Any], which: list[Any], arguments: Any) -> None:
    """Emit the instructions of `shared`, given the worker and `_do`, for first, step and count."""
    (work, do), (first, step, count) = functions, which

    # A job: its function, first, step, count, three counters, the arguments
    job_type = ir.LiteralStructType([POINTER, *[NUMBER] * 3, ir.ArrayType(NUMBER, 3), arguments.type])

    def part(builder: Any, job: Any, number: int) -> Any:
        return cgutils.gep_inbounds(builder, job, 0, number)

    # The function has Numba's calling convention: pointers to the result and to the error come first. Only this
    # function calls the worker, so the worker is compiled once.
    kind = _type_of_job_function(builder)
    function = ir.Function(builder.module, kind, name=f"{builder.function.name}.job")
    function.linkage = "internal"
    inside = ir.IRBuilder(function.append_basic_block("entry"))
    own = inside.bitcast(function.args[2], job_type.as_pointer())
    job_first, job_step, job_count, given = (inside.load(part(inside, own, number)) for number in (1, 2, 3, 5))
    own_step = inside.select(inside.icmp_signed(">", job_step, NUMBER(0)), job_step, function.args[3])
    work(inside, [job_first, own_step, job_count, *cgutils.unpack_tuple(inside, given)])
    inside.ret(kind.return_type(0))

    def write(job: Any) -> None:
        builder.store(builder.bitcast(function, POINTER), part(builder, job, 0))
        builder.store(arguments, part(builder, job, 5))

    # A prepared job is written to the caller's buffer if it fits; any other goes on the stack and is done now
    own_job, size = cgutils.alloca_once(builder, job_type), NUMBER(context.get_abi_sizeof(job_type))
    with builder.if_else(builder.icmp_signed("==", step, NUMBER(_PREPARES))) as (only_prepared, done):
        with only_prepared:
            job = builder.inttoptr(first, job_type.as_pointer())
            room = builder.load(part(builder, job, 1))
            builder.store(size, part(builder, job, 1))
            with builder.if_then(builder.icmp_signed(">=", room, size)):
                write(job)
        with done:
            write(own_job)
            do(builder, [builder.ptrtoint(own_job, NUMBER), first, step, count])


def _type_of_job_function(builder: Any) -> Any:
    """Type of a job's function: Numba's pointers to result and error, the job, the role of the thread."""
    outer = builder.function
    return ir.FunctionType(outer.function_type.return_type, [POINTER, outer.args[1].type, POINTER, NUMBER])


@intrinsic
def _work_on(typing_context: Any, job: Any, role: Any) -> Any:
    """Do blocks of the job at an address, as the caller or as a worker."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = _type_of_job_function(builder)
        place = builder.inttoptr(values[0], kind.as_pointer().as_pointer())
        error = cgutils.alloca_once(builder, kind.args[1].pointee)
        builder.call(builder.load(place), [POINTER(None), error, builder.inttoptr(values[0], POINTER), values[1]])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), build
