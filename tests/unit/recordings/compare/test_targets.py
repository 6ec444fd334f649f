"""Targets of a recording: where it saw surfaces, without its noise, and no target in another's way."""

import numpy as np

import sensorium as sn
from sensorium.recordings.compare.targets import target_mesh, targets_of
from sensorium.recordings.measure.lidar_rays import rays_of
from tests.unit.recordings.measure.scenes import ELEVATION, room

PATTERN = sn.patterns.Spinning(elevation_deg=tuple(np.degrees(ELEVATION)), columns=1200, rate_hz=10)


def test_means_of_turns_are_the_walls_without_noise_and_lost_returns_are_filled():
    silent = room(rng=np.random.default_rng(1), noise_m=0.0, turns=1, is_locked=True)
    noisy = room(rng=np.random.default_rng(1), noise_m=0.02, turns=4, drop=0.02, is_locked=True)
    ideal = targets_of(silent, 1200, is_still=True)
    for turns, most in ((4, 0.006), (1, 0.012)):
        targets = targets_of(noisy.of_turns(0, turns), 1200, is_still=turns > 1)
        there = targets.range_m > 0.0
        assert there.mean() > (0.999 if turns > 1 else 0.998)
        error = (targets.range_m - ideal.range_m)[there]
        # corners of the room are not smooth
        assert np.quantile(np.abs(error), 0.68) < most
        assert abs(error.mean()) < 1e-3
        # where walls of two reflectivities meet, one turn gives the mean of neighbors
        same = np.abs(targets.reflectance - ideal.reflectance)[there] < 1e-6
        assert same.mean() > (0.9999 if turns > 1 else 0.97)


def test_each_ray_hits_its_own_target_with_its_reflectance():
    rng = np.random.default_rng(2)
    targets = targets_of(room(rng=rng, turns=2, is_locked=True), 1200, is_still=True)
    targets.range_m[:] = np.where(rng.random(targets.range_m.shape) < 0.1, 0.0, rng.uniform(1.0, 90.0, (16, 1200)))
    scene = sn.Scene()
    scene.add(target_mesh(PATTERN.rays(0), targets), material=sn.Lambertian(reflectance="reflectance"))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1))
    shown = {"intensity": {"kind": "reflectivity"}, "detection": None}
    lidar = env.attach(sn.Lidar(pattern=PATTERN, mode="relative", **shown))
    env.step()
    scan = lidar.read()
    np.testing.assert_allclose(scan.range_m, targets.range_m, rtol=2e-6, atol=1e-5)
    there = targets.range_m > 0.0
    np.testing.assert_array_equal(scan.intensity[there], np.rint(100.0 * targets.reflectance[there]))


def test_targets_of_one_turn_leave_no_noise_to_the_windows_of_measure():
    noise_m = 0.02
    turn = room(rng=np.random.default_rng(3), noise_m=noise_m, turns=1, is_locked=True)
    for columns in (1200, 1024):
        targets = targets_of(turn, columns, is_still=False)
        ring = turn._replace(
            azimuth=2.0 * np.pi * np.arange(columns) / columns,
            range_m=targets.range_m.T[..., None].astype(np.float32),
            reflectivity=np.zeros((columns, 16, 1), np.uint8),
        )
        around = np.lib.stride_tricks.sliding_window_view(targets.range_m, 9, 1)[rays_of(ring).is_smooth[4:-4].T]
        place = np.arange(9.0)
        left_m = np.array([each - np.polyval(np.polyfit(place, each, 2), place) for each in around[::23]])
        # Windows over corners of the room are among them
        assert np.median(np.sqrt(np.sum(left_m**2, axis=1) / 6.0)) < 0.1 * noise_m


def test_edges_stay_as_they_were():
    silent = room(rng=np.random.default_rng(4), noise_m=0.0, turns=1, is_locked=True)
    columns = np.arange(1200)
    range_m = np.where((columns // 100) % 2 == 0, 4.0, 5.0)[:, None, None] + 1e-6 * columns[:, None, None] ** 2
    range_m = np.broadcast_to(range_m, silent.range_m.shape)
    targets = targets_of(silent._replace(range_m=range_m.astype(np.float32)), 1200, is_still=False)
    np.testing.assert_allclose(targets.range_m, range_m[:, :, 0].T, atol=1e-5)
