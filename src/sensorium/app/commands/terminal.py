"""What commands share: errors and sizes as lines for a terminal, and folders to write to."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.segment import Segment

from sensorium.core.errors import SpecError, printable


class Terminal(Console):
    """A console that escapes unprintable characters, such as an escape sequence in the name of a sensor or a topic.

    Styles and cursor movements of the commands themselves are added after that. Text is not markup: a name such as
    `[link=...]` is printed as it is.
    """

    def __init__(self) -> None:
        """Take the process's own terminal."""
        super().__init__(markup=False, emoji=False)

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Printed segments, with control characters escaped."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                lines = "\n".join(printable(line) for line in segment.text.split("\n"))
                yield Segment(lines, segment.style)


def make_folder(folder: Path) -> None:
    """Make a folder, or say why it cannot hold results before time is spent on them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise SpecError(f"--out is {str(folder)!r}, a file; it must be a folder or a new name") from None
    except OSError as error:
        raise SpecError(f"--out is {str(folder)!r}, which cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SpecError(f"--out is {str(folder)!r}; it must be a folder that you may write to")


def size_of(path: Path) -> str:
    """Size of a file: 312 bytes, 4.2 kB, 17.0 MB."""
    size = path.stat().st_size
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"
