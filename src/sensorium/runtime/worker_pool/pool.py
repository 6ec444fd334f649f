"""The threads of the worker pool, and the functions that run kernels on them.

`run` assigns each thread its blocks in advance and hands these shares to workers through their inboxes. `share` lets
threads claim blocks one at a time, through the slots of `jobs`, which workers poll for a moment after their work: there
a job starts without a wake-up and without the GIL, which take as long as a small image.
"""

import os
import queue
import threading
from collections.abc import Callable
from functools import partial
from threading import get_ident
from typing import Any, TypeVar

import numba
import numpy as np

from sensorium.core.errors import SpecError
from sensorium.runtime.worker_pool import forks, jobs
from sensorium.runtime.worker_pool.jobs import BEGUN, DONE, OFFERED, WITHDRAWN

T = TypeVar("T")

THREADS_VARIABLE = "SENSORIUM_THREADS"

# Waking a thread costs about 20 us: below this many blocks the caller does the work alone
_SERIAL_BLOCKS = 4

# None without compiled code: plain Python has no atomic operations
_MOST_WORKERS = 0 if numba.config.DISABLE_JIT else 1024

# An idle worker polls its slot for so long, in which one world's step shares two kernels, and once more after it has
# entered itself as parked: a caller may post a job just then, after the start of a kernel with many arguments
_AWAKE_NS, _LAST_LOOK_NS = 500_000, 100_000

