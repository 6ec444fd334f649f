"""The one file that owns threads: kernels over blocks of work on persistent threads.

A kernel has the form `kernel(first, step, count, *arguments)` and works on the blocks first, first + step, ... below
count (`run`), or on those it claims by `blocks.next_block` (`share`). It releases the GIL, so plain Python threads run
it in parallel. Blocks are fixed by their index, so results are the same bytes on any number of threads. Safe from
several Python threads at once; a forked child starts its own.

Waking a thread takes longer than a small image does. So threads stay awake for a moment after their work, without the
GIL, and who waits for the last block of another does so likewise.

A process is forked only while nothing runs. Embree builds scenes on threads of its own; their locks would be copied as
they are, and a child would wait for ever for a thread that it does not have.
"""

import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sensorium import blocks
from sensorium.errors import SpecError

THREADS_VARIABLE = "SENSORIUM_THREADS"

# Waking a thread costs about 20 us: below this many blocks the caller does the work alone.
_SERIAL_BLOCKS = 4

# After a build Embree's threads look for more work for some tenths of a millisecond, and then go to sleep
_ASLEEP_AFTER_S = 0.005

# How often a thread that has nothing to do gives way to others before it goes to sleep: about half a millisecond. The
# step of one world has two kernels to run in that time.
_AWAKE_TURNS = 2000

# What to run, with which arguments, whom to tell of the end or of an error, and what must live until then
_Job = tuple[Callable[..., None], tuple[Any, ...], "queue.SimpleQueue[BaseException | None]", object]

# Goes up when a kernel whose blocks are claimed has begun, and so has let go of the GIL
_bell = np.zeros(1, np.int64)

_lock = threading.Lock()
_inboxes: "list[queue.SimpleQueue[_Job]]" = []
_count: int | None = None

# How many kernels and builds are under way, and whether a fork waits for them or is being done
_quiet = threading.Condition()
_working = 0
_forking = False


class _Working:
    """Keeps the process from being forked inside; its beginning waits while it is."""

    def __enter__(self) -> None:
        global _working
        with _quiet:
            while _forking:
                _quiet.wait()
            _working += 1

    def __exit__(self, *error: object) -> None:
        global _working
        with _quiet:
            _working -= 1
            if _forking:
                _quiet.notify_all()


working = _Working()
"""To be entered by whatever may build a scene of Embree's; `run` does."""


def thread_count() -> int:
    """Threads in use: as set, else SENSORIUM_THREADS, else the cores this process may run on."""
    global _count
    if _count is None:
        given = os.environ.get(THREADS_VARIABLE)
        _count = _checked(given, THREADS_VARIABLE) if given else _cores()
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
    with working:
        if count < serial_below or (threads := min(thread_count(), count)) <= 1:
            kernel(0, 1, count, *arguments)
        else:
            _run_on_all(kernel, count, threads, arguments)


def share(kernel: Callable[..., None], count: int, *arguments: Any) -> None:
    """The same where threads claim blocks, so that none has to wait for one that comes late.

    Args:
        kernel: Compiled function of (first, step, count, *arguments) that releases the GIL, asks `blocks.next_block`
            for its blocks, and raises nothing.
        count: Number of blocks.
        *arguments: Passed on unchanged.
    """
    if not blocks.CAN_CLAIM or min(thread_count(), count) <= 1:
        run(kernel, count, *arguments)
        return
    with working:
        counter, told = blocks.Counter(_bell), queue.SimpleQueue[BaseException | None]()
        everything = (counter.address, 0, count, *arguments)
        others = min(thread_count(), count) - 1
        for inbox in _started(others)[:others]:
            inbox.put((kernel, everything, told, counter))
        kernel(*everything)

        # What others claimed they are about to end; one that has not begun yet will find nothing left
        while not counter.is_done(count, _AWAKE_TURNS):
            if not told.empty() and (error := told.get()) is not None:
                raise error


def _run_on_all(kernel: Callable[..., None], count: int, threads: int, arguments: tuple[Any, ...]) -> None:
    """Run a kernel on the calling thread and on others."""
    # Hand every other thread its share, do the first one here, then wait for all: arrays must outlive the workers' use
    done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    inboxes = _started(threads - 1)
    for first in range(1, threads):
        inboxes[first - 1].put((kernel, (first, threads, count, *arguments), done, None))
    if blocks.CAN_CLAIM:
        blocks.ring(_bell)
    errors: list[BaseException] = []
    try:
        kernel(0, threads, count, *arguments)
    finally:
        for _ in range(1, threads):
            error = done.get()
            if error is not None:
                errors.append(error)
    if errors:
        raise errors[0]


def _started(count: int) -> "list[queue.SimpleQueue[_Job]]":
    """The inboxes of the persistent threads; starts as many as are missing."""
    with _lock:
        if not _inboxes and blocks.CAN_CLAIM:
            blocks.ring(_bell), blocks.wait_for(_bell.ctypes.data, 1, 1)  # compiled here, before anyone may fork
        while len(_inboxes) < count:
            inbox: queue.SimpleQueue[_Job] = queue.SimpleQueue()
            name = f"sensorium-{len(_inboxes) + 1}"
            threading.Thread(target=_serve, args=(inbox,), name=name, daemon=True).start()
            _inboxes.append(inbox)
        return _inboxes


def _serve(inbox: "queue.SimpleQueue[_Job]") -> None:
    """What a thread does all its life."""
    bell = int(_bell.ctypes.data) if blocks.CAN_CLAIM else 0
    while True:
        # Who puts something in rings later, so what comes after this look is heard
        rung = int(_bell[0])
        if bell and inbox.empty():
            blocks.wait_for(bell, rung + 1, _AWAKE_TURNS)
        kernel, arguments, done, kept = inbox.get()
        try:
            kernel(*arguments)
            done.put(None)
        except BaseException as error:  # handed to the caller, who raises it
            done.put(error)
        del kernel, arguments, done, kept  # an idle thread keeps no arrays alive


def _cores() -> int:
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


def _wait_until_quiet() -> None:
    """Before a fork: let what runs end, nothing new begin, and Embree's threads go to sleep."""
    global _forking
    with _quiet:
        while _forking:
            _quiet.wait()
        _forking = True
        while _working:
            _quiet.wait()
    time.sleep(_ASLEEP_AFTER_S)


def _go_on_in_parent() -> None:
    global _forking
    with _quiet:
        _forking = False
        _quiet.notify_all()


def _forget_threads_in_child() -> None:
    """A forked child has no threads but the one that forked: start anew when needed."""
    global _lock, _quiet, _forking
    _lock, _quiet, _forking = threading.Lock(), threading.Condition(), False
    _inboxes.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_wait_until_quiet, after_in_parent=_go_on_in_parent, after_in_child=_forget_threads_in_child
    )
