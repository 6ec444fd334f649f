"""A closed mesh is closed: from inside, no ray gets out between two triangles."""

import numpy as np
import pytest

import sensorium as sn

CHUNK = 500_000


def sphere():
    return sn.shapes.sphere(10.0, subdivisions=6)


def lumpy():
    """Star-shaped, with long thin triangles: a sphere whose radius swings between 4 and 10 m."""
    mesh = sn.shapes.sphere(1.0, subdivisions=6)
    x, y, z = mesh.vertices.T
    radius = 7.0 + np.sin(9 * x + 2 * y) + np.sin(11 * y - z) + np.cos(13 * z + 5 * x)
    return sn.Mesh(mesh.vertices * radius[:, None], mesh.faces)


@pytest.mark.parametrize("chunks", [1, pytest.param(20, marks=pytest.mark.slow)], ids=["half-a-million", "ten-million"])
@pytest.mark.parametrize("make", [sphere, lumpy])
def test_rays_from_inside_all_hit(make, chunks):
    scene = sn.Scene()
    scene.add(make(), pose=sn.Pose((12.3, -4.5, 6.7), (0.9, 0.1, -0.3, 0.2)))
    caster = sn.RayCaster(scene)
    rng = np.random.default_rng(0)
    leaks = 0
    for _ in range(chunks):
        origins = np.array([12.3, -4.5, 6.7]) + rng.uniform(-2, 2, (CHUNK, 3))
        hits = caster.cast(origins, rng.standard_normal((CHUNK, 3)))
        leaks += int((~hits.hit).sum())
    assert leaks == 0
