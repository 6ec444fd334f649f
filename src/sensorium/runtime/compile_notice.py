"""A line that says which kernel is compiled and why, with a bar that moves, once it takes more than two seconds.

It goes to standard error: in a terminal and in a notebook with a bar, which is gone after the compilation, elsewhere as
one line of text. A program with a display of its own takes its place with `shown_by`. SENSORIUM_QUIET=1 turns it off.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

# Compilations that take less are not worth a line [s]
_AFTER_S = 2.0

# Interval at which a display is updated [s]
_UPDATE_S = 0.25

Show = Callable[[str | None, float], None]
"""Display of a compilation: name of the kernel and the time since its start [s]; None and 0.0 at its end."""

_shows: list[Show] = []


@contextlib.contextmanager
def shown_by(show: Show) -> Iterator[None]:
    """Context manager in which compilations are shown by this function, called from another thread."""
    _shows.append(show)
    try:
        yield
    finally:
        _shows.remove(show)


@contextlib.contextmanager
def announced(kernel: str) -> Iterator[None]:
    """Context manager for the compilation of one kernel.

    Args:
        kernel: Its name.
    """
    if os.environ.get("SENSORIUM_QUIET") == "1":
        yield
        return
    over = threading.Event()
    notice = threading.Thread(target=_show_until, args=(over, kernel), name="sensorium-compile-notice", daemon=True)
    notice.start()
    try:
        yield
    finally:
        over.set()
        notice.join()


def _show_until(over: threading.Event, kernel: str) -> None:
    """Body of the thread that shows a compilation."""
    began = time.monotonic()
    if over.wait(_AFTER_S):
        return
    show = _shows[-1] if _shows else _StandardError()
    while True:
        show(kernel, time.monotonic() - began)
        if over.wait(_UPDATE_S):
            break
    show(None, 0.0)


class _StandardError:
    """The display of a script or a notebook."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True)
        self._bar: Any = None
        self._says = False

    def __call__(self, kernel: str | None, elapsed_s: float) -> None:
        if kernel is not None and not self._says:
            self._says = True
            if self._console.is_terminal or self._console.is_jupyter:
                self._start(kernel)
            else:
                print(f"{_sentence(kernel)}, once for this machine and version", file=sys.stderr, flush=True)
        elif kernel is None and self._bar is not None:
            self._bar.stop()

    def _start(self, kernel: str) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(bar_width=12), TimeElapsedColumn())
        self._bar = Progress(*columns, console=self._console, transient=True)
        self._bar.add_task(_sentence(kernel), total=None)
        self._bar.start()


def _sentence(kernel: str) -> str:
    """Fits beside the bar and the time in 80 columns for names of up to 33 characters."""
    return f"sensorium compiles {kernel:.33}"
