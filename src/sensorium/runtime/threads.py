"""The one file that owns threads: kernels over blocks of work on persistent threads.

A kernel has the form `kernel(first, step, count, *arguments)` and works on the blocks first, first + step, ... below
count. It releases the GIL, so plain Python threads run it in parallel. Blocks are fixed by their index, so results are
the same bytes on any number of threads. Safe from several Python threads at once; a forked child starts its own.

To wake a thread, to hand it the GIL and to hear from it takes as long as a small image does. So threads stay awake for
a moment after their work, at desks of `blocks`, where kernels that are `shared` find them without either.

A process is forked only while nothing runs. Locks of a build under way would be copied as they are, and a child would
wait for ever for a thread that it does not have: one of these, or of Embree's own where SENSORIUM_EMBREE_CONFIG asks
for some.
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

# After a build Embree's threads look for more work for some tenths of a millisecond, and then go to sleep
_ASLEEP_AFTER_S = 0.005

# How often a thread that has nothing to do gives way to others before it goes to sleep, and how long that may take
# [ns]. The step of one world has two kernels to share in that time.
_AWAKE_TURNS, _AWAKE_NS = 1000, 500_000

# Who shares a kernel just when a thread leaves its desk took it for awake, and lays the work there a moment later: one
# more look, for as long as it takes to begin a kernel of many arguments [ns]
_LAST_LOOK_NS = 100_000

# More threads than this have no desk
_DESKS = 256

# How often a fork looks whether what runs has ended
_LOOK_AGAIN_AFTER_S = 0.0005

_desks = np.zeros((_DESKS, blocks.DESK_BYTES // 8), np.int64)
_DESKS_ADDRESS = int(_desks.ctypes.data)
_BELL = 1  # the column after that of the job


class _Job:
    """A kernel that several threads work on."""

    def __init__(self, kernel: Callable[..., None]) -> None:
        self._kernel = kernel
        self._ends: list[BaseException | None] = []
        self._change: queue.SimpleQueue[None] = queue.SimpleQueue()

    def work(self, arguments: tuple[Any, ...]) -> None:
        """Do one share; an error is for the caller, who raises it."""
        end: BaseException | None = None
        try:
            self._kernel(*arguments)
        except BaseException as error:
            end = error
        self._ends.append(end)
        self._change.put(None)

    def wait(self, shares: int) -> None:
        """Wait until so many shares are done; Ctrl-C, and whatever else a signal raises, takes effect after that."""
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
        """Raise what went wrong in a share, if anything did."""
        for error in self._ends:
            if error is not None:
                raise error


_Share = tuple[_Job, tuple[Any, ...]]

# Threads that sleep at their inboxes instead of sitting at their desks
_asleep: set[int] = set()

_lock = threading.Lock()
_inboxes: "list[queue.SimpleQueue[_Share | None]]" = []
_count: int | None = None

# One entry for each kernel and build under way, and whether a fork waits for them or is being done. No lock guards the
# two, since it would take as long as a small kernel: who begins adds his entry before he looks at the flag, and who
# forks raises the flag before he looks for entries, so that one always sees the other.
_under_way: list[None] = []
_forking = False
_fork_over = threading.Event()
_one_fork_at_a_time = threading.Lock()


class _Working:
    """Keeps the process from being forked inside; its beginning waits while it is."""

    def __enter__(self) -> None:
        _under_way.append(None)
        if _forking:
            _wait_for_fork()

    def __exit__(self, *error: object) -> None:
        _under_way.pop()


working = _Working()
"""To be entered by whatever may build a scene of Embree's; `run` does."""


def get_threads() -> int:
    """Threads in use: as set, else SENSORIUM_THREADS, else the cores this process may run on."""
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
    # What `working` does, in place: the small kernels of a step feel every call
    try:
        _under_way.append(None)
        if _forking:
            _wait_for_fork()
        if count < serial_below or (threads := min(get_threads(), count)) <= 1:
            kernel(0, 1, count, *arguments)
        else:
            _run_on_all(kernel, count, threads, arguments)
    finally:
        _under_way.pop()


def share(kernel: Callable[..., None], count: int, *arguments: Any) -> None:
    """The same for a kernel that is `blocks.shared`: threads claim blocks, and none waits for one that comes late."""
    try:
        _under_way.append(None)
        if _forking:
            _wait_for_fork()
        kernel(*_who_shares(count), count, *arguments)
    finally:
        _under_way.pop()


def share_while(kernel: blocks.Prepared, count: int, meanwhile: Callable[[], T]) -> T:
    """The same for a prepared kernel, of which others do the first blocks while this thread does something else.

    Args:
        kernel: What is shared; all is done when this returns or raises.
        count: Number of blocks.
        meanwhile: Called once others may have begun.

    Returns:
        What `meanwhile` gives.
    """
    # Handlers of signals may raise wherever Python goes on after a call, and where a function of Python's begins. So
    # what begins stands inside `try`, and what ends is compiled code, called directly: nothing comes between.
    try:
        _under_way.append(None)
        if _forking:
            _wait_for_fork()
        first, step = _who_shares(count)
        job = kernel.address
        try:
            blocks.begin(job, first, step, count)
            return meanwhile()
        finally:
            blocks.end(job, first, step)
    finally:
        _under_way.pop()


