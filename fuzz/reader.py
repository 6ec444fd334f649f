"""What is known of a reader of files, so that it can be tried with any bytes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike


def _as_they_are(data: bytes) -> bytes:
    return data


@dataclass(frozen=True)
class Reader:
    """A reader of files.

    Attributes:
        name: What it is called here.
        suffix: Of its files.
        read: Reads a file, goes as far with it as its users do, and calls `must_be_finite` on what came out.
        errors: What it may raise.
        seeds: Makes valid files, as `packed` takes them; a folder is given to work in.
        packed: Makes a file's bytes of the bytes that are mutated: a part that lies behind a checksum or inside a
            container is tried by itself.
        modules: Whose branches guide the search.
        words: What files of its kind are made of, for the mutator.
        memory_bytes: What it may take for such an input, besides what the process holds already.
        says_lines: Whether an error may have several lines, one a mistake.
    """

    name: str
    suffix: str
    read: Callable[[Path], None]
    errors: tuple[type[Exception], ...]
    seeds: Callable[[Path], list[bytes]]
    modules: tuple[str, ...]
    packed: Callable[[bytes], bytes] = _as_they_are
    words: tuple[bytes, ...] = ()
    memory_bytes: int = 1 << 29
    says_lines: bool = False


def must_be_finite(**arrays: ArrayLike) -> None:
    """Numbers that a reader gave out: none of them may be NaN or infinite."""
    from fuzz.promise import BrokenPromise

    for name, values in arrays.items():
        if not np.isfinite(np.asarray(values, np.float64)).all():
            raise BrokenPromise(f"{name} came out as a number that is not finite")
