"""Measuring distances as a camera does: limits, units and noise, against NumPy on a wall at a known distance."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.sensors.depth_camera.measuring import _numbers

LENS = sn.patterns.Pinhole.from_fov(12, 8, 90.0, rate_hz=10)
AXIAL = LENS.rays().direction_S[..., 0]


def reading(distance_m, **fields):
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 400.0, 400.0), pose=sn.Pose((distance_m + 0.5, 0.0, 0.0)))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), seed=3)
    camera = env.attach(sn.DepthCamera(pattern=LENS, outputs={"depth", "range"}, **fields))
    while not camera.fresh:
        env.step()
    return camera


@pytest.mark.parametrize("seed", range(8))
def test_ranges_outside_the_limits_have_the_values_of_the_specification(seed):
    rng = np.random.default_rng(seed)
    distance_m, least, most = rng.uniform(3.0, 20.0), rng.uniform(2.0, 12.0), rng.uniform(12.0, 30.0)
    limits = {"min_range_m": least, "max_range_m": most}
    values = {"near_value_m": -2.5, "far_value_m": 77.0, "normalize": False}
    noisy = reading(distance_m, noise={"multiplier": 0.02, "dropout": 0.1}, **limits, **values)
    image, truth = reading(distance_m, **limits, **values).read(), noisy.truth()
    range_m = distance_m / AXIAL
    for found, wanted in (("range", range_m), ("depth", np.full_like(range_m, distance_m))):
        wanted = np.where(range_m < least, -2.5, np.where(range_m > most, 77.0, wanted))
        np.testing.assert_allclose(image.images[found], wanted, rtol=2e-6)
        np.testing.assert_array_equal(truth.images[found], image.images[found])
    assert (noisy.read().images["range"] != image.images["range"]).any()


def test_rays_reach_as_far_as_noise_may_bring_a_range_back():
    *_, quiet_m = _numbers(sn.DepthCamera(pattern=LENS, max_range_m=30.0))
    *_, noisy_m = _numbers(sn.DepthCamera(pattern=LENS, max_range_m=30.0, noise={"multiplier": 0.01}))
    *_, loud_m = _numbers(sn.DepthCamera(pattern=LENS, max_range_m=30.0, noise={"multiplier": 0.5}))
    assert quiet_m == 30.0
    assert 31.0 < noisy_m < 40.0
    assert np.isinf(loud_m)
