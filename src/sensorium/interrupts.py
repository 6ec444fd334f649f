"""Ctrl-C that waits, so that no step is cut in the middle and no message is half in a file.

Python raises KeyboardInterrupt between any two instructions: after scenes were released and before their places are
known, or between the halves of a message. A second Ctrl-C still stops at once.
"""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

# Those of `signal` look every handler up among names first, and take fifteen times as long as these, which they call
from _signal import getsignal, signal as handle  # type: ignore[import-not-found]  # isort: skip

_SIGINT = int(signal.SIGINT)
_MAIN = threading.main_thread()


class InterruptsWait:
    """Inside `with`, Ctrl-C only sets the mark `pressed`; a second one stops at once.

    Elsewhere than on the main thread signals are left as they are, and so is a handler that is not Python's.
    """

    __slots__ = ("_before", "pressed")

    def __init__(self) -> None:
        self.pressed = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.get_ident() == _MAIN.ident and getsignal(_SIGINT) is not None:
            self._before = handle(_SIGINT, self._press)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._before is not None:
            handle(_SIGINT, self._before)

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


class Uninterrupted(InterruptsWait):
    """The same; what was pressed inside takes effect at the end."""

    __slots__ = ()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        if self.pressed and kind is not KeyboardInterrupt:
            signal.raise_signal(_SIGINT)
