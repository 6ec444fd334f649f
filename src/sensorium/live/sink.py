"""The protocol of live sinks, and a base for sinks that send from a thread of their own."""

import abc
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any, Protocol

from sensorium.core.errors import SpecError, in_one_line
from sensorium.environment import Environment
from sensorium.live.step import LiveStep
from sensorium.pacing import RunClock

# Time to send what is queued when a sink is closed, and then for its thread to end [s]
_DRAIN_S = 0.5
_JOIN_S = 1.0


@dataclass(frozen=True)
class SinkState:
    """How a sink is doing.

    Attributes:
        name: Name of the sink.
        sent: Number of messages or packets that were handed to the network.
        dropped: Number of those that were not, because the queue was full or because of an error.
        receivers: Number of receivers now; None where the path does not tell.
        error: The last error in one line; None if there was none.
    """

    name: str
    sent: int = 0
    dropped: int = 0
    receivers: int | None = None
    error: str | None = None

    def __str__(self) -> str:
        """One line, for terminals."""
        receivers = "" if self.receivers is None else f", {self.receivers} receiver{'s' * (self.receivers != 1)}"
        error = "" if self.error is None else f" ({self.error})"
        return f"{self.name}: {self.sent:,} sent, {self.dropped:,} dropped{receivers}{error}"


class LiveSink(Protocol):
    """Sends a run's readings to other programs; passed to `env.run(live=[...])`.

    All methods are called on the thread of the run.
    """

    name: str
    """Such as "foxglove"."""

    def open(self, env: Environment, clock: RunClock) -> None:
        """Open sockets; an error names address, port and rule.

        Args:
            env: The environment, before its first step.
            clock: Controls the run from any thread: pause, speed, reset, and `call` for changes to the environment.
        """

    def send(self, step: LiveStep) -> None:
        """Take a step; returns within a few milliseconds whatever the receivers do."""

    def close(self) -> None:
        """End threads and sockets within 2 s, also after an error; a second call does nothing."""

    def state(self) -> SinkState:
        """Counts so far; also after `close`."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to send from the thread of a `QueuedSink`.

    Attributes:
        payload: What `_deliver` is given.
        nbytes: Its size, as far as it is known before it is encoded.
        droppable: Whether it may be dropped when the queue is full; mounts and other latched messages may not.
    """

    payload: Any
    nbytes: int = 0
    droppable: bool = True


class QueuedSink(abc.ABC):
    """A sink with a bounded queue and one daemon thread, which sends.

    `send` never waits: when the queue is full, the oldest droppable items are dropped and counted. A subclass gives
    `_prepare` (on the thread of the run, cheap: references to readings or messages) and `_deliver` (on the thread;
    heavy work there should release the GIL), and `_open` and `_close` for its sockets.
    """

    name = ""

    hint = ""
    """What to open or to start in order to receive it, in one line; `_open` may set it."""

    def __init__(self, *, queue_items: int = 256, queue_bytes: int = 64 << 20) -> None:
        """Make one; nothing is opened yet.

        Args:
            queue_items: Most items in the queue.
            queue_bytes: Most bytes of the items in the queue; one item may be larger.
        """
        for name, value in (("queue_items", queue_items), ("queue_bytes", queue_bytes)):
            if value < 1:
                raise SpecError(f"{name} is {value}; it must be at least 1")
        self._queue_items, self._queue_bytes = queue_items, queue_bytes
        self._queue: deque[Item] = deque()
        self._bytes = 0
        self._changed = Condition()
        self._thread: Thread | None = None
        self._end_by_s: float | None = None  # once closed: when to stop sending what is left, by the monotonic clock
        self._closed = False
        self._sent = self._dropped = 0
        self._error: str | None = None

    # --- for subclasses ---------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def _open(self, env: Environment, clock: RunClock) -> None:
        """Open sockets; see `LiveSink.open`."""

    @abc.abstractmethod
    def _prepare(self, step: LiveStep) -> Iterable[Item]:
        """What is to be sent of a step; on the thread of the run."""

    @abc.abstractmethod
    def _deliver(self, payload: Any) -> int:
        """Send one payload; on the sink's thread. Returns the number of messages or packets sent.

        An exception counts the item as dropped and is shown as the sink's error; the next item is tried again.
        """

    @abc.abstractmethod
    def _close(self) -> None:
        """Close sockets; called once, when the thread has ended, also if `_open` raised."""

    def _put(self, items: Sequence[Item]) -> None:
        """Queue items; on any thread."""
        if not items:
            return
        with self._changed:
            for item in items:
                self._queue.append(item)
                self._bytes += item.nbytes
            self._drop_oldest()
            self._changed.notify()

    def _receivers(self) -> int | None:
        """Number of receivers now; None where the path does not tell."""
        return None

    # --- LiveSink ---------------------------------------------------------------------------------------------------

    def open(self, env: Environment, clock: RunClock) -> None:
        """Open the sockets and start the thread."""
        if self._thread is not None or self._closed:
            raise SpecError(f"live sink {self.name!r} was opened before; each run must have a new one")
        try:
            self._open(env, clock)
        except BaseException:
            self.close()
            raise
        self._thread = Thread(target=self._work, name=f"sensorium-live-{self.name}", daemon=True)
        self._thread.start()

    def send(self, step: LiveStep) -> None:
        """Queue what is to be sent of a step."""
        self._put(list(self._prepare(step)))

    def close(self) -> None:
        """Send what is queued for half a second at most, end the thread, close the sockets."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._thread is not None:
                with self._changed:
                    self._end_by_s = time.monotonic() + _DRAIN_S
                    self._changed.notify()
                self._thread.join(_DRAIN_S + _JOIN_S)
        finally:
            self._close()
            with self._changed:
                self._dropped += len(self._queue)
                self._queue.clear()

    def state(self) -> SinkState:
        """Counts so far."""
        receivers = None if self._closed or self._thread is None else self._receivers()
        return SinkState(self.name, self._sent, self._dropped, receivers, self._error)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _drop_oldest(self) -> None:
        """Make the queue as short as it must be; the newest item stays."""
        kept: deque[Item] = deque()
        while len(self._queue) > 1:
            if len(kept) + len(self._queue) <= self._queue_items and self._bytes <= self._queue_bytes:
                break
            item = self._queue.popleft()
            if item.droppable:
                self._bytes -= item.nbytes
                self._dropped += 1
            else:
                kept.append(item)
        self._queue.extendleft(reversed(kept))

    def _work(self) -> None:
        """Send items as they come, until the sink is closed."""
        while True:
            with self._changed:
                while not self._queue and self._end_by_s is None:
                    self._changed.wait()
                if not self._queue or (self._end_by_s is not None and time.monotonic() > self._end_by_s):
                    return
                item = self._queue.popleft()
                self._bytes -= item.nbytes
            try:
                sent, dropped, error = self._deliver(item.payload), 0, None
            except Exception as problem:
                sent, dropped, error = 0, 1, in_one_line(problem)
            with self._changed:
                self._sent += sent
                self._dropped += dropped
                self._error = error or self._error