def _who_shares(count: int) -> tuple[int, int]:
    """First and step of a kernel that is shared, after waking those who sleep."""
    # Compared by hand: small steps feel every call
    others = (_count or get_threads()) - 1
    if others >= count:
        others = count - 1
    if others > _DESKS:
        others = _DESKS
    if others <= 0 or not blocks.CAN_SHARE:
        return 0, 1
    inboxes = _inboxes if len(_inboxes) >= others else _started(others)
    if _asleep:
        _wake(inboxes, others)
    return _DESKS_ADDRESS, -others


def prepared(kernel: Callable[..., None], *arguments: Any) -> blocks.Prepared:
    """A kernel that is `blocks.shared` with its arguments, to be shared many times; no fork while it is compiled."""
    with working:
        return blocks.Prepared(kernel, *arguments)


def _wake(inboxes: "list[queue.SimpleQueue[_Share | None]]", others: int) -> None:
    """Let the first threads go to their desks, those that sleep."""
    for number in tuple(_asleep):
        if number < others:
            _asleep.discard(number)
            inboxes[number].put(None)


def _run_on_all(kernel: Callable[..., None], count: int, threads: int, arguments: tuple[Any, ...]) -> None:
    """Run a kernel on the calling thread and on others."""
    # Hand every other thread its share, do the first one here, then wait for all: what they work on must outlive their
    # use. Ctrl-C may come between any two instructions, so all shares are handed out by one.
    job = _Job(kernel)
    shares = [(job, (first, threads, count, *arguments)) for first in range(1, threads)]
    handed: list[None] = []
    try:
        handed.extend(map(queue.SimpleQueue.put, _started(threads - 1), shares))
        _desks[: threads - 1, _BELL] = 1
        kernel(0, threads, count, *arguments)
    finally:
        job.wait(len(handed))
    job.raise_error()


def _started(count: int) -> "list[queue.SimpleQueue[_Share | None]]":
    """The inboxes of the persistent threads; starts as many as are missing."""
    with _lock:
        if not _inboxes and blocks.CAN_SHARE:
            blocks.serve(_DESKS_ADDRESS, 0, 0)  # compiled here, by who may fork, and by nobody else meanwhile
        while len(_inboxes) < count:
            inbox: queue.SimpleQueue[_Share | None] = queue.SimpleQueue()
            name, number = f"sensorium-{len(_inboxes) + 1}", len(_inboxes)
            threading.Thread(target=_serve, args=(inbox, number), name=name, daemon=True).start()
            _inboxes.append(inbox)
        return _inboxes


def _serve(inbox: "queue.SimpleQueue[_Share | None]", number: int) -> None:
    """What a thread does all its life: sits at its desk, and when nothing comes for a while sleeps at its inbox."""
    if number < _DESKS and blocks.CAN_SHARE:
        desk = _desks[number]
        address = int(desk.ctypes.data)
    else:
        desk, address = np.zeros(_desks.shape[1], np.int64), 0
    waits = True
    while True:
        # Who puts a share into the inbox rings after that. Shares of the inbox come far apart: after one it sleeps.
        desk[_BELL] = 0
        if address and waits and inbox.empty():
            blocks.serve(address, _AWAKE_TURNS, _AWAKE_NS)
        _asleep.add(number)
        if address and waits and inbox.empty():
            blocks.serve(address, _AWAKE_TURNS, _LAST_LOOK_NS)
        share = inbox.get()
        _asleep.discard(number)
        waits = share is None
        if share is not None:  # else only woken
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
    """Before a kernel or a build, its entry being made: let the fork be done first."""
    while _forking:
        _under_way.pop()
        _fork_over.wait()
        _under_way.append(None)


def _wait_until_quiet() -> None:
    """Before a fork: let what runs end, nothing new begin, and Embree's threads go to sleep."""
    global _forking
    _one_fork_at_a_time.acquire()
    _fork_over.clear()
    _forking = True
    while _under_way:
        time.sleep(_LOOK_AGAIN_AFTER_S)
    time.sleep(_ASLEEP_AFTER_S)


def _go_on_in_parent() -> None:
    global _forking
    _forking = False
    _fork_over.set()
    _one_fork_at_a_time.release()


def _forget_threads_in_child() -> None:
    """A forked child has no threads but the one that forked: start anew when needed."""
    global _lock, _fork_over, _one_fork_at_a_time, _forking
    _lock, _fork_over, _one_fork_at_a_time, _forking = threading.Lock(), threading.Event(), threading.Lock(), False
    _inboxes.clear()
    _asleep.clear()
    _desks[:] = 0
    _under_way.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_wait_until_quiet, after_in_parent=_go_on_in_parent, after_in_child=_forget_threads_in_child
    )
