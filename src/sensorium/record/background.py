"""A thread that works off what it is given, so that who gives it need not wait."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """Hands batches of items to a function on a thread of its own, in order.

    What waits is bounded, so that a process that is killed loses little and memory does not grow: a large item waits
    until the large one before it is done, any item until fewer than `limit` wait. An error of the function stops it; it
    is raised where the next item is given, or on `finish`.
    """

    def __init__(self, work: Callable[[list[T]], None], *, limit: int) -> None:
        """Start the thread.

        Args:
            work: What to do with the items that have come in.
            limit: Most items that wait.
        """
        self._work, self._limit = work, limit
        self._waiting: deque[tuple[T, bool]] = deque()
        self._busy, self._large_under_way, self._ending = False, False, False
        self._error: BaseException | None = None
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="sensorium-recorder", daemon=True)
        self._thread.start()

    def put(self, item: T, *, large: bool) -> None:
        """Give an item; waits only as described above."""
        with self._change:
            self._change.wait_for(lambda: self._error is not None or self._has_room(large))
            self._raise_error()
            self._waiting.append((item, large))
            self._large_under_way = self._large_under_way or large
            self._change.notify_all()

    def join(self) -> None:
        """Wait until all that was given is done."""
        with self._change:
            self._change.wait_for(lambda: self._error is not None or not (self._waiting or self._busy))
            self._raise_error()

    def finish(self) -> None:
        """Do what waits, and end the thread."""
        with self._change:
            self._ending = True
            self._change.notify_all()
        self._thread.join()
        self._raise_error()

    def _has_room(self, large: bool) -> bool:
        return len(self._waiting) < self._limit and not (large and self._large_under_way)

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._waiting or self._ending)
                if not self._waiting:
                    return
                batch = list(self._waiting)
                self._waiting.clear()
                self._busy = True
                self._change.notify_all()
            try:
                self._work([item for item, _ in batch])
            except BaseException as error:  # raised again in the thread that gave the items
                with self._change:
                    self._error = error
                    self._change.notify_all()
                return
            with self._change:
                self._busy = False
                if any(large for _, large in batch):
                    self._large_under_way = False
                del batch
                self._change.notify_all()
