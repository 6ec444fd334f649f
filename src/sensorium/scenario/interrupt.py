"""Stopping a run with Ctrl-C between two steps, so that nothing is cut in the middle."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_wait() -> Iterator[Callable[[], bool]]:
    """Inside, Ctrl-C only sets a mark; what is given tells whether it was pressed. A second Ctrl-C stops at once.

    Elsewhere than on the main thread signals are left as they are.
    """
    pressed = False

    def handler(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)
