"""Limits of range act on what is reported, with its errors: in every mode, for every return, whatever the noise."""

import numpy as np
import pytest
from scipy import stats

import sensorium as sn
from sensorium.sensors.lidar.range_limits import RangeLimits, range_limits

MODES = ("geometric", "relative", "radiometric", "waveform")
PATTERN = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(12, -12, 8)), columns=128, rate_hz=10)
RAYS = 4000


def line(count=RAYS):
    """The same ray, many times."""
    return sn.patterns.Table(
        azimuth_deg=(0.0,) * count, elevation_deg=(0.0,) * count, time_s=(0.0,) * count, rate_hz=10
    )


def house():
    """A closed room in which mirrors and panes stand, one of them right before the sensor."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(20, 16, 6), label="room", material=sn.Lambertian(reflectance=0.6))
    for yaw, near in ((10, 0.4), (130, 3.0), (250, 5.0)):
        place = sn.Pose.from_euler_deg((0, 0, 0), yaw=yaw).apply((near, 0.0, 0.0))
        pane = sn.Pose.from_euler_deg(place, pitch=80, yaw=yaw)
        scene.add(sn.shapes.plane(3, 3), pose=pane, material=sn.ThinGlass(), label="pane")
    scene.add(
        sn.shapes.box(0.1, 4, 3), pose=sn.Pose.from_euler_deg((6, 5, 0), yaw=60), material=sn.Mirror(reflectance=0.9)
    )
    return scene


def wall(distance_m):
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 50, 50), pose=sn.Pose((distance_m + 0.5, 0, 0)), label="wall")
    return scene


def scanned(scene, seed=0, **fields):
    """One sweep of a lidar that drives and turns, and its handle."""
    world = sn.worlds.Kinematic({"robot": sn.paths.Spin(position=(0, 0.1, 0), axis=(0, 0, 1), rate=1.0)}, step_s=0.02)
    env = sn.Environment(scene, world, seed=seed)
    lidar = env.attach(sn.Lidar(**{"pattern": PATTERN} | fields), body="robot", name="top")
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read(), lidar


def random_noise(rng):
    """Noise from none to far more than any lidar has."""
    return sn.RangeNoise(
        base_m=rng.choice([0.0, 0.01, 0.5]),
        slope=rng.choice([0.0, 1e-3, 0.1]),
        square_per_m=rng.choice([0.0, 1e-3]),
        bias_m=rng.choice([0.0, -1.0, 1.0, -30.0]),
        angle_std_rad=rng.choice([0.0, 5e-3]),
        dropout=rng.choice([0.0, 0.2]),
    )


def check(scan, least_m, most_m):
    """Every return lies between the limits and above 0; what is none has nothing."""
    reported = scan.range_m[scan.valid]
    assert (reported > 0.0).all()
    assert (reported >= np.float32(least_m)).all()
    assert (reported <= np.float32(most_m) * np.float32(1 + 1e-7)).all()
    none = ~scan.valid
    for name in ("range_m", "points", "depth"):
        assert not getattr(scan, name)[none].any(), name
    for name in ("object_id", "face_id", "label", "mirror_id"):
        assert (getattr(scan, name)[none] == -1).all(), name
    assert (scan.cause[none] == sn.Cause.NONE).all()
    assert not scan.intensity[none].any()
    assert scan.width_s is None or not scan.width_s[none].any()


@pytest.mark.parametrize("frame", ["sensor", "world"])
@pytest.mark.parametrize("mode", MODES)
def test_no_range_outside_the_limits_is_reported(mode, frame):
    rng, scene = np.random.default_rng(5), house()
    counts = []
    for _ in range(12):
        least_m, most_m = rng.choice([0.0, 0.5, 3.0]), rng.choice([4.0, 9.0, 1000.0])
        light = {"returns": rng.choice(["strongest", "first", "last", "dual", "all"]), "max_depth": 2}
        fields = light if mode != "geometric" else {}
        errors = (sn.corruption.Quantize(lsb=0.3), sn.corruption.Bias(rng.normal()))
        scan, lidar = scanned(
            scene,
            seed=int(rng.integers(100)),
            mode=mode,
            frame=frame,
            noise=random_noise(rng),
            errors=errors if rng.random() < 0.4 else (),
            min_range_m=least_m,
            max_range_m=most_m,
            **fields,
        )
        check(scan, least_m, most_m)
        check(lidar.truth(), least_m, most_m)
        counts.append(scan.valid.mean())
    assert max(counts) > 0.5
    assert len(set(counts)) > 6


@pytest.mark.parametrize("mode", ["geometric", "relative"])
def test_limits_take_from_a_scan_without_limits_what_lies_outside(mode):
    """The same draws, so the same ranges: also of surfaces beyond the greatest range that noise brings within it."""
    rng, scene, brought_in = np.random.default_rng(6), sn.Scene(), 0
    scene.add(sn.shapes.box(20, 16, 6), label="room")
    for _ in range(8):
        noise = sn.RangeNoise(
            base_m=rng.uniform(0, 0.3),
            slope=rng.uniform(0, 0.02),
            bias_m=rng.normal(),
            angle_std_rad=rng.choice([0.0, 3e-3]),
            dropout=rng.choice([0.0, 0.3]),
        )
        seed, least_m, most_m = int(rng.integers(1000)), rng.uniform(0.5, 6.0), rng.uniform(7.0, 12.0)
        endless, lidar = scanned(scene, seed=seed, mode=mode, noise=noise)
        limited, _ = scanned(scene, seed=seed, mode=mode, noise=noise, min_range_m=least_m, max_range_m=most_m)
        inside = endless.valid & (endless.range_m >= np.float32(least_m)) & (endless.range_m <= np.float32(most_m))
        np.testing.assert_array_equal(limited.valid, inside)
        for name in ("range_m", "points", "object_id", "face_id"):
            np.testing.assert_array_equal(getattr(limited, name)[inside], getattr(endless, name)[inside])
        brought_in += int((inside & (lidar.truth().range_m > most_m)).sum())
    assert brought_in > 100


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("end", ["least", "most"])
@pytest.mark.parametrize("sigmas", [-1.0, 0.5, 2.0])
def test_share_of_a_wall_at_a_limit_that_is_reported(mode, end, sigmas):
    """A wall so many sigma outside the limit is reported by the share of a normal law that reaches inside."""
    sigma_m, limit_m = 0.2, 12.0
    distance_m = limit_m + sigma_m * sigmas * (1 if end == "most" else -1)
    limits = {"max_range_m": limit_m} if end == "most" else {"min_range_m": limit_m, "max_range_m": 30.0}
    env = sn.Environment(wall(distance_m), seed=3)
    silent = {"receiver": {"false_alarm_probability": 1e-9}} if mode in ("radiometric", "waveform") else {}
    spec = sn.Lidar(pattern=line(), mode=mode, noise=sn.RangeNoise(base_m=sigma_m), **limits, **silent)
    lidar = env.attach(spec)
    for _ in env.run(duration_s=0.1):
        pass
    seen, expected = int(lidar.read().valid.sum()), stats.norm.sf(sigmas)
    low, high = stats.binom.interval(1 - 1e-5, RAYS, expected)
    assert low - 1 <= seen <= high + 1


@pytest.mark.parametrize("mode", ["relative", "radiometric", "waveform"])
def test_what_only_noise_could_bring_inside_hides_nothing(mode):
    """A pane just before the least range, within reach of noise, and stronger by far than the wall behind it."""
    scene = wall(12.0)
    pane = sn.Pose.from_euler_deg((1.9, 0, 0), pitch=90)
    scene.add(sn.shapes.plane(4, 4), pose=pane, material=sn.ThinGlass(), label="pane")
    env = sn.Environment(scene, seed=3)
    spec = sn.Lidar(pattern=line(500), mode=mode, noise=sn.RangeNoise(base_m=0.05), max_depth=2, min_range_m=2.0)
    lidar = env.attach(spec)
    for _ in env.run(duration_s=0.1):
        pass
    assert (lidar.read().label == scene.labels["wall"]).all()


def test_an_index_of_the_sensor_s_own_moves_the_limits():
    """A sensor that counts with the index of water sees a wall in air a quarter nearer, up to its greatest range."""
    for distance_m, seen in ((13.0, True), (13.5, False)):
        scan, _ = scanned(wall(distance_m), mode="relative", pattern=line(4), calibrated_index=1.33, max_range_m=10.0)
        assert scan.valid.all() == scan.valid.any() == seen


@pytest.mark.parametrize("mode", MODES)
def test_limits_by_hand(mode):
    spec = sn.Lidar(pattern=line(1), mode=mode, min_range_m=2.0, max_range_m=100.0)
    limits = range_limits(spec)
    reach = 100.0 + (0.5 * 299_792_458.0 * spec.beam.pulse_s if mode == "waveform" else 0.0)
    tiny = float(np.finfo(np.float32).tiny)
    if mode == "geometric":
        assert limits == RangeLimits(2.0, 100.0, 2.0, 100.0, 2.0, 100.0, 100.0)
    elif mode == "radiometric":
        extra = 6.0 * 0.5 * 299_792_458.0 * 1e-9
        assert limits == pytest.approx((2.0, 100.0, 2.0, 100.0, 2.0 - extra, 100.0 + extra, 100.0 + extra))
    else:
        assert limits == RangeLimits(tiny, np.inf, 2.0, 100.0, 2.0, 100.0, reach)
    noisy = spec.model_copy(update={"noise": sn.RangeNoise(base_m=0.1, slope=0.01, bias_m=1.0)})
    if mode in ("geometric", "relative"):
        latest = (99.0 + 0.6) / (1.0 - 0.06)  # x = 99 + 6 (0.1 + 0.01 x)
        assert range_limits(noisy) == pytest.approx((2.0, 100.0, 1.0, 99.0, 1.0 - 0.66, latest, latest))
    wild = spec.model_copy(update={"noise": sn.RangeNoise(slope=1.0, square_per_m=1.0)})
    assert 200.0 <= range_limits(wild).reach_m < 202.0


# --- errors of a geometric lidar --------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", ["sensor", "world"])
@pytest.mark.parametrize(
    "fields", [{}, {"motion": "snapshot"}, {"publish": "slices"}], ids=["rolling", "snap", "slices"]
)
def test_a_geometric_lidar_has_the_errors_that_a_relative_one_has(frame, fields):
    noise = sn.RangeNoise(base_m=0.02, slope=2e-3, square_per_m=1e-4, bias_m=0.1, angle_std_rad=4e-3, dropout=0.2)
    scene = sn.Scene()
    scene.add(sn.shapes.box(20, 16, 6), label="room")
    scene.add(sn.shapes.box(1, 1, 4), pose=sn.Pose((4, 1, 0)), label="post")
    geometric, light = (
        scanned(scene, seed=4, mode=mode, frame=frame, noise=noise, **fields)[0] for mode in ("geometric", "relative")
    )
    np.testing.assert_array_equal(geometric.valid, light.valid)
    np.testing.assert_array_equal(geometric.object_id, light.object_id)
    np.testing.assert_allclose(geometric.range_m, light.range_m, rtol=2e-6)
    np.testing.assert_allclose(geometric.points, light.points, atol=1e-4)
    assert 0.1 < 1.0 - geometric.valid.mean() < 0.3


def test_noise_of_a_geometric_lidar_follows_its_law_and_truth_has_none():
    noise = sn.RangeNoise(base_m=0.02, slope=5e-3, square_per_m=1e-4, bias_m=-0.3)
    scene = sn.Scene()
    scene.add(sn.shapes.box(60, 40, 30), label="room")
    quiet, _ = scanned(scene, seed=1)
    scan, lidar = scanned(scene, seed=1, noise=noise)
    truth = lidar.truth()
    for name in ("range_m", "points", "object_id", "face_id", "label"):
        assert getattr(truth, name).tobytes() == getattr(quiet, name).tobytes()
    x = truth.range_m.astype(float)
    score = (scan.range_m - x + 0.3) / (0.02 + 5e-3 * x + 1e-4 * x**2)
    assert stats.kstest(score.ravel(), "norm").pvalue > 1e-3
    np.testing.assert_allclose(scan.points, scan.range_m[..., None] * PATTERN.rays().direction_S, atol=1e-5)


def test_the_beam_of_a_geometric_lidar_goes_astray_by_its_angle():
    """Range of a ray at a wall aslant changes by R tan(45 deg) times its error in azimuth, whose sigma is asked for."""
    scene, sigma = sn.Scene(), 2e-3
    scene.add(sn.shapes.box(0.01, 400, 400), pose=sn.Pose.from_euler_deg((20, 0, 0), yaw=45), label="wall")
    env = sn.Environment(scene, seed=9)
    lidar = env.attach(sn.Lidar(pattern=line(), noise=sn.RangeNoise(angle_std_rad=sigma), normals=True))
    for _ in env.run(duration_s=0.1):
        pass
    scan, truth = lidar.read(), lidar.truth()
    tilt = (scan.range_m - truth.range_m) / truth.range_m.astype(float)
    assert stats.kstest(tilt.ravel() / sigma, "norm").pvalue > 1e-3
    np.testing.assert_array_equal(scan.normals, truth.normals)
    assert not scan.points[..., 1:].any()


def test_draws_belong_to_rays_worlds_and_sweeps():
    def ranges(worlds, first_world, sweeps=1):
        env = sn.Environment(house(), seed=2, worlds=worlds, first_world=first_world)
        spec = sn.Lidar(pattern=PATTERN, noise=sn.RangeNoise(base_m=0.1, angle_std_rad=1e-3, dropout=0.1))
        lidar = env.attach(spec, pose=[sn.Pose((0, 0, 0)), sn.Pose((0, 0, 0))], name="pair")
        for _ in env.run(duration_s=0.1 * sweeps):
            pass
        return lidar.read().range_m

    many = ranges(3, 0)
    np.testing.assert_array_equal(many[2], ranges(1, 2)[0])
    assert not np.array_equal(many[0], many[1])
    assert not np.array_equal(many[0, 0], many[0, 1])
    assert not np.array_equal(many, ranges(3, 0, sweeps=2))


def test_a_sensor_on_a_surface_has_no_return_at_range_0():
    env = sn.Environment(wall(0.0), seed=2)
    lidars = [env.attach(sn.Lidar(pattern=line(4), mode=mode), name=mode) for mode in MODES]
    for _ in env.run(duration_s=0.1):
        pass
    for lidar in lidars:
        scan = lidar.read()
        assert (scan.range_m[scan.valid] > 0.0).all()
