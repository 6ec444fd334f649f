"""Which kind of recording a file or folder is: one table, an entry a kind."""

import os
from collections.abc import Callable
from importlib import import_module
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
        gravity_m_s2: Acceleration of gravity where it was recorded [m/s^2].
    """

    calibration: Path | None = None
    stream: str | None = None
    gravity_m_s2: float | None = None


class RecordingKind(NamedTuple):
    """One kind of recording.

    Attributes:
        name: As "lidar packets".
        is_this: Whether a path, with the first bytes of its file (b"" for a folder), is of this kind.
        read: Reads it; options that it has no use for are refused.
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
    path: str | PathLike[str],
    *,
    calibration: str | PathLike[str] | None = None,
    stream: str | None = None,
    gravity_m_s2: float | None = None,
) -> Any:
    """Read a recording of a real sensor; what comes back depends on its kind, as `LidarRecording`.

    Args:
        path: A file, or a folder of files that belong together.
        calibration: File of the unit's own calibration, or of its metadata.
        stream: Part of the name of a stream (address, port or topic), where there are several.
        gravity_m_s2: Acceleration of gravity where an IMU was recorded [m/s^2]; None is the standard one.
    """
    return kind_of(path).read(Path(path), _options(calibration, stream, gravity_m_s2))


def measure_recording(
    path: str | PathLike[str],
    *,
    calibration: str | PathLike[str] | None = None,
    stream: str | None = None,
    gravity_m_s2: float | None = None,
) -> Measurement:
    """What a recording shows of its device, with 95 % intervals; arguments as for `open_recording`."""
    kind = kind_of(path)
    return checked(kind.measure(kind.read(Path(path), _options(calibration, stream, gravity_m_s2))))


def _options(calibration: str | PathLike[str] | None, stream: str | None, gravity_m_s2: float | None) -> Options:
    return Options(None if calibration is None else Path(calibration), stream, gravity_m_s2)


def _refuse(options: Options, name: str, *unused: str) -> None:
    """Refuse options that a kind of recording has no use for."""
    for option in unused:
        value = getattr(options, option)
        if value is not None:
            raise SpecError(f"{option} is {str(value)!r}; {name} has no use for it")


def _is_lidar(path: Path, start: bytes) -> bool:
    from sensorium.recordings.readers.lidar import is_lidar_container

    return is_lidar_container(path, start)


def _read_lidar(path: Path, options: Options) -> Any:
    from sensorium.recordings.readers.lidar import read_lidar

    _refuse(options, "a lidar", "gravity_m_s2")
    return read_lidar(path, calibration=options.calibration, stream=options.stream)


def _measure_lidar(recording: Any) -> Measurement:
    from sensorium.recordings.measure.lidar import measure_lidar

    return measure_lidar(recording)


def _is_emva1288(path: Path, start: bytes) -> bool:
    from sensorium.recordings.readers.emva1288 import DESCRIPTOR

    return (path / DESCRIPTOR).is_file() if path.is_dir() else path.name == DESCRIPTOR


def _is_realsense(path: Path, start: bytes) -> bool:
    from sensorium.recordings.readers.realsense import is_realsense

    return is_realsense(path, start)


def _is_still_poses(path: Path, start: bytes) -> bool:
    from sensorium.recordings.readers.still_poses import is_still_poses

    return is_still_poses(path)


def _is_rinex(path: Path, start: bytes) -> bool:
    return start[5:7] == b"3." and b"OBSERVATION" in start


def _is_radar_list(path: Path, start: bytes) -> bool:
    from sensorium.recordings.readers.radar_lists import is_radar_list

    return is_radar_list(start)


def _read_imu(path: Path, options: Options) -> Any:
    from sensorium.recordings.readers.still_poses import STANDARD_GRAVITY_M_S2, read_still_poses

    _refuse(options, "an IMU", "calibration", "stream")
    given = options.gravity_m_s2
    return read_still_poses(path, gravity_m_s2=STANDARD_GRAVITY_M_S2 if given is None else given)


def _reader(name: str, module: str, function: str) -> Callable[[Path, Options], Any]:
    """A reader without options, whose module is imported when it is used."""

    def read(path: Path, options: Options) -> Any:
        _refuse(options, name, *Options._fields)
        return getattr(import_module(f"sensorium.recordings.readers.{module}"), function)(path)

    return read


def _measure(module: str, function: str) -> Callable[[Any], Measurement]:
    """A measurement whose module is imported when it is used."""

    def measure(recording: Any) -> Measurement:
        found: Measurement = getattr(import_module(f"sensorium.recordings.measure.{module}"), function)(recording)
        return found

    return measure


KINDS = (
    RecordingKind(
        "a RealSense bag",
        _is_realsense,
        _reader("a depth camera", "realsense", "read_realsense"),
        _measure("depth_camera", "measure_depth_camera"),
    ),
    RecordingKind("a capture, rosbag or OSF file of a lidar", _is_lidar, _read_lidar, _measure_lidar),
    RecordingKind(
        "an EMVA 1288 image set",
        _is_emva1288,
        _reader("an image set", "emva1288", "read_emva1288"),
        _measure("camera", "measure_camera"),
    ),
    RecordingKind(
        "a LAS file with waveforms",
        lambda path, start: start.startswith(b"LASF"),
        _reader("a LAS file", "las_waveforms", "read_las_waveforms"),
        _measure("waveform", "measure_waveform"),
    ),
    RecordingKind(
        "a RINEX 3 file of observations",
        _is_rinex,
        _reader("a GNSS receiver", "rinex", "read_rinex_observations"),
        _measure("gnss", "measure_gnss"),
    ),
    RecordingKind(
        "a list of radar detections",
        _is_radar_list,
        _reader("a radar list", "radar_lists", "read_radar_list"),
        _measure("radar", "measure_radar"),
    ),
    RecordingKind(
        "raw samples of a radar (.npy)",
        lambda path, start: start.startswith(b"\x93NUMPY"),
        _reader("a radar", "radar_cube", "read_radar_cube"),
        _measure("radar_cube", "measure_radar_cube"),
    ),
    RecordingKind(
        "an HDF5 log of an IMU with truth",
        lambda path, start: start.startswith(b"\x89HDF\r\n"),
        _reader("an IMU with truth", "imu_truth", "read_imu_truth"),
        _measure("imu_truth", "measure_imu_truth"),
    ),
    RecordingKind(
        "a folder with logs of an IMU in still poses", _is_still_poses, _read_imu, _measure("imu", "measure_imu")
    ),
)
"""Kinds of recordings; the first that fits is taken."""
