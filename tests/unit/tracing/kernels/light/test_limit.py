"""Returns too weak to be detected: the law of their share, and draws that belong to ray, sweep and seed."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.runtime import worker_pool
from sensorium.sensors.lidar.limit_tables import relative_limit

RAYS = 64 * 500
PATTERN = sn.patterns.Raster(
    height=64, width=RAYS // 64, horizontal_fov_deg=(-1e-6, 1e-6), vertical_fov_deg=(-1e-6, 1e-6), rate_hz=10
)
LIMIT = sn.DetectionLimit(reflectance=0.1, range_m=40.0, second=sn.StatedRange(reflectance=0.8, range_m=80.0))


def fire(*walls, seed=0, atmosphere=None, **options):
    """The same ray along x at walls of some materials and distances, many times."""
    scene = sn.Scene()
    for material, distance_m in walls:
        scene.add(sn.shapes.box(1, 60, 60), pose=sn.Pose((distance_m + 0.5, 0, 0)), material=material)
    env = sn.Environment(scene, seed=seed, atmosphere=atmosphere)
    sensor = env.attach(sn.Lidar(**{"pattern": PATTERN, "mode": "relative", "detection": LIMIT} | options))
    for _ in env.run(duration_s=0.1):
        pass
    return sensor.read()


@pytest.mark.parametrize(
    ("reflectance", "distance_m"), [(0.1, 40.0), (0.1, 45.0), (0.5, 70.0), (0.8, 80.0), (0.8, 92.0)]
)
def test_the_share_of_returns_is_that_of_the_law(reflectance, distance_m):
    found = relative_limit(sn.Lidar(pattern=PATTERN, mode="relative", detection=LIMIT))
    intensity = reflectance / np.pi * sn.Beam().captured(distance_m)
    p = float(sn.optics.detection_probability(intensity, noise=found.noise(reflectance), ratio=found.ratio))
    assert 0.02 < p < 0.98
    share = fire((sn.Lambertian(reflectance=reflectance), distance_m)).valid.mean()
    assert share == pytest.approx(p, abs=4.5 * np.sqrt(p * (1 - p) / RAYS))


def test_strong_returns_are_certain_and_hopeless_ones_never_seen():
    bright, dark = sn.Lambertian(reflectance=0.8), sn.Lambertian(reflectance=0.01)
    assert fire((bright, 30.0)).valid.all()
    assert not fire((dark, 45.0)).valid.any()
    assert fire((dark, 45.0), detection=None).valid.all()


def test_what_is_behind_glass_obeys_the_same_law():
    """A pane askew returns nothing itself; what is behind it is detected by what is left of its light."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(20.0), pose=sn.Pose.from_euler_deg((10, 0, 0), pitch=40), material=sn.ThinGlass())
    scene.add(sn.shapes.box(1, 60, 60), pose=sn.Pose((38.5, 0, 0)), material=sn.Lambertian(reflectance=0.1))
    scans = {}
    for returns, detection in (("strongest", None), ("strongest", LIMIT), ("last", LIMIT), ("dual", LIMIT)):
        env = sn.Environment(scene)
        options = {"mode": "relative", "max_depth": 1, "returns": returns, "detection": detection}
        sensor = env.attach(sn.Lidar(pattern=PATTERN, **options))
        for _ in env.run(duration_s=0.1):
            pass
        scans[returns if detection else "all"] = sensor.read()
    everything, seen = scans["all"], scans["strongest"]
    assert (everything.cause == sn.Cause.TRANSMISSION).all()
    found = relative_limit(sn.Lidar(pattern=PATTERN, mode="relative", detection=LIMIT))
    intensity = everything.intensity.mean()
    p = float(sn.optics.detection_probability(intensity, noise=found.noise(0.1), ratio=found.ratio))
    assert 0.1 < p < 0.9
    assert seen.valid.mean() == pytest.approx(p, abs=4.5 * np.sqrt(p * (1 - p) / RAYS))
    np.testing.assert_array_equal(scans["last"].valid, seen.valid)
    np.testing.assert_array_equal(scans["dual"].valid[0], seen.valid)
    assert not scans["dual"].valid[1].any()


def test_weak_air_is_not_seen():
    fog = sn.media.fog(visibility_m=50.0, gamma_probability=1.0)
    seen = fire(atmosphere=fog, detection={"reflectance": 0.1, "range_m": 60.0})
    everything = fire(atmosphere=fog, detection=None)
    assert everything.valid.all()
    assert 0.05 < seen.valid.mean() < 0.95
    assert seen.range_m[seen.valid].mean() < everything.range_m.mean()
    np.testing.assert_array_equal(seen.range_m[seen.valid], everything.range_m[seen.valid])


def test_a_threshold_counts_beside_the_limit():
    wall = (sn.Lambertian(reflectance=0.1), 40.0)
    strength = fire(wall, detection=None).intensity.max()
    assert not fire(wall, threshold=1.01 * float(strength)).valid.any()
    np.testing.assert_array_equal(fire(wall, threshold=0.99 * float(strength)).valid, fire(wall).valid)


def test_draws_are_those_of_ray_sweep_and_seed():
    wall = (sn.Lambertian(reflectance=0.1), 43.0)
    first = fire(wall).valid
    before = worker_pool.get_threads()
    try:
        worker_pool.set_threads(1)
        alone = fire(wall).valid
    finally:
        worker_pool.set_threads(before)
    np.testing.assert_array_equal(first, alone)
    other = fire(wall, seed=1).valid
    agree, p = (first == other).mean(), first.mean()
    assert agree == pytest.approx(p * p + (1 - p) * (1 - p), abs=0.02)
    # the limit has numbers of its own: noise stays as it was
    noise = {"noise": sn.RangeNoise(base_m=0.01)}
    noisy, all_noisy = fire(wall, **noise), fire(wall, detection=None, **noise)
    np.testing.assert_array_equal(noisy.valid, first)
    np.testing.assert_array_equal(noisy.range_m[first], all_noisy.range_m[first])
