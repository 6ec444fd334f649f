"""Casting into a scene of parts, a process each, against one process with as many threads."""

import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import sensorium as sn
from sensorium.qa.benchmarks.scenes import terrain
from sensorium.qa.benchmarks.timing import Spread, ratio, spread
from sensorium.runtime import worker_pool
from sensorium.tracing.partitioned.part import PartReport


class PartsFigures(NamedTuple):
    """Measured figures."""

    speed: float
    """Rate of the parts over that of one process."""
    whole: Spread
    """Rays per second of one process."""
    parts: Spread
    """Rays per second of the parts."""
    mesh_bytes: int
    """Vertices and faces of the whole scene."""
    reports: tuple[PartReport, ...]
    """Time of each part."""
    other_faces: int
    """Rays that gave another face than one process: they hit an edge."""
    other_ranges: int
    """Rays whose range had other bytes."""


def against_one_process(
    *, triangles: int = 10_000_000, rays: int = 1_000_000, parts: int = 2, rounds: int = 5
) -> PartsFigures:
    """Rates of a scene of parts on this machine, a core each, and of one process with a thread for each part.

    Args:
        triangles: Of the ground, roughly.
        rays: Of a spinning scan from above its middle.
        parts: How many.
        rounds: Of timing.
    """
    mesh = terrain(round((triangles / 2) ** 0.5) + 1, spheres=0)
    scene = sn.Scene()
    scene.add(mesh)
    origin, directions = np.array([0.0, 3.0, 2.5]), _scan(rays)
    before = worker_pool.get_threads()
    with tempfile.TemporaryDirectory(prefix="sensorium-") as folder, sn.cluster.joined(cpus=parts):
        sn.split_scene(scene.objects, Path(folder) / "parts", parts=parts)
        worker_pool.set_threads(parts)
        try:
            whole = sn.RayCaster(scene)
            with sn.PartitionedCaster(Path(folder) / "parts") as caster:
                expected, found = whole.cast(origin, directions), caster.cast(origin, directions)
                same = found.face_id == expected.face_id
                return PartsFigures(
                    speed=ratio(
                        lambda: caster.cast(origin, directions), lambda: whole.cast(origin, directions), rounds=rounds
                    ),
                    whole=spread(lambda: whole.cast(origin, directions), rounds=rounds).rate(rays),
                    parts=spread(lambda: caster.cast(origin, directions), rounds=rounds).rate(rays),
                    mesh_bytes=mesh.vertices.nbytes + mesh.faces.nbytes,
                    reports=caster.reports(),
                    other_faces=int((~same).sum()),
                    other_ranges=int((found.range_m != expected.range_m).sum()),
                )
        finally:
            worker_pool.set_threads(before)


def _scan(rays: int) -> NDArray[np.float64]:
    """Directions of a spinning lidar of 128 channels, column after column, shape (rays, 3)."""
    number = np.arange(rays)
    elevation = np.radians(22.5 - 45.0 * (number % 128) / 127)
    azimuth = 2 * np.pi * (number // 128) / -(-rays // 128)
    level = np.cos(elevation)
    return np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], axis=-1)
