"""The terminal that commands print to: whatever a file is named or holds, no control character reaches it."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

from sensorium.core.errors import printable


class Terminal(Console):
    """A console that escapes what cannot be printed, such as an escape sequence in the name of a sensor or a topic.

    Styles and movements of the cursor that the commands themselves ask for are added after it. Text is no markup: a
    name such as `[link=...]` is printed as it is.
    """

    def __init__(self) -> None:
        """Take the process's own terminal."""
        super().__init__(markup=False, emoji=False)

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Segments of what is printed, each fit for a terminal."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                lines = "\n".join(printable(line) for line in segment.text.split("\n"))
                yield Segment(lines, segment.style)
