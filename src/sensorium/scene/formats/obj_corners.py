"""Corners of the faces of an OBJ file, `v`, `v/vt`, `v//vn` or `v/vt/vn`, all lines at once.

A face line is a few bytes; splitting each by itself would dominate the time. So the lines are parsed as one array of
bytes. A file with unusual numbers (`+3`, twenty digits) is read line by line instead.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.scene.formats.text_lines import integer, is_blank, plain_number

MISSING, NO_NUMBER = -(1 << 62), -(1 << 61)
"""Numbers of a place or a normal that a corner does not have, or that is no number."""

# Longest number that surely fits a machine word
_DIGITS = 18


class Corners(NamedTuple):
    """Corners of all faces, one after the other, as they are written."""

    counts: NDArray[np.int64]  # (faces,) corners of each
    vertex: NDArray[np.int64]  # (corners,)
    place: NDArray[np.int64]  # (corners,), MISSING if there is none
    normal: NDArray[np.int64]  # (corners,), likewise, and where it is no number


def read_corners(lines: Sequence[str], numbers: Sequence[int]) -> Corners:
    """Corners of face lines.

    Args:
        lines: The text after `f`.
        numbers: Of these lines in the file.
    """
    found = _at_once(lines)
    return _one_by_one(lines, numbers) if found is None else found


def _at_once(lines: Sequence[str]) -> Corners | None:
    """All lines as bytes; None where there is anything but whole numbers, slashes and blanks as they should be."""
    joined = "\n".join(lines)
    if not lines or not joined.isascii():
        return None
    text = np.frombuffer(joined.encode("ascii"), np.uint8)
    slash, digit, blank = text == ord("/"), (text >= ord("0")) & (text <= ord("9")), is_blank(text)
    if not (slash | digit | blank | (text == ord("-"))).all():
        return None

    # Words, and numbers in them: each begins where the byte before is a blank, or a slash
    before = np.concatenate([[True], blank[:-1]])
    word_at = np.flatnonzero(~blank & before)
    number_at = np.flatnonzero(~blank & ~slash & (before | np.concatenate([[True], slash[:-1]])))
    number_end = np.flatnonzero(~blank & ~slash & np.concatenate([(blank | slash)[1:], [True]]))
    if not len(word_at) or slash[word_at].any() or (number_end - number_at).max() >= _DIGITS:
        return None
    values = _integers(joined.replace("/", " "), len(number_at))
    if values is None:
        return None
    per_word = np.diff(np.searchsorted(number_at, np.append(word_at, len(text))))
    slashes = np.diff(np.concatenate([[0], np.cumsum(slash)])[np.append(word_at, len(text))])
    double = np.flatnonzero(slash[:-1] & slash[1:])
    skips = np.zeros(len(word_at), np.bool_)
    skips[np.searchsorted(word_at, double, "right") - 1] = True
    if (per_word != np.where(skips, 2, slashes + 1)).any() or (slashes > 2).any():
        return None

    first = np.cumsum(per_word) - per_word
    padded = np.concatenate([values, [MISSING] * 2])
    place = np.where((slashes > 0) & ~skips, padded[first + 1], MISSING)
    normal = np.where(slashes == 2, padded[first + per_word - 1], MISSING)
    line_ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
    counts = np.diff(np.concatenate([[0], np.searchsorted(word_at, line_ends)]))
    return Corners(counts, values[first], place, normal)


def _integers(text: str, count: int) -> NDArray[np.int64] | None:
    """Integers of a text, None if there are not this many."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            values = np.fromstring(text, np.int64, sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    return values if len(values) == count else None


def _one_by_one(lines: Sequence[str], numbers: Sequence[int]) -> Corners:
    """Corners word by word, as Python integers; a word that is none is named with its line."""
    counts: list[int] = []
    rows: list[tuple[int, ...]] = []
    for line, number in zip(lines, numbers, strict=True):
        words = line.split()
        counts.append(len(words))
        for word in words:
            parts = word.split("/")
            vertex = integer(parts[0], number)
            rows.append((vertex, *map(_further, (*parts[1:3], "", "")[:2])))
    try:
        columns = np.array(rows, np.int64).reshape(-1, 3).T
    except OverflowError:
        raise SceneError("it has a vertex index beyond 2**63") from None
    return Corners(np.array(counts, np.int64), columns[0], columns[1], columns[2])


def _further(part: str) -> int:
    """Number of a place or a normal; few files need them, and only those may find fault with it."""
    try:
        value = int(plain_number(part)) if part else MISSING
    except ValueError:
        return NO_NUMBER
    return value if value == MISSING or abs(value) < 1 << 60 else NO_NUMBER


def absolute(given: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers from 0 on, of those that count from 1, or from -1 back from the last that was known."""
    return np.where(given > 0, given - 1, known + given)


def fans(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Corners of the triangles of polygons with this many corners, around the first of each: (triangles, 3)."""
    first = np.cumsum(counts) - counts
    triangles = counts - 2
    start = np.repeat(first, triangles)
    k = np.arange(int(triangles.sum())) - np.repeat(np.cumsum(triangles) - triangles, triangles)
    return np.stack([start, start + k + 1, start + k + 2], axis=-1)
