"""Worker threads: runs kernels over blocks of work on persistent threads. No other module starts threads for kernels.

A kernel has the form `kernel(first, step, count, *arguments)` and works on the blocks first, first + step, ... below
count. It releases the GIL, so plain Python threads run it in parallel. Blocks are fixed by their index, so results are
the same bytes on any number of threads. Safe from several Python threads at once; a forked child starts its own.

Waking a thread and handing it the GIL takes as long as a small image. Threads therefore keep polling the job slots of
`blocks` for a moment after their work, where `shared` kernels post jobs without wake-up or GIL.

A process is forked only while no kernel and no build runs. A fork copies locks in their present state, so that a child
would wait for ever for a thread that it does not have: one of these, or one of Embree's own if SENSORIUM_EMBREE_CONFIG
asks for some.
"""

import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.runtime import blocks

T = TypeVar("T")

THREADS_VARIABLE = "SENSORIUM_THREADS"

# Waking a thread costs about 20 us: below this many blocks the caller does the work alone.
_SERIAL_BLOCKS = 4

# Embree's threads poll for work for some tenths of a millisecond after a build before they sleep
_PARKED_AFTER_S = 0.005

# An idle worker parks after this many yields or this long [ns]; one world's step shares two kernels within that time
_AWAKE_TURNS, _AWAKE_NS = 1000, 500_000

# A caller may post a job just after a worker has stopped polling: the worker polls once more before it parks, for as
# long as the start of a kernel with many arguments takes [ns]
_LAST_LOOK_NS = 100_000

# Threads beyond this number have no job slot
_MOST_SLOTS = 256

# Interval at which a fork polls for the end of active kernels [s]
_LOOK_AGAIN_AFTER_S = 0.0005

