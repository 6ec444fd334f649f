"""The terminal that commands print to: control characters from file names or contents never reach it."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

from sensorium.core.errors import printable


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
