"""Which kind of recording a file or folder is: one table, an entry a kind."""

import os
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from sensorium.core.errors import SpecError
from sensorium.files.plain_files import first_bytes
from sensorium.recordings.measurement import Measurement, checked

FOLDER_VARIABLE = "SENSORIUM_RECORDINGS"
"""Environment variable: the folder of recordings that tests and validation read."""


class Options(NamedTuple):
    """What a user may say of a recording.

    Attributes:
        calibration: File of the unit's own calibration, or of its metadata.
        stream: Part of the name of a stream: address, port or topic.
    """

    calibration: Path | None = None
    stream: str | None = None


class RecordingKind(NamedTuple):
    """One kind of recording.

    Attributes:
        name: As "lidar packets".
        is_this: Whether a path, with the first bytes of its file (b"" for a folder), is of this kind.
        read: Reads it.
        measure: Measures what was read.
    """

    name: str
    is_this: Callable[[Path, bytes], bool]
    read: Callable[[Path, Options], Any]
    measure: Callable[[Any], Measurement]


def recordings_folder() -> Path:
    """The folder named in SENSORIUM_RECORDINGS, by default `../shared/recordings` beside the repository."""
    return Path(os.environ.get(FOLDER_VARIABLE) or Path(__file__).parents[4] / "shared" / "recordings")


def kind_of(path: str | PathLike[str]) -> RecordingKind:
    """The kind of a file or folder."""
    path = Path(path)
    start = b"" if path.is_dir() else first_bytes(path, 64)
    for kind in KINDS:
        if kind.is_this(path, start):
            return kind
    raise SpecError(f"recording is {str(path)!r}; it is none of {', '.join(kind.name for kind in KINDS)}")


def open_recording(
    path: str | PathLike[str], *, calibration: str | PathLike[str] | None = None, stream: str | None = None
) -> Any:
    """Read a recording of a real sensor; what comes back depends on its kind, as `LidarRecording`.

    Args:
        path: A file, or a folder of files that belong together.
        calibration: File of the unit's own calibration, or of its metadata.
        stream: Part of the name of a stream (address, port or topic), where there are several.
    """
    return kind_of(path).read(Path(path), _options(calibration, stream))


def measure_recording(
    path: str | PathLike[str], *, calibration: str | PathLike[str] | None = None, stream: str | None = None
) -> Measurement:
    """What a recording shows of its device, with 95 % intervals; arguments as for `open_recording`."""
    kind = kind_of(path)
    return checked(kind.measure(kind.read(Path(path), _options(calibration, stream))))


def _options(calibration: str | PathLike[str] | None, stream: str | None) -> Options:
    return Options(None if calibration is None else Path(calibration), stream)


def _is_lidar(path: Path, start: bytes) -> bool:
    from sensorium.recordings.readers.lidar import is_lidar_container

    return is_lidar_container(path, start)


def _read_lidar(path: Path, options: Options) -> Any:
    from sensorium.recordings.readers.lidar import read_lidar

    return read_lidar(path, calibration=options.calibration, stream=options.stream)


def _measure_lidar(recording: Any) -> Measurement:
    from sensorium.recordings.measure.lidar import measure_lidar

    return measure_lidar(recording)


KINDS = (RecordingKind("a capture, rosbag or OSF file of a lidar", _is_lidar, _read_lidar, _measure_lidar),)
"""Kinds of recordings; the first that fits is taken."""
