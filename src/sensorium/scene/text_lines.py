"""Lines and numbers of text formats."""

from collections.abc import Iterator
from pathlib import Path

from sensorium.errors import SceneError


def lines_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Number and words of each line; '#' starts a comment, a backslash joins the next line, empty ones go.

    A byte order mark, which some editors put before the first line, is no part of it.
    """
    words: list[str] = []
    number = 0
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            text = line.split("#", 1)[0].rstrip()
            words += text.rstrip("\\").split()
            if words and not text.endswith("\\"):
                yield number, words
                words = []
    if words:
        yield number, words


def plain_number(word: str) -> str:
    """The word, unless Python alone would take it for a number: 1_000, or digits of other scripts, raise ValueError."""
    if "_" in word or not word.isascii():
        raise ValueError(f"{word!r} is no number of a text format")
    return word


def integer(word: str, number: int) -> int:
    """A whole number in a line."""
    try:
        return int(plain_number(word))
    except ValueError:
        raise SceneError(f"line {number} has {word[:40]!r}; it must be an integer") from None
