"""Files and folders that are named after sensors."""

import re
from collections.abc import Collection
from os import PathLike
from pathlib import Path

from sensorium.core.errors import SpecError

# Characters that a file name may have on every system
_NOT_IN_FILES = re.compile(r"[^A-Za-z0-9_.-]")

# Names of devices on Windows, with any ending
_DEVICES = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))})


def made_folder(folder: str | PathLike[str]) -> Path:
    """A folder to write to, made where it does not exist."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # the latter for characters that no path may have
        why = error.strerror if isinstance(error, OSError) else error
        raise SpecError(f"folder is {str(path)!r}, which cannot be made: {why}") from None
    return path


def file_stem(sensor: str, taken: Collection[str]) -> str:
    """The name of a sensor's file: characters that no file name may have become `_`.

    Args:
        sensor: Name of the sensor.
        taken: Names that files of other sensors have.
    """
    stem = _NOT_IN_FILES.sub("_", sensor).strip(".") or "_"
    if stem.partition(".")[0].upper() in _DEVICES:
        stem = f"_{stem}"
    if stem.lower() in (other.lower() for other in taken):  # one file if the system ignores case
        raise SpecError(f"sensor {sensor!r} would have the file {stem!r}, which another has; rename one of them")
    return stem
