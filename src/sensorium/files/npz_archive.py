"""Arrays from untrusted .npz archives: sizes are checked before unpacking, and nothing is unpickled.

numpy trusts the header of an array: a few bytes may claim terabytes. Here an array must be as long as its archive
entry, and all arrays together may not exceed the caller's limit.
"""

import tokenize
import warnings
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sensorium.files.plain_files import open_regular

# An archive that unpacks to at most this size is always accepted
_SMALL_BYTES = 16 * 1024**2

# Errors that zipfile, zlib and numpy raise for broken bytes
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError, SyntaxError, EOFError, NotImplementedError),
    *(RuntimeError, OverflowError, KeyError, IndexError, TypeError, AttributeError, ValueError),
)


class ArchiveError(ValueError):
    """An archive breaks a rule; readers raise it as their own error, with the file's name."""


def read_arrays(path: str | PathLike[str], *, max_bytes: int, max_ratio: int | None = None) -> dict[str, NDArray[Any]]:
    """All arrays of an archive by name.

    Args:
        path: The file.
        max_bytes: Most that it may unpack to.
        max_ratio: Most that it may grow by when it is more than 16 MiB; None is no limit.

    Raises:
        ArchiveError: It is no archive of arrays, or broken, or too large.
        OSError: It cannot be opened.
    """
    path = Path(path)
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            _check_sizes(archive, path.stat().st_size, max_bytes, max_ratio)
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            return {name: _read_array(archive, info) for name, info in members.items()}
    except ArchiveError:
        raise
    except _BROKEN as error:
        raise ArchiveError(f"it is no archive of arrays: {' '.join(str(error).split())[:120]}") from None


def _check_sizes(archive: zipfile.ZipFile, packed: int, max_bytes: int, max_ratio: int | None) -> None:
    total = sum(info.file_size for info in archive.infolist())
    if total > max_bytes:
        raise ArchiveError(f"it unpacks to {total} bytes; the most is {max_bytes}")
    if max_ratio is not None and total > _SMALL_BYTES and total > max_ratio * packed:
        raise ArchiveError(
            f"it unpacks {packed} bytes to {total}; the most is {max_ratio} times. "
            "If it is honest, save it with numpy.savez"
        )


def read_array(path: str | PathLike[str], *, max_bytes: int) -> NDArray[Any]:
    """The array of an .npy file.

    Args:
        path: The file.
        max_bytes: Most that it may have.

    Raises:
        ArchiveError: It is no array, or broken, or too large.
        OSError: It cannot be opened.
    """
    try:
        with open_regular(path) as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            size = file.seek(0, 2)
            if size > max_bytes:
                raise ArchiveError(f"it has {size} bytes; the most is {max_bytes}")
            file.seek(0)
            _check_header(file, size, "it", "the file")
            file.seek(0)
            return np.lib.format.read_array(file, allow_pickle=False)
    except ArchiveError:
        raise
    except _BROKEN as error:
        raise ArchiveError(f"it is no array: {' '.join(str(error).split())[:120]}") from None


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """One array; its header must claim exactly the bytes that the archive lists for it."""
    with archive.open(info) as file:
        _check_header(file, info.file_size, f"array {info.filename!r}", "the archive")
    with archive.open(info) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.lib.format.read_array(file, allow_pickle=False)


def _check_header(file: IO[bytes], size: int, name: str, holder: str) -> None:
    """Read the header of an array, which must claim exactly the bytes that follow it, and no Python objects."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the header is read as Python text, which may be odd
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise ArchiveError(f"{name} has format version {version}; it must be 1.0 or 2.0")
        held = size - file.tell()
    if dtype.hasobject:
        raise ArchiveError(f"{name} holds Python objects; it must hold numbers or strings")
    claimed = dtype.itemsize
    for length in shape:
        claimed *= int(length)
    if claimed != held or any(length < 0 for length in shape):
        raise ArchiveError(f"{name} claims {claimed} bytes; {holder} has {held} for it")
