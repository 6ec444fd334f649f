"""Fair comparison of speeds: subject and baseline in turn, many times, within one run."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from types import ModuleType
from typing import Any, NamedTuple

from sensorium.runtime import worker_pool


def ratio(subject: Callable[[], object], baseline: Callable[[], object], *, rounds: int = 15) -> float:
    """Speed of the subject over that of the baseline: the median over rounds of time(baseline) / time(subject).

    Each round times both, one right after the other, so that other load of the machine affects both equally.
    """
    subject(), baseline()
    pairs = [(seconds(baseline), seconds(subject)) for _ in range(rounds)]
    return median(b / s for b, s in pairs)


def two_threads_ratio(call: Callable[[], object], *, rounds: int = 15) -> float:
    """Speed of a call on two threads over that on one, compared as by `ratio`."""

    def on(count: int) -> None:
        with thread_count(count):
            call()

    return ratio(lambda: on(2), lambda: on(1), rounds=rounds)


def cpu_ratio(subject: Callable[[], object], baseline: Callable[[], object], *, rounds: int = 15) -> float:
    """The same in CPU time of one thread: the work itself, independent of other load."""
    with thread_count(1):
        subject(), baseline()
        pairs = [(cpu_seconds(baseline), cpu_seconds(subject)) for _ in range(rounds)]
    return median(b for b, _ in pairs) / median(s for _, s in pairs)


def cpu_seconds(call: Callable[[], object]) -> float:
    """CPU time of one call on the calling thread [s]."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def seconds(call: Callable[[], object]) -> float:
    """Wall-clock time of one call [s]."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def best(call: Callable[[], object], *, rounds: int = 7) -> float:
    """Least wall-clock time of several calls [s]."""
    return min(seconds(call) for _ in range(rounds))


class Spread(NamedTuple):
    """Several measurements of one quantity: a busy machine shifts the median, hardly the best."""

    best: float
    median: float

    def each(self, count: int) -> "Spread":
        """Seconds for one of several items that were timed together."""
        return Spread(self.best / count, self.median / count)

    def rate(self, count: int) -> "Spread":
        """Items per second."""
        return Spread(count / self.best, count / self.median)


def spread(call: Callable[[], object], *, rounds: int = 7) -> Spread:
    """Wall-clock times of several calls [s], after one that is not timed."""
    call()
    times = [seconds(call) for _ in range(rounds)]
    return Spread(min(times), median(times))


class Clocked:
    """A function that adds up the time spent in it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.seconds = 0.0
        self._last: tuple[Any, ...] = ()

    def again(self) -> None:
        """Call it once more with its last arguments; the time is not added."""
        self._function(*self._last)

    def __call__(self, *arguments: Any) -> Any:
        """Call it."""
        self._last = arguments
        start = time.perf_counter()
        result = self._function(*arguments)
        self.seconds += time.perf_counter() - start
        return result


@contextmanager
def clocked(module: ModuleType, name: str) -> Iterator[Clocked]:
    """Add up the time spent in a module's function inside."""
    function = getattr(module, name)
    clock = Clocked(function)
    setattr(module, name, clock)
    try:
        yield clock
    finally:
        setattr(module, name, function)


@contextmanager
def thread_count(count: int) -> Iterator[None]:
    """Context manager: use this many threads."""
    before = worker_pool.get_threads()
    worker_pool.set_threads(count)
    try:
        yield
    finally:
        worker_pool.set_threads(before)
