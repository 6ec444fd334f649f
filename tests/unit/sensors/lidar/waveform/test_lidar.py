"""The waveform lidar as a sensor: readings, batches, threads, false alarms, what is kept."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.record import load_npz, save_npz
from sensorium.record.clouds.cloud import columns_of
from sensorium.runtime import worker_pool

FIELDS = ("range_m", "points", "intensity", "cause", "depth", "mirror_id", "object_id", "face_id", "label", "width_s")
PATTERN = sn.patterns.Spinning(elevation_deg=(-5.0, 0.0, 5.0), columns=100, rate_hz=10)


def room():
    scene = sn.Scene()
    scene.add(sn.shapes.box(24, 20, 10), material=sn.Lambertian(reflectance=0.5), label="room")
    scene.add(sn.shapes.box(1.0, 1.0, 3.0), body="crate", label="crate")
    return scene


def environment(worlds=1, **fields):
    path = sn.paths.Circle(center=(4, 0, 0), radius=2.0, rate=3.0)
    world = sn.worlds.Kinematic({"crate": path}, step_s=0.05)
    env = sn.Environment(room(), world, seed=2, worlds=worlds) if worlds > 1 else sn.Environment(room(), world, seed=2)
    spec = sn.Lidar(pattern=PATTERN, mode="waveform", max_range_m=30.0, **fields)
    return env, env.attach(spec)


def reading(**fields):
    env, lidar = environment(**fields)
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read(), lidar


def test_ranges_are_those_of_the_truth_but_for_noise_and_edges():
    scan, lidar = reading()
    truth = lidar.truth()
    assert scan.valid.mean() > 0.99
    off = np.abs(scan.range_m - truth.range_m)
    assert np.median(off) < 0.02
    assert (scan.label == truth.label).mean() > 0.95
    np.testing.assert_allclose(scan.points, scan.range_m[..., None] * PATTERN.rays().direction_S, rtol=1e-5, atol=1e-5)
    assert (scan.width_s[scan.valid] > 3e-9).all()
    assert scan.waveform is None


def test_the_bytes_do_not_depend_on_threads_and_noise_not_on_what_is_kept():
    scans = []
    before = worker_pool.get_threads()
    try:
        for count, keep in ((1, False), (3, False), (2, True)):
            worker_pool.set_threads(count)
            scans.append(reading(returns="dual", waveform=sn.waveform.Waveform(keep=keep))[0])
    finally:
        worker_pool.set_threads(before)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(scans[0], name), getattr(scans[1], name))
    # where all samples are looked at, noise may be found elsewhere, but surfaces are the same
    same = scans[0].range_m[0] == scans[2].range_m[0]
    assert same.mean() > 0.98
    assert scans[2].waveform.samples.shape[:2] == (3, 100)
    assert scans[2].waveform.range_m[-1] > 30.0


def test_worlds_and_sensors_have_axes_of_their_own():
    env, _ = environment(worlds=2)
    spec = sn.Lidar(pattern=PATTERN, mode="waveform", max_range_m=30.0, returns="all", waveform={"keep": True})
    lidar = env.attach(spec, pose=[sn.Pose(), sn.Pose((0.5, 0, 0))], name="two")
    for _ in env.run(duration_s=0.1):
        pass
    scan = lidar.read()
    assert scan.range_m.shape == (2, 2, 3, 3, 100)
    assert scan.width_s.shape == scan.range_m.shape
    assert scan.waveform.samples.shape[:4] == (2, 2, 3, 100)
    assert not np.array_equal(scan.waveform.samples[0, 0], scan.waveform.samples[1, 0])  # noise of their own
    void = scan.without(np.array([True, False]))
    assert not void.valid[0].any()
    assert void.waveform.samples[0].max() == 0.0
    np.testing.assert_array_equal(void.waveform.samples[1], scan.waveform.samples[1])


def test_noise_alone_gives_false_alarms_at_the_rate_of_the_receiver():
    """In an empty world, whether samples are kept and searched, or not."""
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(-5, 5, 20)), columns=500, rate_hz=10)
    for keep in (False, True):
        env = sn.Environment(sn.Scene(), seed=9)
        receiver = sn.Receiver(false_alarm_probability=0.05)
        waveform = sn.waveform.Waveform(keep=keep, rays=sn.waveform.Spiral(count=1), resolution_s=2e-9)
        spec = sn.Lidar(pattern=pattern, mode="waveform", max_range_m=60.0, receiver=receiver, waveform=waveform)
        lidar = env.attach(spec)
        for _ in env.run(duration_s=0.1):
            pass
        scan = lidar.read()
        assert scan.valid.mean() == pytest.approx(0.05, rel=0.2)
        assert (scan.cause[scan.valid] == sn.Cause.FALSE_ALARM).all()
        assert (scan.object_id == -1).all()
        places = scan.range_m[scan.valid]
        assert np.histogram(places, bins=4, range=(0.0, 60.0))[0].min() > 0.15 * len(places)


def test_returns_nearer_or_farther_than_the_limits_do_not_crowd_out_others():
    scene = sn.Scene()
    for x, y in ((3.0, -2.0), (20.0, 0.0)):
        scene.add(sn.shapes.box(0.1, 4.0, 4.0), pose=sn.Pose((x, y, 0)), material=sn.Lambertian(reflectance=0.5))
    env = sn.Environment(scene)
    pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
    lidar = env.attach(sn.Lidar(pattern=pattern, mode="waveform", min_range_m=5.0, max_range_m=50.0))
    for _ in env.run(duration_s=0.1):
        pass
    assert lidar.read().range_m[0, 0] == pytest.approx(19.95, abs=0.02)


def test_an_archive_gives_back_waveforms_and_clouds_have_widths(tmp_path):
    scan, _ = reading(waveform=sn.waveform.Waveform(keep=True))
    save_npz(tmp_path / "scan.npz", scan)
    back = load_npz(tmp_path / "scan.npz")
    np.testing.assert_array_equal(back.waveform.samples, scan.waveform.samples)
    assert (back.waveform.start_s, back.waveform.resolution_s) == (scan.waveform.start_s, scan.waveform.resolution_s)
    np.testing.assert_array_equal(back.width_s, scan.width_s)
    columns = columns_of(scan)
    np.testing.assert_array_equal(columns["width"], scan.width_s[scan.valid])
    assert scan.flat().waveform is None


def test_reported_numbers_can_be_calibrated_reflectivity():
    scan, _ = reading(
        intensity=sn.IntensityScale(kind="reflectivity"),
        receiver=sn.Receiver(noise_electrons=0.0),
        waveform=sn.waveform.Waveform(shot_noise=False, gain=3.0),
    )
    straight = np.abs(PATTERN.rays().direction_S[..., 0]) > 0.995
    assert np.median(scan.intensity[straight & (scan.label == 1)]) == pytest.approx(50, abs=2)
