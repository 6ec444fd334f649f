"""Lines and numbers of text formats."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError


def lines_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Number and words of each line that has any, as `texts_of` gives them."""
    for number, text in texts_of(path):
        words = text.split()
        if words:
            yield number, words


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Number and text of each line; '#' starts a comment, a backslash joins the next line.

    A byte order mark, which some editors put before the first line, is no part of it.
    """
    held: list[str] = []
    number = 0
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if "#" in line:
                line = line.split("#", 1)[0]
            text = line.rstrip()
            if not text and not held:
                continue
            if text and text[-1] == "\\":
                held.append(text.rstrip("\\"))
            elif held:
                yield number, " ".join([*held, text])
                held = []
            else:
                yield number, text
    if held:
        yield number, " ".join(held)


def number_rows(lines: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Numbers of lines, one after the other, and how many each line has; a word that is no number is named."""
    joined = "\n".join(lines)
    if not lines:
        return np.zeros(0), np.zeros(0, np.int64)
    if not joined.isascii() or "_" in joined:
        return _numbers_one_by_one(lines)
    text = np.frombuffer(joined.encode("ascii"), np.uint8)
    blank = is_blank(text)
    ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
    starts = np.cumsum(~blank & np.concatenate([[True], blank[:-1]])) if len(text) else np.zeros(0, np.int64)
    counts = np.diff(np.concatenate([[0], starts])[ends], prepend=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            values = np.fromstring(joined, np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            return _numbers_one_by_one(lines)
    return (values, counts) if len(values) == counts.sum() else _numbers_one_by_one(lines)


def is_blank(text: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which bytes of ASCII text separate words."""
    return (text == ord(" ")) | ((text >= 9) & (text <= 13)) | ((text >= 28) & (text <= 31))


def _numbers_one_by_one(lines: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    words = [line.split() for line in lines]
    try:
        values = [float(plain_number(word)) for row in words for word in row]
    except ValueError as error:
        raise SceneError(f"it has something that is no number: {error}") from None
    return np.array(values, np.float64), np.array([len(row) for row in words], np.int64)


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
