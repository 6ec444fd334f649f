"""Delays Ctrl-C and SIGTERM, so that no step is interrupted and no message is half written to a file.

Python raises KeyboardInterrupt between any two instructions: after scenes were released and before their places are
known, or between the halves of a message. A second Ctrl-C still stops at once. SIGTERM, by which others end a process
(`kill`, `timeout`, a service manager, a container that stops), would end it without closing a file; see
`TerminationExits`.
"""

import signal
import sys
from threading import get_ident, main_thread
from types import FrameType
from typing import Any, ClassVar, NoReturn, Self

# Those of `signal` look every handler up among names first, and take fifteen times as long as these, which they call
from _signal import getsignal, signal as handle  # type: ignore[import-not-found]  # isort: skip

_SIGINT, _SIGTERM = int(signal.SIGINT), int(signal.SIGTERM)
_DEFAULT, _IGNORED = int(signal.SIG_DFL), int(signal.SIG_IGN)
_MAIN = main_thread().ident

_ENDS = (KeyboardInterrupt, SystemExit)


class InterruptsWait:
    """Inside `with`, Ctrl-C and SIGTERM only set the mark `pressed`; a second one stops at once.

    Elsewhere than on the main thread signals are left as they are, and so is a handler that is not Python's, and a
    signal that is ignored.

    Attributes:
        pressed: Number of the signal that came, 0 for none.
    """

    __slots__ = ("_on_int", "_on_term", "pressed")

    _takes_default: ClassVar[bool] = True
    """Whether SIGTERM is delayed too if no handler is installed."""

    def __enter__(self) -> Self:
        self.pressed = 0
        self._on_int: Any = None
        self._on_term: Any = None
        if get_ident() == _MAIN:
            try:
                before = getsignal(_SIGINT)
                if before is not None and before != _IGNORED:
                    self._on_int = before
                    handle(_SIGINT, self._press)
                before = getsignal(_SIGTERM)
                if callable(before) or (self._takes_default and before == _DEFAULT):
                    self._on_term = before
                    handle(_SIGTERM, self._press)
            except BaseException:  # SIGTERM came when only SIGINT was delayed
                self._put_back()
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._put_back()
        if self.pressed:
            self._leave(kind)

    def _put_back(self) -> None:
        """Install the former handlers; either may raise as soon as it is installed."""
        try:
            if self._on_term is not None:
                handle(_SIGTERM, self._on_term)
            if self._on_int is not None:
                handle(_SIGINT, self._on_int)
        except BaseException:
            if self._on_int is not None:
                handle(_SIGINT, self._on_int)
            raise

    def _leave(self, kind: type[BaseException] | None) -> None:
        """A signal came inside; an error of this kind, or None, is being raised."""

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            _end(number)
        self.pressed = number


class Uninterrupted(InterruptsWait):
    """The same; a signal that came inside takes effect at the end. Without a handler SIGTERM ends at once."""

    __slots__ = ()

    _takes_default: ClassVar[bool] = False

    def _leave(self, kind: type[BaseException] | None) -> None:
        """Do the delayed action, unless an error that ends the process is already being raised."""
        if kind is not None and issubclass(kind, _ENDS):
            return
        handler = self._on_int if self.pressed == _SIGINT else self._on_term
        if callable(handler):  # a signal raised here may be noticed some instructions later where other threads run
            handler(self.pressed, sys._getframe())
        else:
            signal.raise_signal(self.pressed)


class TerminationExits:
    """Inside `with`, SIGTERM raises SystemExit(143), so that open files are closed, as after Ctrl-C.

    Only where SIGTERM has its default, which ends a process without another word, and on the main thread.
    """

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken = False

    def __enter__(self) -> Self:
        if get_ident() == _MAIN and getsignal(_SIGTERM) == _DEFAULT:
            try:
                handle(_SIGTERM, _exit)
                self._taken = True
            except BaseException:
                handle(_SIGTERM, _DEFAULT)
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if self._taken and getsignal(_SIGTERM) is _exit:
            handle(_SIGTERM, _DEFAULT)
        self._taken = False


def exit_code(number: int) -> int:
    """Exit code of a process that a signal ended, as shells count: 130 after Ctrl-C, 143 after SIGTERM."""
    return 128 + number


def _exit(number: int, frame: FrameType | None) -> None:
    _end(number)


def _end(number: int) -> NoReturn:
    """End at once."""
    if number == _SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(exit_code(number))
