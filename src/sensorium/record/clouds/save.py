"""Scans of lidars as files, one a scan, in a folder a sensor."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from sensorium.core.errors import SpecError
from sensorium.record.clouds.las import require_laspy, save_las
from sensorium.record.clouds.pcd import save_kitti, save_pcd
from sensorium.record.clouds.ply import save_ply
from sensorium.record.npz import save_npz
from sensorium.record.reading_files import ReadingFiles
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.lidar.scan import Scan

Format = Literal["pcd", "ply", "las", "laz", "kitti", "npz"]

# Format -> suffix of its files and their writer
_WRITERS: dict[str, tuple[str, Callable[[Path, Scan], None]]] = {
    "pcd": ("pcd", save_pcd),
    "ply": ("ply", save_ply),
    "las": ("las", save_las),
    "laz": ("laz", save_las),
    "kitti": ("bin", save_kitti),
    "npz": ("npz", save_npz),
}


class CloudRecorder(ReadingFiles[Scan]):
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
            every: Write the first scan of a sensor and then every n-th; files are numbered by the scan.
            sensors: Names of the lidars to record; None is all.
        """
        if format not in _WRITERS:
            raise SpecError(f"format is {format!r}; it must be one of {', '.join(_WRITERS)}")
        if format in ("las", "laz"):
            require_laspy()
        super().__init__(Scan, folder, every=every, sensors=sensors)
        self._ending, self._write = _WRITERS[format]

    def _save(self, sensor: AttachedSensor[Any], reading: Scan, folders: Sequence[Path], number: int) -> None:
        for row, folder in enumerate(folders):
            self._write(folder / f"{number:06d}.{self._ending}", reading.one(row))
