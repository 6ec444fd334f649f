"""The scene of the speed figures: hills and spheres, 1.3 million triangles, made in code."""

import numpy as np

from sensorium.scene import shapes
from sensorium.scene.mesh import Mesh

_SIDE_M = 200.0


def terrain(points_per_side: int = 708, *, spheres: int = 60, seed: int = 0) -> Mesh:
    """Rolling ground 200 m square with spheres standing on it, as one mesh.

    Args:
        points_per_side: Grid points along each side; 708 gives a million ground triangles.
        spheres: How many spheres of 5,120 triangles to scatter (those too near the middle are left out).
        seed: Of the hills and the places.
    """
    rng = np.random.default_rng(seed)

    # Hills: a sum of forty plane waves
    axis = np.linspace(-_SIDE_M / 2, _SIDE_M / 2, points_per_side)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    height = np.zeros_like(x)
    for _ in range(40):
        kx, ky = rng.normal(size=2) * 0.15
        height += rng.uniform(0.05, 0.3) * np.sin(kx * x + ky * y + rng.uniform(0.0, 2 * np.pi))
    pieces = [shapes.heightfield(height, _SIDE_M, _SIDE_M)]

    # Spheres, clear of the sensor in the middle
    ball = shapes.sphere(1.0, subdivisions=4)
    for _ in range(spheres):
        place, radius = rng.uniform(-60.0, 60.0, 2), rng.uniform(0.5, 3.0)
        if np.hypot(*place) > 6.0:
            pieces.append(Mesh(ball.vertices * radius + [*place, radius], ball.faces))
    return Mesh.merge(pieces)
