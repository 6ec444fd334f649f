"""The one file that owns threads: kernels over blocks of work on persistent threads.

A kernel has the form `kernel(first, step, count, *arguments)` and works on the blocks first, first + step, ... below
count. It releases the GIL, so plain Python threads run it in parallel. Blocks are fixed by their index, so results are
the same bytes on any number of threads. Safe from several Python threads at once; a forked child starts its own.

To wake a thread, to hand it the GIL and to hear from it takes as long as a small image does. So threads stay awake for
a moment after their work, at desks of `blocks`, where kernels that are `shared` find them without either.

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
# step of one world has two kernels to share in that time.
_AWAKE_TURNS = 2000

# More threads than this have no desk
_DESKS = 256

_Job = tuple[Callable[..., None], tuple[Any, ...], "queue.SimpleQueue[BaseException | None]"]

_desks = np.zeros((_DESKS, blocks.DESK_BYTES // 8), np.int64)
_JOB, _BELL, _ASLEEP = 0, 1, 2  # columns; the last is for Python alone

_lock = threading.Lock()
_inboxes: "list[queue.SimpleQueue[_Job | None]]" = []
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
    """The same for a kernel that is `blocks.shared`: threads claim blocks, and none waits for one that comes late."""
    with working:
        others = min(thread_count(), count, _DESKS + 1) - 1 if blocks.CAN_SHARE else 0
        if others <= 0:
            kernel(0, 1, count, *arguments)
            return
        inboxes = _started(others)
        for i in np.flatnonzero(_desks[:others, _ASLEEP]).tolist():
            _desks[i, _ASLEEP] = 0
            inboxes[i].put(None)
        kernel(_desks.ctypes.data, -others, count, *arguments)


def _run_on_all(kernel: Callable[..., None], count: int, threads: int, arguments: tuple[Any, ...]) -> None:
    """Run a kernel on the calling thread and on others."""
    # Hand every other thread its share, do the first one here, then wait for all: arrays must outlive the workers' use
    done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    inboxes = _started(threads - 1)
    for first in range(1, threads):
        inboxes[first - 1].put((kernel, (first, threads, count, *arguments), done))
        if first <= _DESKS:
            _desks[first - 1, _BELL] = 1
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


def _started(count: int) -> "list[queue.SimpleQueue[_Job | None]]":
    """The inboxes of the persistent threads; starts as many as are missing."""
    with _lock:
        if not _inboxes and blocks.CAN_SHARE:
            blocks.serve(_desks.ctypes.data, 0)  # compiled here, by who may fork, and by nobody else meanwhile
        while len(_inboxes) < count:
            inbox: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
            name, number = f"sensorium-{len(_inboxes) + 1}", len(_inboxes)
            threading.Thread(target=_serve, args=(inbox, number), name=name, daemon=True).start()
            _inboxes.append(inbox)
        return _inboxes


def _serve(inbox: "queue.SimpleQueue[_Job | None]", number: int) -> None:
    """What a thread does all its life: sits at its desk, and when nothing comes for a while sleeps at its inbox."""
    if number < _DESKS and blocks.CAN_SHARE:
        desk = _desks[number]
        address = int(desk.ctypes.data)
    else:
        desk, address = np.zeros(_desks.shape[1], np.int64), 0
    while True:
        # Who puts a job into the inbox rings after that
        desk[_BELL] = 0
        if address and inbox.empty():
            blocks.serve(address, _AWAKE_TURNS)
        if not desk[_BELL]:
            desk[_ASLEEP] = 1
        job = inbox.get()
        desk[_ASLEEP] = 0
        if job is None:  # only woken
            continue
        kernel, arguments, done = job
        try:
            kernel(*arguments)
            done.put(None)
        except BaseException as error:  # handed to the caller, who raises it
            done.put(error)
        del kernel, arguments, done, job  # an idle thread keeps no arrays alive


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
    _desks[:] = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_wait_until_quiet, after_in_parent=_go_on_in_parent, after_in_child=_forget_threads_in_child
    )
