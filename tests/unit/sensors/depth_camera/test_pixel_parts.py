"""Light of parts of pixels, against the same rays cast by the ray caster and mixed in float64."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.imaging.depth_errors import FlyingPixels, StereoError, TimeOfFlightError
from sensorium.runtime import worker_pool

WORLDS, FOCAL_PX, WIDTH, HEIGHT = 3, 20.0, 29, 17
PATTERN = sn.patterns.Pinhole(width=WIDTH, height=HEIGHT, focal_px=(FOCAL_PX, FOCAL_PX), rate_hz=10.0)
POSES = (sn.Pose((0.0, 0.0, 1.0)), sn.Pose.look_at((1.0, -2.0, 1.5), (-1.0, 1.5, 0.6), up=(0.1, 0.2, 1.0)))
FAR_M = 100.0


@pytest.fixture(scope="module")
def scene_and_reflectances():
    rng, scene, reflectances = np.random.default_rng(8), sn.Scene(), []
    for number in range(30):
        shape = sn.shapes.box(0.5, 0.5, 1.5) if number % 2 else sn.shapes.sphere(0.4, subdivisions=2)
        reflectances.append(rng.uniform(0.1, 0.9))
        place = sn.Pose((*rng.uniform(-6.0, 6.0, 2), rng.uniform(0.0, 2.0)))
        scene.add(shape, pose=place, material=sn.Lambertian(reflectance=reflectances[-1]))
    return scene, np.array(reflectances)


def ranges(scene, *errors):
    """Of two cameras in each of several worlds: (worlds, cameras, rows, columns)."""
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), worlds=WORLDS, seed=3)
    spec = sn.DepthCamera(pattern=PATTERN, outputs={"range"}, errors=errors, min_range_m=0.01, max_range_m=FAR_M)
    camera = env.attach(spec, pose=POSES)
    env.step()
    return camera.read().range_m


def mixed_by_hand(scene, reflectances, rays):
    """Ranges of pixels by the law, (cameras, rows, columns), infinite where no ray meets anything."""
    u, v = np.meshgrid(np.arange(WIDTH * rays), np.arange(HEIGHT * rays))
    right = ((u + 0.5) / rays - 0.5 * WIDTH) / FOCAL_PX
    down = ((v + 0.5) / rays - 0.5 * HEIGHT) / FOCAL_PX
    look = np.stack([np.ones_like(right), -right, -down], axis=-1)
    look /= np.linalg.norm(look, axis=-1, keepdims=True)
    images = []
    for X_WS in POSES:
        look_W = X_WS.rotate(look)
        hits = sn.RayCaster(scene).cast(np.broadcast_to(X_WS.position, look_W.shape), look_W)
        r = np.where(hits.hit, hits.range_m, 1.0).astype(np.float64)
        cosine = np.abs((hits.normal * look_W).sum(axis=-1))
        weight = np.where(hits.hit, reflectances[hits.object_id] * cosine / r**2, 0.0)
        total, weighted = (array.reshape(HEIGHT, rays, WIDTH, rays).sum(axis=(1, 3)) for array in (weight, weight * r))
        images.append(np.where(total > 0.0, weighted / np.where(total > 0.0, total, 1.0), np.inf))
    return np.array(images)


@pytest.mark.parametrize("rays", [2, 3, 16])
def test_pixels_mix_the_rays_over_them_by_the_law(scene_and_reflectances, rays):
    """16 x 16 rays leave two pixels to a block, 3 x 3 rays 56, which end within rows."""
    scene, reflectances = scene_and_reflectances
    found, expected = ranges(scene, FlyingPixels(rays=rays)), mixed_by_hand(scene, reflectances, rays)
    assert np.isfinite(expected).mean() > 0.2
    assert np.isinf(expected).any()
    expected = np.minimum(expected, FAR_M)
    for world in range(WORLDS):
        off = np.abs(found[world] - expected) > 1e-4 * expected
        assert off.mean() < 2e-3  # a ray at the very edge of a thing may fall on either side


def test_a_pixel_without_a_measurement_gets_none_by_mixing(scene_and_reflectances):
    scene, _ = scene_and_reflectances
    eyes = StereoError(baseline_m=0.3, disparity_std_px=0.0)
    lost = ranges(scene, eyes) == 0.0
    mixed = ranges(scene, eyes, FlyingPixels(rays=3)) == 0.0
    assert lost.any()
    assert mixed[lost].all()
    assert not mixed[~lost].any()


def test_bytes_are_the_same_on_any_number_of_threads(scene_and_reflectances):
    scene, _ = scene_and_reflectances
    error, before, images = TimeOfFlightError(modulation_hz=1e7, signal_e=1e4, rays=3), worker_pool.get_threads(), []
    try:
        for count in (1, 2, 5):
            worker_pool.set_threads(count)
            images.append(ranges(scene, error))
    finally:
        worker_pool.set_threads(before)
    np.testing.assert_array_equal(images[0], images[1])
    np.testing.assert_array_equal(images[0], images[2])
