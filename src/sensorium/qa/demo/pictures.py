"""Scans of the yard's van over a run, counted and drawn."""

import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import sensorium as sn
from sensorium.core.clock import ns_to_seconds
from sensorium.qa.demo.yard import PICTURE_M

# Azimuths left and right of straight ahead that the overview shows
_AHEAD_DEG = 75.0

# A drive up to this long keeps every point for the picture from above, a longer one every second, third, ...
_KEEP_ALL_S = 2.0


class SweepLog:
    """An observer of a run that keeps sweeps of a lidar for pictures, with points in the world frame."""

    def __init__(self, sensor: str, duration_s: float) -> None:
        """Start empty.

        Args:
            sensor: Name of the lidar.
            duration_s: How long the run is to be [s].
        """
        self.labels: dict[str, int] = {}
        """Number of each label name, that of ghosts included."""
        self.last: sn.Scan | None = None
        """The last sweep."""
        self.elevation_deg = (0.0, 0.0)
        """Of the lidar's bottom and top channel."""
        self.sweeps, self.rays = 0, 0
        self._sensor, self._stride = sensor, math.ceil(duration_s / _KEEP_ALL_S)
        self._clouds: list[tuple[NDArray[np.float32], NDArray[np.int32]]] = []
        self._places: list[NDArray[np.float64]] = []
        self._counts: dict[int, int] = {}
        self._first: tuple[float, float] | None = None
        self._newest = (0.0, 0.0)

    def record(self, env: sn.Environment) -> None:
        """Take the sweeps of the environment's last step."""
        sensor = env.sensors[self._sensor]
        if not self.labels:
            self.labels = {**env.scene.labels, "ghost": 1 + max(env.scene.labels.values())}
            elevations = sensor.spec.model_dump()["pattern"]["elevation_deg"]
            self.elevation_deg = (min(elevations), max(elevations))
        for reading in sensor.readings():
            scan = by_cause(reading, self.labels)
            cloud = scan.flat()
            self._clouds.append((cloud.points[:: self._stride].astype(np.float32), cloud.label[:: self._stride]))
            self._places.append(scan.X_WS.position[:, 0, 0])
            self.last = scan
            self.sweeps, self.rays = self.sweeps + 1, self.rays + scan.range_m.size
            for label, count in zip(*np.unique(cloud.label, return_counts=True), strict=True):
                self._counts[int(label)] = self._counts.get(int(label), 0) + int(count)

            # The first ever compiles kernels, the first of a run builds search trees: rates count from then on
            self._newest = (ns_to_seconds(env.time_ns), time.perf_counter())
            self._first = self._first or self._newest

    @property
    def points_W(self) -> NDArray[np.float32]:
        """Points of all sweeps in the world frame [m], shape (n, 3); of a long drive not all."""
        return np.concatenate([points for points, _ in self._clouds])

    @property
    def point_label(self) -> NDArray[np.int32]:
        """Label number of each of them, shape (n,)."""
        return np.concatenate([label for _, label in self._clouds])

    @property
    def path_W(self) -> NDArray[np.float64]:
        """Path of the lidar [m], shape (k, 3)."""
        return np.concatenate(self._places)

    @property
    def returns(self) -> dict[str, int]:
        """Number of rays on each label."""
        return {name: self._counts.get(number, 0) for name, number in self.labels.items()}

    @property
    def since_first(self) -> tuple[int, float, float]:
        """Sweeps after the first, and their simulated and real time [s], recording included."""
        first = self._first or self._newest
        return max(self.sweeps - 1, 0), self._newest[0] - first[0], self._newest[1] - first[1]


def by_cause(scan: sn.Scan, labels: dict[str, int]) -> sn.Scan:
    """The scan with labels for returns that are no objects: ghosts, and fog."""
    if scan.light is None:
        return scan
    label = np.where(scan.cause == sn.Cause.REFLECTION, labels["ghost"], scan.label)
    return replace(scan, label=np.where(scan.cause == sn.Cause.ATMOSPHERE, labels["fog"], label).astype(np.int32))


NAMES = ("overview.png", "top_view.png", "range_image.png", "cloud.ply")
"""Files that `write` writes."""


def write(log: SweepLog, folder: Path) -> list[Path]:
    """Write the pictures and the last sweep's points into a folder that exists; returns the files."""
    from sensorium.view import label_colors, overview, range_image, save_figure, top_view

    assert log.last is not None, "a run has one sweep at least"
    scan, labels, points_W, point_label = log.last, log.labels, log.points_W, log.point_label
    files = [folder / name for name in NAMES]

    # Both views in one picture: the view ahead, cut from the middle of the sweep
    columns = scan.range_m.shape[1]
    margin = round(0.5 * columns * (1.0 - _AHEAD_DEG / 180.0))
    ahead = np.s_[:, margin : columns - margin]
    edge_deg = 180.0 * (1.0 - 2.0 * margin / columns)
    figure = overview(
        points_W,
        point_label,
        scan.range_m[ahead],
        scan.label[ahead],
        labels,
        path_W=log.path_W,
        extent_m=PICTURE_M,
        extent_deg=(edge_deg, -edge_deg, *log.elevation_deg),
    )
    save_figure(files[0], figure)

    # Each view alone, the sensor's own all the way round
    title = f"{ns_to_seconds(scan.end_ns):.1f} s of driving: {log.sweeps} sweeps from above"
    figure = top_view(points_W, point_label, labels, path_W=log.path_W, extent_m=PICTURE_M, title=title)
    save_figure(files[1], figure)
    all_round = (180.0, -180.0, *log.elevation_deg)
    figure = range_image(scan.range_m, scan.label, labels, extent_deg=all_round, title="The last sweep")
    save_figure(files[2], figure)

    # The last sweep as points, colored by label for viewers that show colors
    cloud = scan.flat()
    rgb = np.round(255.0 * label_colors(labels)[cloud.label]).astype(np.uint8)
    sn.record.save_ply_points(
        files[3],
        cloud.points.astype(np.float32),
        range=cloud.range_m,
        intensity=cloud.intensity,
        label=cloud.label,
        red=rgb[:, 0],
        green=rgb[:, 1],
        blue=rgb[:, 2],
    )
    return files
