"""Volumes that are clipped by planes against the same volumes traced: a glass box far away has all faces traced."""

import numpy as np
import pytest

import sensorium as sn


def fire(banks, position, directions, *, traced, **options):
    scene = sn.Scene()
    scene.add(sn.shapes.box(80, 80, 80), pose=sn.Pose(position), material=sn.Lambertian(reflectance=0.5))
    for size, pose, extinction in banks:
        scene.add(sn.shapes.box(*size), pose=pose, material=sn.media.uniform(extinction_per_m=extinction))
    if traced:
        scene.add(sn.shapes.box(1, 1, 1), pose=sn.Pose(position + 60.0), material=sn.Dielectric(refractive_index=1.5))
    x, y, z = directions.T
    pattern = sn.patterns.Table(
        azimuth_deg=tuple(np.rad2deg(np.arctan2(y, x))),
        elevation_deg=tuple(np.rad2deg(np.arctan2(z, np.hypot(x, y)))),
        time_s=(0.0,) * len(x),
        rate_hz=10,
    )
    env = sn.Environment(scene)
    spec = {"mode": "relative", "detection": None} | options
    lidar = env.attach(sn.Lidar(pattern=pattern, **spec), pose=sn.Pose(position))
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read()


@pytest.mark.parametrize("far_m", [0.0, 5000.0])
@pytest.mark.parametrize("seed", range(4))
def test_clipped_and_traced_volumes_dim_alike(seed, far_m):
    rng = np.random.default_rng(seed)
    position, banks = np.full(3, far_m), []
    for _ in range(rng.integers(1, 6)):
        turn = rng.normal(size=4)
        pose = sn.Pose(position + rng.uniform(-12, 12, 3), turn / np.linalg.norm(turn))
        banks.append((rng.uniform(3, 20, 3), pose, round(rng.uniform(0.005, 0.05), 3)))
    directions = rng.normal(size=(400, 3))
    clipped, traced = (fire(banks, position, directions, traced=way) for way in (False, True))
    np.testing.assert_array_equal(clipped.object_id, traced.object_id)
    np.testing.assert_allclose(clipped.range_m, traced.range_m, rtol=1e-6)
    np.testing.assert_allclose(clipped.intensity, traced.intensity, rtol=1e-4)
    assert clipped.intensity.max() > 1.2 * clipped.intensity.min()
