"""Shots that several checks fire: one lidar in a small scene, rays in the plane z = 0."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import sensorium as sn

# The detector catches everything, so that intensities are f cos(theta) itself
OPEN_BEAM = {"half_divergence_rad": 1e-4, "exit_radius_m": 0.01, "detector_radius_m": 1.0}


def sheet(center: ArrayLike, normal: ArrayLike, size_m: float = 20.0) -> sn.Mesh:
    """A square of two triangles, exactly where it should be."""
    n = np.asarray(normal, float) / np.linalg.norm(normal)
    a = np.cross(n, (0.0, 1.0, 0.0) if abs(n[1]) < 0.9 else (1.0, 0.0, 0.0))
    a /= np.linalg.norm(a)
    b = np.cross(n, a)
    corners = [np.asarray(center) + size_m / 2 * (x * a + y * b) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return sn.Mesh(np.array(corners), np.array([[0, 1, 2], [0, 2, 3]]))


def wall(distance_m: float, material: Any = None, size_m: float = 300.0) -> sn.Scene:
    """A square wall across the x axis."""
    scene = sn.Scene()
    scene.add(sheet((distance_m, 0, 0), (-1, 0, 0), size_m), material=material)
    return scene


def objects(*things: tuple[sn.Mesh, Any]) -> sn.Scene:
    """A scene of meshes with their materials."""
    scene = sn.Scene()
    for mesh, material in things:
        scene.add(mesh, material=material)
    return scene


def fire(
    scene: sn.Scene,
    azimuth_deg: Sequence[float] = (0.0,),
    *,
    atmosphere: Any = None,
    sun: Any = None,
    seed: int = 0,
    **options: Any,
) -> sn.Scan:
    """One sweep of a lidar at the origin."""
    zeros = (0.0,) * len(azimuth_deg)
    pattern = sn.patterns.Table(azimuth_deg=tuple(azimuth_deg), elevation_deg=zeros, time_s=zeros, rate_hz=10)
    env = sn.Environment(scene, atmosphere=atmosphere, sun=sun, seed=seed)
    fields: dict[str, Any] = {"pattern": pattern, "mode": "relative", "beam": sn.Beam(**OPEN_BEAM)}
    fields = fields | {"detection": None} | options
    lidar = env.attach(sn.Lidar(**fields))
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read()


def along_x(scene: sn.Scene, *, rays: int, **options: Any) -> sn.Scan:
    """The same ray along x, many times."""
    return fire(scene, (0.0,) * rays, **options)
