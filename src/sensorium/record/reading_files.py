"""Readings of one kind as files, one a reading, in a folder a sensor."""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Generic, TypeVar

from sensorium.core.errors import SpecError
from sensorium.environment import Environment
from sensorium.record.recorder import Recorder
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.common.spec import Rig

R = TypeVar("R")


class ReadingFiles(Recorder, Generic[R]):
    """The base of recorders of scans and of images: selection of readings, and file names.

    The first reading of a sensor is written and then every n-th; files are numbered by the reading. With several worlds
    or sensors of a kind there is a folder for each: world_0/lidar_1.
    """

    def __init__(
        self,
        kind: type[R] | tuple[type[R], ...],
        folder: str | PathLike[str],
        *,
        every: int,
        sensors: Sequence[str] | None,
    ) -> None:
        """Begin.

        Args:
            kind: Of the readings to write, one or several.
            folder: Where the folders of the sensors go; made where it does not exist.
            every: Write every n-th reading.
            sensors: Names of the sensors to record; None is all.
        """
        if every < 1:
            raise SpecError(f"every is {every}; it must be at least 1")
        if isinstance(sensors, str):
            raise SpecError(f"sensors is the string {sensors!r}; it must be a sequence of names")
        self.folder = made_folder(folder)
        self._kind, self._every = kind, every
        self._sensors = None if sensors is None else tuple(sensors)
        self._folders: dict[str, list[Path]] = {}
        self._stems: set[str] = set()
        self._counts = Counter[str]()
        self._closed = False

    def record(self, env: Environment) -> None:
        """Record the readings that arrived in the last step of an environment."""
        if self._closed:
            raise SpecError(f"recorder of {str(self.folder)!r} is closed; nothing can be recorded any more")
        for name in self._sensors or ():
            if name not in env.sensors:
                raise SpecError(f"no sensor is named {name!r}; there are {', '.join(env.sensors) or 'none'}")
        for name, sensor in env.sensors.items():
            if self._sensors is not None and name not in self._sensors:
                continue
            for reading in sensor.readings():
                if not isinstance(reading, self._kind):
                    break
                number = self._counts[name]
                self._counts[name] += 1
                if number % self._every == 0:
                    if name not in self._folders:
                        self._folders[name] = self._made(name, sensor.rig)
                    self._save(sensor, reading, self._folders[name], number)

    def close(self) -> None:
        """Nothing can be recorded after; every file is already complete."""
        self._closed = True

    @abstractmethod
    def _save(self, sensor: AttachedSensor[Any], reading: R, folders: Sequence[Path], number: int) -> None:
        """Write one reading: a file in the folder of each world and sensor."""

    def _made(self, name: str, rig: Rig) -> list[Path]:
        """The folder of each world and sensor, made."""
        stem = file_stem(name, self._stems)
        self._stems.add(stem)
        own = [f"{stem}_{k}" for k in range(rig.sensors)] if rig.sensor_axis else [stem]
        worlds = range(rig.first_world, rig.first_world + rig.worlds)
        above = [self.folder / f"world_{world}" for world in worlds] if rig.world_axis else [self.folder]
        return [made_folder(folder / one) for folder in above for one in own]


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
