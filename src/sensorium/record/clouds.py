"""Scans of lidars as files, one a scan, in a folder a sensor."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

from sensorium.environment import Environment
from sensorium.errors import SpecError
from sensorium.record.cloud import one_of
from sensorium.record.kitti import save_kitti
from sensorium.record.las import require_laspy, save_las
from sensorium.record.npz import save_npz
from sensorium.record.pcd import save_pcd
from sensorium.record.ply import save_ply
from sensorium.record.recorder import Recorder
from sensorium.record.sensor_files import file_stem, made_folder
from sensorium.sensors.scan import Scan

Format = Literal["pcd", "ply", "las", "laz", "kitti", "npz"]

# Format -> ending of its files and what writes them
_WRITERS: dict[str, tuple[str, Callable[[Scan, Path], None]]] = {
    "pcd": ("pcd", save_pcd),
    "ply": ("ply", save_ply),
    "las": ("las", save_las),
    "laz": ("laz", save_las),
    "kitti": ("bin", save_kitti),
    "npz": ("npz", save_npz),
}


class CloudRecorder(Recorder):
    """Writes each scan of lidars to a file of its own, as it arrives: lidar/000000.ply, lidar/000001.ply, ...

        with sn.record.CloudRecorder("clouds", format="pcd", every=10) as recorder:
            for _ in env.run(10.0):
                recorder.record(env)

    With several worlds or sensors of a kind there is a folder for each: world_0/lidar_1/000000.ply. Every file appears
    whole or not at all; the run waits while it is written.
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        *,
        format: Format = "ply",
        every: int = 1,
        sensors: Sequence[str] | None = None,
    ) -> None:
        """Begin.

        Args:
            folder: Where the folders of the sensors go; made where it does not exist.
            format: Of the files; las and laz need the extra `las`.
            every: Write the first scan of a sensor and then every so manyth; files are numbered by the scan.
            sensors: Names of the lidars to record; None is all.
        """
        if format not in _WRITERS:
            raise SpecError(f"format is {format!r}; it must be one of {', '.join(_WRITERS)}")
        if every < 1:
            raise SpecError(f"every is {every}; it must be at least 1")
        if isinstance(sensors, str):
            raise SpecError(f"sensors is the string {sensors!r}; it must be a sequence of names")
        if format in ("las", "laz"):
            require_laspy()
        self.folder = made_folder(folder)
        self._ending, self._save = _WRITERS[format]
        self._every = every
        self._sensors = None if sensors is None else tuple(sensors)
        self._folders: dict[str, list[Path]] = {}
        self._stems: set[str] = set()
        self._counts: dict[str, int] = {}
        self._closed = False

    def record(self, env: Environment) -> None:
        """Record the scans that arrived in the last step of an environment."""
        if self._closed:
            raise SpecError(f"recorder of {str(self.folder)!r} is closed; nothing can be recorded any more")
        for name in self._sensors or ():
            if name not in env.sensors:
                raise SpecError(f"no sensor is named {name!r}; there are {', '.join(env.sensors) or 'none'}")
        for name, sensor in env.sensors.items():
            if self._sensors is not None and name not in self._sensors:
                continue
            for scan in sensor.readings():
                if not isinstance(scan, Scan):
                    break
                number = self._counts.get(name, 0)
                self._counts[name] = number + 1
                if number % self._every:
                    continue
                if name not in self._folders:
                    rig = sensor.rig
                    worlds = range(rig.first_world, rig.first_world + rig.worlds) if rig.world_axis else None
                    self._folders[name] = self._made(name, worlds, rig.sensors if rig.sensor_axis else None)
                for row, folder in enumerate(self._folders[name]):
                    self._save(one_of(scan, row), folder / f"{number:06d}.{self._ending}")

    def close(self) -> None:
        """Nothing can be recorded after; every file is in its place already."""
        self._closed = True

    def _made(self, name: str, worlds: range | None, sensors: int | None) -> list[Path]:
        """The folder of each row of a sensor, made."""
        stem = file_stem(name, self._stems)
        self._stems.add(stem)
        own = [stem] if sensors is None else [f"{stem}_{k}" for k in range(sensors)]
        above = [self.folder] if worlds is None else [self.folder / f"world_{world}" for world in worlds]
        return [made_folder(folder / one) for folder in above for one in own]
