"""A thread that processes items in the background, so that the caller does not wait."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """Hands one item after the other to a function on a thread of its own.

    One item is processed at a time: the caller of the next waits until it is done, so that no more than one is lost
    when the process is killed. An error of the function stops it; it is raised when the next item is given, or on
    `finish`.
    """

    def __init__(self, work: Callable[[T], None]) -> None:
        """Start the thread, which calls the function with each item."""
        self._work = work
        self._item: list[T] = []
        self._ending = False
        self._error: BaseException | None = None
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="sensorium-recorder", daemon=True)
        self._thread.start()

    def put(self, item: T) -> None:
        """Give an item; waits until the one before is done."""
        with self._change:
            self._change.wait_for(lambda: self._error is not None or not self._item)
            self.raise_error()
            self._item.append(item)
            self._change.notify_all()

    def join(self) -> None:
        """Wait until the item is done."""
        with self._change:
            self._change.wait_for(lambda: self._error is not None or not self._item)
            self.raise_error()

    def finish(self) -> None:
        """Finish the current item, and end the thread."""
        with self._change:
            self._ending = True
            self._change.notify_all()
        self._thread.join()
        self.raise_error()

    def raise_error(self) -> None:
        """Raise the error of the thread, if there was one."""
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._item or self._ending)
                if not self._item:
                    return
            try:
                self._work(self._item[0])
            except BaseException as error:  # raised again in the thread that gave the item
                with self._change:
                    self._error = error
                    self._change.notify_all()
                return
            with self._change:
                self._item.clear()
                self._change.notify_all()
