"""Drive round the yard, sense it, and write what was seen."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import sensorium as sn
from sensorium.clock import ns_to_seconds, seconds_to_ns
from sensorium.demo.yard import PICTURE_M, yard_scene, yard_world
from sensorium.errors import SpecError

SWEEP_RATE_HZ = 10.0
ELEVATION_DEG = (18.0, -25.0)
"""Of the lidar's top and bottom channel."""

# A drive up to this long keeps every point for the picture from above, a longer one every second, third, ...
_KEEP_ALL_S = 2.0

# Azimuths left and right of straight ahead that the overview shows
_AHEAD_DEG = 75.0


@dataclass(frozen=True)
class Drive:
    """What a drive saw, and what it cost."""

    points_W: NDArray[np.float32]
    """Points of all sweeps in the world frame [m], shape (n, 3)."""
    point_label: NDArray[np.int32]
    """Label number of each of them, shape (n,)."""
    path_W: NDArray[np.float64]
    """Where the lidar went [m], shape (k, 3)."""
    last: sn.Scan
    """The last sweep."""
    labels: dict[str, int]
    """Number of each label name."""
    returns: dict[str, int]
    """How many rays met each label."""
    sweeps: int
    rays: int
    simulated_s: float
    real_s: float
    """Wall-clock time that moving the world and sensing it took, without the kernels' first compilation."""

    @property
    def rays_per_s(self) -> float:
        """Rays cast in a second of real time."""
        return self.rays / self.real_s

    @property
    def real_time_factor(self) -> float:
        """Simulated time over real time."""
        return self.simulated_s / self.real_s


def lidar(channels: int = 128, columns: int = 2048) -> sn.Lidar:
    """A spinning lidar that looks ahead in the middle of its sweep and reports points in the world frame.

    It follows the light: intensity, ghosts, what is behind glass, fog and noise.

    Args:
        channels: Rows of a sweep.
        columns: Columns of a sweep.
    """
    return sn.Lidar(
        pattern=sn.patterns.Spinning(
            elevation_deg=tuple(np.linspace(*ELEVATION_DEG, channels)),
            columns=columns,
            rate_hz=SWEEP_RATE_HZ,
            start_azimuth_deg=180.0,
        ),
        max_range_m=120.0,
        frame="world",
        mode="relative",
        max_depth=3,
        threshold=1e-6,
        noise=sn.RangeNoise(base_m=0.01),
    )


def drive(
    seconds: float = 4.0,
    *,
    sensor: sn.Lidar | None = None,
    progress: Callable[[float, float], None] = lambda simulated_s, real_s: None,
) -> Drive:
    """Drive round the yard in thin fog, past window panes, a mirror and a fog bank.

    Args:
        seconds: How long, in simulated time [s]; at least one sweep.
        sensor: The lidar on the roof; by default 128 channels by 2048 columns.
        progress: Called after each step with the simulated and the real time spent so far [s].
    """
    if not 1.0 / SWEEP_RATE_HZ <= seconds < math.inf:
        raise SpecError(f"seconds is {seconds}; it must be finite and at least {1.0 / SWEEP_RATE_HZ}, one sweep")

    # The lidar rides on the van's roof and is told not to see the van
    scene = yard_scene()
    labels = {**scene.labels, "ghost": 1 + max(scene.labels.values())}
    environment = sn.Environment(scene, yard_world(), atmosphere=sn.media.fog(visibility_m=300.0), seed=1)
    roof = environment.attach(
        lidar() if sensor is None else sensor,
        body="van",
        pose=sn.Pose(position=(0.0, 0.0, 2.35)),
        name="roof",
        hide=("van",),
    )

    # One sweep ahead of the clock: the first ever compiles kernels, the first of a run builds search trees
    for _ in environment.run(1.0 / SWEEP_RATE_HZ):
        pass

    clouds, places, real_s = [], [], 0.0
    sweeps, rays, returns = 0, 0, np.zeros(1 + max(labels.values()), np.int64)
    stride = math.ceil(seconds / _KEEP_ALL_S)
    start_ns, end_ns = environment.time_ns, environment.time_ns + seconds_to_ns(seconds)
    while environment.time_ns < end_ns:
        began_s = time.perf_counter()
        environment.step()
        real_s += time.perf_counter() - began_s

        for scan in roof.readings():
            cloud = by_cause(scan, labels).flat()
            clouds.append((cloud.points[::stride].astype(np.float32), cloud.label[::stride]))
            places.append(scan.X_WS.position[:, 0, 0])
            sweeps, rays = sweeps + 1, rays + scan.range_m.size
            returns += np.bincount(cloud.label, minlength=len(returns))
        progress(ns_to_seconds(environment.time_ns - start_ns), real_s)

    return Drive(
        points_W=np.concatenate([points for points, _ in clouds]),
        point_label=np.concatenate([label for _, label in clouds]),
        path_W=np.concatenate(places),
        last=by_cause(roof.read(), labels),
        labels=labels,
        returns={name: int(returns[number]) for name, number in labels.items()},
        sweeps=sweeps,
        rays=rays,
        simulated_s=ns_to_seconds(environment.time_ns - start_ns),
        real_s=real_s,
    )


def by_cause(scan: sn.Scan, labels: dict[str, int]) -> sn.Scan:
    """The scan with returns that are no things labelled as what they are: ghosts, and fog."""
    if scan.light is None:
        return scan
    label = np.where(scan.cause == sn.Cause.REFLECTION, labels["ghost"], scan.label)
    return replace(scan, label=np.where(scan.cause == sn.Cause.ATMOSPHERE, labels["fog"], label).astype(np.int32))


def write(result: Drive, folder: Path) -> list[Path]:
    """Write the pictures and the last sweep's points into a folder that exists; returns the files."""
    from sensorium.view import label_colours, overview, range_image, save, top_view

    scan, labels = result.last, result.labels
    files = [folder / name for name in ("overview.png", "top_view.png", "range_image.png", "cloud.ply")]

    # Both views in one picture: what lies ahead, cut from the middle of the sweep
    columns = scan.range_m.shape[1]
    margin = round(0.5 * columns * (1.0 - _AHEAD_DEG / 180.0))
    ahead = np.s_[:, margin : columns - margin]
    edge_deg = 180.0 * (1.0 - 2.0 * margin / columns)
    figure = overview(
        result.points_W,
        result.point_label,
        scan.range_m[ahead],
        scan.label[ahead],
        labels,
        path_W=result.path_W,
        extent_m=PICTURE_M,
        extent_deg=(edge_deg, -edge_deg, ELEVATION_DEG[1], ELEVATION_DEG[0]),
    )
    save(figure, files[0])

    # Each view alone, the sensor's own all the way round
    title = f"{result.simulated_s:.1f} s of driving: {result.sweeps} sweeps from above"
    figure = top_view(
        result.points_W, result.point_label, labels, path_W=result.path_W, extent_m=PICTURE_M, title=title
    )
    save(figure, files[1])
    all_round = (180.0, -180.0, ELEVATION_DEG[1], ELEVATION_DEG[0])
    figure = range_image(scan.range_m, scan.label, labels, extent_deg=all_round, title="The last sweep")
    save(figure, files[2])

    # The last sweep as points, coloured by label for viewers that show colours
    cloud = scan.flat()
    rgb = np.round(255.0 * label_colours(labels)[cloud.label]).astype(np.uint8)
    sn.record.write_ply(
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
