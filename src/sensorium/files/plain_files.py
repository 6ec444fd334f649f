"""Untrusted files: only regular files are opened; TOML and JSON as plain data.

TOML and JSON are bounded, in UTF-8, and with numbers that are numbers.

Python's own readers accept NaN and Infinity in JSON, turn 1e400 into infinity, and raise RecursionError for deep
nesting; here each of these is one SpecError that names the file and the rule.
"""

import errno
import hashlib
import io
import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, Any, NoReturn

from sensorium.core.errors import SpecError

MAX_TOML_BYTES = 1 << 20
MAX_JSON_BYTES = 1 << 28

# Python's reader of TOML takes memory by the square of the parts of a dotted key
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{32}}")

# Characters that JSON writes as two halves; one alone can be written nowhere
_HALF = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")

# A number with more digits is no length, count or time
_LONGEST_INTEGER = 1000


def open_regular(path: str | PathLike[str]) -> IO[bytes]:
    """A file to read; a pipe, a socket or a device is no file, raises OSError and is never waited for."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        kind = os.fstat(handle).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "it is a pipe, a socket or a device; it must be a file", str(path))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def open_text(path: str | PathLike[str], encoding: str = "utf-8-sig", newline: str | None = None) -> io.TextIOWrapper:
    """The same as text."""
    return io.TextIOWrapper(open_regular(path), encoding=encoding, newline=newline)


def read_bounded(path: str | PathLike[str], most: int) -> tuple[bytes, int]:
    """Bytes of a regular file, at most one more than it may have, and how many it has."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        return file.read(min(most, size) + 1), size  # Python sets aside as many bytes as are asked for


def read_whole(path: str | PathLike[str], most: int, what: str) -> bytes:
    """All bytes of a regular file; one that cannot be read, or has more, raises SpecError.

    Args:
        path: The file.
        most: Most bytes that it may have.
        what: What it is, for the sentence, as "a capture".
    """
    try:
        content, size = read_bounded(path, most)
    except OSError as error:
        raise SpecError(f"{str(path)!r} cannot be read: {error.strerror or error}") from None
    if len(content) > most:
        raise SpecError(f"{str(path)!r} has {size} bytes; {what} may have {most}")
    return content


def first_bytes(path: str | PathLike[str], count: int) -> bytes:
    """The first bytes of a regular file; one that cannot be read raises SpecError."""
    try:
        with open_regular(path) as file:
            return file.read(count)
    except OSError as error:
        raise SpecError(f"{str(path)!r} cannot be read: {error.strerror or error}") from None


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    """The table of a TOML file; one that cannot be read raises SpecError."""
    found: dict[str, Any] = _read(Path(path), "TOML", MAX_TOML_BYTES, _toml)
    return found


def read_json(path: str | PathLike[str]) -> Any:
    """The value of a JSON file; one that cannot be read raises SpecError."""
    return _read(Path(path), "JSON", MAX_JSON_BYTES, _json)


def _read(path: Path, form: str, most: int, parsed: Callable[[str], Any]) -> Any:
    try:
        content, size = read_bounded(path, most)
        if len(content) > most:
            raise SpecError(f"{path}: the file has {size} bytes; as {form} it may have {most}")
        return parsed(io.IncrementalNewlineDecoder(None, True).decode(content.decode("utf-8-sig"), final=True))
    except SpecError:
        raise
    except OSError as error:
        raise SpecError(f"{path}: the file cannot be read: {error.strerror or error}") from None
    except RecursionError:
        raise SpecError(f"{path}: the file is nested too deep for {form}") from None
    except ValueError as error:
        first_line = str(error).partition("\n")[0]
        raise SpecError(f"{path}: the file is not {form} in UTF-8: {first_line}") from None


def _toml(text: str) -> dict[str, Any]:
    if _LONG_KEY.search(text):
        raise ValueError("it has a key of more than 32 parts")
    found = tomllib.loads(text, parse_float=_number)

    # Integers of TOML have 64 bits; Python reads hexadecimal ones of any length, and cannot write them any more
    waiting: list[Any] = [found]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError(f"it holds an integer of {value.bit_length()} bits; TOML has 64")
    return found


def _json(text: str) -> Any:
    if _HALF.search(text) and _HALF.search(_PAIR.sub("", text)):
        raise ValueError("it has half a character; its other half must follow")
    return json.loads(text, parse_float=_number, parse_int=_integer, parse_constant=_refused)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _refused(text)
    return value


def _integer(text: str) -> int:
    if len(text) > _LONGEST_INTEGER:
        _refused(text)
    return int(text)


def _refused(text: str) -> NoReturn:
    raise ValueError(f"it holds the number {text[:40]}; every number must be finite")


def sha256(path: Path) -> str:
    """Hash of a file's bytes, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