_count: int | None = None
_slots = np.zeros((_MOST_WORKERS, jobs.SLOT_BYTES // 8), np.int64)
_SLOTS_ADDRESS = int(_slots.ctypes.data)
_WAKE_FLAG = 1  # its column in the slots, after that of the job

# Inboxes of the workers, and the numbers of those that block on theirs or are about to. The lock is reentrant: a signal
# handler may run a kernel while its thread starts workers.
_inboxes: "list[queue.SimpleQueue[tuple[_Shares, int] | None]]" = []
_parked_workers: set[int] = set()
_starting = threading.RLock()

# A method of an imported name is called more slowly
_active_kernels, _pending_forks = forks.active_kernels, forks.pending_forks

# A forked child has only the forking thread: its workers start when needed. C functions: see `forks`.
if hasattr(os, "register_at_fork"):
    for _reset in (_inboxes.clear, _parked_workers.clear, partial(_slots.fill, 0)):
        os.register_at_fork(after_in_child=_reset)


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


def cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def run(kernel: Callable[..., None], count: int, *arguments: Any, serial_below: int = _SERIAL_BLOCKS) -> None:
    """Run a kernel of (first, step, count, *arguments) over `count` blocks and return when all are done.

    If a signal handler raises meanwhile, some blocks may be left out, but none is in work when this raises. With fewer
    blocks than `serial_below` the calling thread does all of them.
    """
    # The entry, here and below, is not a context manager: a signal handler may raise at the start of `__exit__`
    own = get_ident()
    try:
        _active_kernels.append(own)
        if _pending_forks:
            forks.wait_for_forks(own)
        if count < serial_below or (workers := _workers_for(count)) <= 0:
            kernel(0, 1, count, *arguments)
        else:
            _run_shares(kernel, count, workers, arguments)
    finally:
        _active_kernels.remove(own)


def share(kernel: Callable[..., None], count: int, *arguments: Any) -> None:
    """Run a kernel that is `shared`: threads claim blocks, and the caller does not wait for a late one."""
    own = get_ident()
    try:
        _active_kernels.append(own)
        if _pending_forks:
            forks.wait_for_forks(own)
        kernel(*_wake_workers(count), count, *arguments)
    finally:
        _active_kernels.remove(own)


def share_while(kernel: jobs.Prepared, count: int, meanwhile: Callable[[], T]) -> T:
    """Run a prepared kernel on other threads while this one calls `meanwhile`, then help; returns its result.

    All blocks are done when this returns or raises.
    """
    # A signal handler may raise after any call and at the start of any Python function. So `begin` is called inside
    # `try`, and `end` is compiled code called directly from `finally`.
    own = get_ident()
    try:
        _active_kernels.append(own)
        if _pending_forks:
            forks.wait_for_forks(own)
        first, step = _wake_workers(count)
        job = kernel.address
        try:
            jobs.begin(job, first, step, count)
            return meanwhile()
        finally:
            jobs.end(job, first, step)
    finally:
        _active_kernels.remove(own)


def without_fork(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function while no other thread forks: one by which Embree builds or releases scenes."""
    own = get_ident()
    try:
        _active_kernels.append(own)
        if _pending_forks:
            forks.wait_for_forks(own)
        return function(*arguments)
    finally:
        _active_kernels.remove(own)


def _workers_for(count: int) -> int:
    """Number of workers that can help with this many blocks."""
    # Compared by hand: every call counts in a small step
    workers = (_count or get_threads()) - 1
    if workers >= count:
        workers = count - 1
    if workers > _MOST_WORKERS:
        workers = _MOST_WORKERS
    return workers


def _wake_workers(count: int) -> tuple[int, int]:
    """Wake the parked workers that are needed; returns first and step of a shared kernel."""
    workers = _workers_for(count)
    if workers <= 0:
        return 0, 1
    if len(_inboxes) < workers:
        _start_workers(workers)
    if _parked_workers:
        for number in tuple(_parked_workers):
            if number < workers:
                _parked_workers.discard(number)
                _inboxes[number].put(None)
    return _SLOTS_ADDRESS, -workers


class _Shares:
    """The shares of a kernel that are offered to workers; share n is its blocks n + 1, n + 1 + step, ..."""

    def __init__(self, kernel: Callable[..., None], step: int, count: int, arguments: tuple[Any, ...]) -> None:
        self.call = kernel, step, count, arguments
        self.states = np.full(step - 1, OFFERED, np.int64)
        self.errors: list[BaseException] = []
        self.ends: queue.SimpleQueue[None] = queue.SimpleQueue()

    def do(self, number: int) -> None:
        """Do one share."""
        kernel, step, count, arguments = self.call
        kernel(number + 1, step, count, *arguments)

    def work(self, number: int) -> None:
        """Do one share, on a worker, unless it was withdrawn; an error is kept for the caller."""
        if jobs.change_share(self.states, number, OFFERED, BEGUN):
            try:
                self.do(number)
            except BaseException as error:
                self.errors.append(error)
            jobs.change_share(self.states, number, BEGUN, DONE)
            self.ends.put(None)


def _run_shares(kernel: Callable[..., None], count: int, workers: int, arguments: tuple[Any, ...]) -> None:
    """Run a kernel on the calling thread and on workers; the caller does the shares of workers that come late."""
    if len(_inboxes) < workers:
        _start_workers(workers)
    shares = _Shares(kernel, workers + 1, count, arguments)

    # No exception may leave while a worker uses the caller's arrays: compiled code in `finally`, as in `share_while`
    try:
        for number in range(workers):
            _inboxes[number].put((shares, number))
        _slots[:workers, _WAKE_FLAG] = 1
        kernel(0, workers + 1, count, *arguments)
        withdrawn = jobs.withdraw_shares(shares.states, False)
        if withdrawn:
            for number in np.flatnonzero(shares.states == WITHDRAWN).tolist():
                shares.do(number)
            shares.call = (kernel, 1, 0, ())  # an offer that stays in an inbox keeps no arrays alive
        for _ in range(workers - withdrawn):
            shares.ends.get()
    finally:
        jobs.withdraw_shares(shares.states, True)
    for error in shares.errors:
        raise error


def _start_workers(count: int) -> None:
    """Start workers until there are this many."""
    with _starting:
        if not _inboxes:  # compiled before they are needed
            jobs.worker_loop(_SLOTS_ADDRESS, 0)
            jobs.change_share(np.zeros(1, np.int64), 0, OFFERED, DONE)
            jobs.withdraw_shares(np.zeros(0, np.int64), True)
        entered: queue.SimpleQueue[None] = queue.SimpleQueue()
        while len(_inboxes) < count:
            threading.Thread(target=_run_worker, args=(entered,), name="sensorium-worker", daemon=True).start()
            entered.get()


def _run_worker(entered: "queue.SimpleQueue[None]") -> None:
    """Body of a worker: poll the slot, and block on the inbox when no job came for a while."""
    # It enters itself, since a signal handler may raise in the thread that starts it, but not here
    inbox: queue.SimpleQueue[tuple[_Shares, int] | None] = queue.SimpleQueue()
    _inboxes.append(inbox)
    number = _inboxes.index(inbox)
    entered.put(None)
    slot, address = _slots[number], _SLOTS_ADDRESS + jobs.SLOT_BYTES * number
    polls = True
    while True:
        # The wake flag is set after a share is put into the inbox, so that either `empty` or the loop sees the share
        slot[_WAKE_FLAG] = 0
        if polls and inbox.empty():
            jobs.worker_loop(address, _AWAKE_NS)
        _parked_workers.add(number)
        if polls and inbox.empty():
            jobs.worker_loop(address, _LAST_LOOK_NS)
        offer = inbox.get()
        _parked_workers.discard(number)
        polls = offer is None  # None only wakes the worker; shares are rare, and after one it blocks
        if offer is not None:
            shares, share = offer
            shares.work(share)
            del offer, shares  # an idle thread keeps no arrays alive


def _checked(value: str | int, name: str) -> int:
    try:
        count = int(value)
    except ValueError:
        count = 0
    if count < 1:
        raise SpecError(f"{name} is {value!r}; it must be a whole number of at least 1")
    return count