_slots = np.zeros((_MOST_SLOTS, blocks.SLOT_BYTES // 8), np.int64)
_SLOTS_ADDRESS = int(_slots.ctypes.data)
_WAKE_FLAG = 1  # its column, after that of the job


class _Job:
    """A kernel that several threads work on."""

    def __init__(self, kernel: Callable[..., None]) -> None:
        self._kernel = kernel
        self._ends: list[BaseException | None] = []
        self._change: queue.SimpleQueue[None] = queue.SimpleQueue()

    def work(self, arguments: tuple[Any, ...]) -> None:
        """Do one share; an error is kept for `raise_error`."""
        end: BaseException | None = None
        try:
            self._kernel(*arguments)
        except BaseException as error:
            end = error
        self._ends.append(end)
        self._change.put(None)

    def wait(self, shares: int) -> None:
        """Wait until this many shares are done; exceptions of signals, such as Ctrl-C, are raised after that."""
        raised: BaseException | None = None
        while True:
            try:
                while len(self._ends) < shares:
                    self._change.get()
                break
            except BaseException as error:
                raised = error
        if raised is not None:
            raise raised

    def raise_error(self) -> None:
        """Raise the first error of a share, if there was one."""
        for error in self._ends:
            if error is not None:
                raise error


_Share = tuple[_Job, tuple[Any, ...]]

# Workers that block on their inboxes instead of polling their job slots
_parked_workers: set[int] = set()

_lock = threading.Lock()
_inboxes: "list[queue.SimpleQueue[_Share | None]]" = []
_count: int | None = None

# One entry for each active kernel and build, and whether a fork is pending or in progress. A lock would cost as much as
# a small kernel. None is needed: a kernel adds its entry before it reads the flag, and a fork sets the flag before it
# reads the entries, so that one always sees the other.
_active_kernels: list[None] = []
_forking = False
_fork_over = threading.Event()
_one_fork_at_a_time = threading.Lock()


class _ForkGuard:
    """Context manager that delays a fork until its end; entering waits while a fork is in progress."""

    def __enter__(self) -> None:
        _active_kernels.append(None)
        if _forking:
            _wait_for_fork()

    def __exit__(self, *error: object) -> None:
        _active_kernels.pop()


fork_guard = _ForkGuard()
"""Must be held while an Embree scene is built; `run` does so."""


def get_threads() -> int:
    """Number of threads: the value set, else SENSORIUM_THREADS, else the cores this process may run on."""
    global _count
    if _count is None:
        given = os.environ.get(THREADS_VARIABLE)
        _count = _checked(given, THREADS_VARIABLE) if given else cores()
    return _count


def set_threads(count: int) -> None:
    """Use this many threads from now on; results do not change, only the time they take."""
    global _count
    _count = _checked(count, "thread count")


def run(kernel: Callable[..., None], count: int, *arguments: Any, serial_below: int = _SERIAL_BLOCKS) -> None:
    """Run a kernel over `count` blocks and return when all are done.

    Args:
        kernel: Compiled function of (first, step, count, *arguments) that releases the GIL.
        count: Number of blocks.
        *arguments: Passed on unchanged.
        serial_below: With fewer blocks than this the calling thread does all of them.
    """
    # `fork_guard` inlined: for the small kernels of a step every call counts
    try:
        _active_kernels.append(None)
        if _forking:
            _wait_for_fork()
        if count < serial_below or (threads := min(get_threads(), count)) <= 1:
            kernel(0, 1, count, *arguments)
        else:
            _run_on_all(kernel, count, threads, arguments)
    finally:
        _active_kernels.pop()


def share(kernel: Callable[..., None], count: int, *arguments: Any) -> None:
    """Run a kernel that is `blocks.shared`: threads claim blocks, and the caller does not wait for a late one."""
    try:
        _active_kernels.append(None)
        if _forking:
            _wait_for_fork()
        kernel(*_wake_helpers(count), count, *arguments)
    finally:
        _active_kernels.pop()


def share_while(kernel: blocks.Prepared, count: int, meanwhile: Callable[[], T]) -> T:
    """Run a prepared kernel on other threads while this thread calls `meanwhile`, then help to finish it.

    Args:
        kernel: The kernel; all its blocks are done when this returns or raises.
        count: Number of blocks.
        meanwhile: Called after the job is posted.

    Returns:
        The result of `meanwhile`.
    """
    # A signal handler may raise after any call and at the start of any Python function. So `begin` is called inside
    # `try`, and `end` is compiled code called directly from `finally`.
    try:
        _active_kernels.append(None)
        if _forking:
            _wait_for_fork()
        first, step = _wake_helpers(count)
        job = kernel.address
        try:
            blocks.begin(job, first, step, count)
            return meanwhile()
        finally:
            blocks.end(job, first, step)
    finally:
        _active_kernels.pop()


def _wake_helpers(count: int) -> tuple[int, int]:
    """Wake the parked workers that are needed; returns first and step of a shared kernel."""
    # Compared by hand: every call counts in a small step
    others = (_count or get_threads()) - 1
    if others >= count:
        others = count - 1
    if others > _MOST_SLOTS:
        others = _MOST_SLOTS
    if others <= 0 or not blocks.CAN_SHARE:
        return 0, 1
    inboxes = _inboxes if len(_inboxes) >= others else _started(others)
    if _parked_workers:
        _wake(inboxes, others)
    return _SLOTS_ADDRESS, -others


def prepared(kernel: Callable[..., None], *arguments: Any) -> blocks.Prepared:
    """A `blocks.shared` kernel with its arguments unpacked once, for repeated calls; no fork while it is compiled."""
    with fork_guard:
        return blocks.Prepared(kernel, *arguments)


def _wake(inboxes: "list[queue.SimpleQueue[_Share | None]]", others: int) -> None:
    """Wake the parked ones among the first `others` workers."""
    for number in tuple(_parked_workers):
        if number < others:
            _parked_workers.discard(number)
            inboxes[number].put(None)


def _run_on_all(kernel: Callable[..., None], count: int, threads: int, arguments: tuple[Any, ...]) -> None:
    """Run a kernel on the calling thread and on others."""
    # Give every other thread its share, do the first share here, then wait for all: the arrays must outlive their use.
    # Ctrl-C may come between any two instructions, so one instruction hands out all shares.
    job = _Job(kernel)
    shares = [(job, (first, threads, count, *arguments)) for first in range(1, threads)]
    handed: list[None] = []
    try:
        handed.extend(map(queue.SimpleQueue.put, _started(threads - 1), shares))
        _slots[: threads - 1, _WAKE_FLAG] = 1
        kernel(0, threads, count, *arguments)
    finally:
        job.wait(len(handed))
    job.raise_error()


def _started(count: int) -> "list[queue.SimpleQueue[_Share | None]]":
    """The inboxes of the persistent threads; starts as many as are missing."""
    with _lock:
        if not _inboxes and blocks.CAN_SHARE:
            blocks.worker_loop(_SLOTS_ADDRESS, 0, 0)  # compiled here, under the lock and the fork guard
        while len(_inboxes) < count:
            inbox: queue.SimpleQueue[_Share | None] = queue.SimpleQueue()
            name, number = f"sensorium-{len(_inboxes) + 1}", len(_inboxes)
            threading.Thread(target=_run_worker, args=(inbox, number), name=name, daemon=True).start()
            _inboxes.append(inbox)
        return _inboxes


def _run_worker(inbox: "queue.SimpleQueue[_Share | None]", number: int) -> None:
    """Body of a worker thread: poll the job slot, and block on the inbox when no job came for a while."""
    if number < _MOST_SLOTS and blocks.CAN_SHARE:
        slot = _slots[number]
        address = int(slot.ctypes.data)
    else:
        slot, address = np.zeros(_slots.shape[1], np.int64), 0
    waits = True
    while True:
        # The wake flag is set after a share is put into the inbox. Such shares are rare: after one the worker blocks.
        slot[_WAKE_FLAG] = 0
        if address and waits and inbox.empty():
            blocks.worker_loop(address, _AWAKE_TURNS, _AWAKE_NS)
        _parked_workers.add(number)
        if address and waits and inbox.empty():
            blocks.worker_loop(address, _AWAKE_TURNS, _LAST_LOOK_NS)
        share = inbox.get()
        _parked_workers.discard(number)
        waits = share is None
        if share is not None:  # None only wakes the worker
            job, arguments = share
            job.work(arguments)
            del job, arguments, share  # an idle thread keeps no arrays alive


def cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _checked(value: str | int, name: str) -> int:
    try:
        count = int(value)
    except ValueError:
        count = 0
    if count < 1:
        raise SpecError(f"{name} is {value!r}; it must be a whole number of at least 1")
    return count


def _wait_for_fork() -> None:
    """Wait for a pending fork; called before a kernel or a build, with its entry added."""
    while _forking:
        _active_kernels.pop()
        _fork_over.wait()
        _active_kernels.append(None)


def _wait_until_quiet() -> None:
    """Before a fork: hold new kernels back, wait for the active ones and until Embree's threads sleep."""
    global _forking
    _one_fork_at_a_time.acquire()
    _fork_over.clear()
    _forking = True
    while _active_kernels:
        time.sleep(_LOOK_AGAIN_AFTER_S)
    time.sleep(_PARKED_AFTER_S)


def _go_on_in_parent() -> None:
    global _forking
    _forking = False
    _fork_over.set()
    _one_fork_at_a_time.release()


def _forget_threads_in_child() -> None:
    """Reset the state in a forked child, which has only the forking thread; workers start when needed."""
    global _lock, _fork_over, _one_fork_at_a_time, _forking
    _lock, _fork_over, _one_fork_at_a_time, _forking = threading.Lock(), threading.Event(), threading.Lock(), False
    _inboxes.clear()
    _parked_workers.clear()
    _slots[:] = 0
    _active_kernels.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_wait_until_quiet, after_in_parent=_go_on_in_parent, after_in_child=_forget_threads_in_child
    )
