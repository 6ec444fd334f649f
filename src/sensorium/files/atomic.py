"""Atomic writing: a file appears complete or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO

from sensorium.core.errors import RecordError, SpecError


def checked_path(path: str | PathLike[str], *, before: str | None = None) -> Path:
    """The path of a file to write.

    Args:
        path: The value given as a path.
        before: The argument that follows in the call, to detect swapped arguments; None if there is none.
    """
    if not isinstance(path, str | PathLike):
        order = "" if before is None else f", and come before the {before}"
        raise SpecError(f"path is a {type(path).__name__}; it must be a string or a path{order}")
    return Path(path)


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, beside its place; it is moved there when all went well, and removed when it did not.

    Raises:
        SpecError: The folder does not exist or may not be written to.
        RecordError: Writing failed, as on a full disk.
    """
    path = checked_path(path)
    if not path.parent.is_dir():
        raise SpecError(f"path is {str(path)!r}; its folder does not exist")
    if path.is_dir():
        raise SpecError(f"path is {str(path)!r}, a folder; it must be a file or a new name")
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        file = part.open("xb")
    except OSError as error:
        raise SpecError(f"path is {str(path)!r}, which cannot be written: {error.strerror}") from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        raise RecordError(f"{str(path)!r} cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
