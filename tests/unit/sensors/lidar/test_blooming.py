"""Stray light around retroreflectors, as users meet it."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.runtime import worker_pool

BLOOMING = sn.Blooming(strength=0.03, radius_deg=0.6, slope=2.5)
PATTERN = sn.patterns.Raster(
    height=24, width=48, horizontal_fov_deg=(-12.0, 12.0), vertical_fov_deg=(-6.0, 6.0), rate_hz=10
)


def street(wall=True, rotation=0.0):
    """A small sign before a wall, or before nothing."""
    scene, turned = sn.Scene(), sn.Pose.from_euler_deg((0, 0, 0), pitch=rotation)
    sheet = sn.Retroreflector(coefficient=300.0)
    scene.add(sn.shapes.box(0.02, 0.3, 0.3), pose=turned @ sn.Pose((15.01, 0.4, 0.2)), material=sheet, label="sign")
    if wall:
        matt = sn.Lambertian(reflectance=0.4)
        scene.add(sn.shapes.box(1, 40, 40), pose=turned @ sn.Pose((30.5, 0, 0)), material=matt)
    return scene


def scan_of(scene, worlds=None, pose=None, **fields):
    env = sn.Environment(scene, seed=5, worlds=worlds)
    spec = sn.Lidar(**({"pattern": PATTERN, "mode": "relative", "max_range_m": 100.0, "threshold": 1e-7} | fields))
    lidar = env.attach(spec, pose=pose)
    for _ in env.run(0.1):
        pass
    return lidar.read()


def expected(plain, blooming, threshold):
    """By the law in float64: every ray against every strong return, the sign, which alone is stronger than white."""
    direction = PATTERN.rays().direction_S.reshape(-1, 3).astype(np.float64)
    source = np.flatnonzero(plain.label.ravel() == 1)
    power = plain.intensity.ravel()[source].astype(np.float64)
    angle = 2 * np.arcsin(np.linalg.norm(direction[:, None] - direction[source], axis=-1) / 2)
    share = blooming.strength / (1 + (angle / np.radians(blooming.radius_deg)) ** blooming.slope)
    reach = 10 * blooming.radius_deg if blooming.reach_deg is None else blooming.reach_deg
    got = np.where((angle > 0) & (angle <= np.radians(reach)), share * power, 0.0)
    best = got.argmax(axis=1)
    most = got.max(axis=1)
    own = plain.intensity.ravel().astype(np.float64)
    blooms = (most >= threshold) & (most > own) & ~np.isin(np.arange(len(own)), source)
    return blooms.reshape(plain.range_m.shape), most.reshape(plain.range_m.shape), plain.range_m.ravel()[source[best]]


@pytest.mark.parametrize("wall", [True, False])
@pytest.mark.parametrize("threshold", [1e-7, 2e-3])
def test_neighbors_see_the_sign_by_the_law(wall, threshold):
    plain = scan_of(street(wall), threshold=threshold)
    assert (plain.label == 1).sum() > 2
    scan = scan_of(street(wall), threshold=threshold, blooming=BLOOMING)
    blooms, power, range_m = expected(plain, BLOOMING, threshold)
    assert 10 < blooms.sum() < blooms.size - 10
    np.testing.assert_array_equal(scan.cause == sn.Cause.BLOOM, blooms)
    np.testing.assert_allclose(scan.intensity[blooms], power[blooms], rtol=1e-5)
    np.testing.assert_array_equal(scan.range_m[blooms], range_m.reshape(blooms.shape)[blooms])
    assert (scan.label[blooms] == 1).all()
    np.testing.assert_allclose(scan.points, scan.range_m[..., None] * PATTERN.rays().direction_S, atol=1e-6)
    elsewhere = ~blooms & (plain.label != 1)  # rays on the sign get light of one another besides
    for name in ("range_m", "cause", "object_id"):
        np.testing.assert_array_equal(getattr(scan, name)[elsewhere], getattr(plain, name)[elsewhere])


def test_it_is_the_same_straight_up():
    # Looking up at a sign overhead there is no azimuth to speak of
    level, up = (
        scan_of(street(rotation=angle), blooming=BLOOMING, pose=sn.Pose.from_euler_deg((0, 0, 0), pitch=angle))
        for angle in (0.0, -90.0)
    )
    np.testing.assert_array_equal(level.cause, up.cause)
    np.testing.assert_allclose(level.range_m, up.range_m, rtol=1e-5)


def test_a_reach_ends_it_and_a_higher_bar_stops_it():
    near = BLOOMING.model_copy(update={"reach_deg": 1.0})
    plain, scan = scan_of(street(wall=False)), scan_of(street(wall=False), blooming=near)
    np.testing.assert_array_equal(scan.cause == sn.Cause.BLOOM, expected(plain, near, 1e-7)[0])
    deaf = BLOOMING.model_copy(update={"above": 1e6})
    np.testing.assert_array_equal(scan_of(street(), blooming=deaf).cause, scan_of(street()).cause)


def test_light_that_comes_with_a_return_of_the_rays_own_is_part_of_it():
    scene = street(wall=False)
    scene.add(sn.shapes.box(1, 40, 40), pose=sn.Pose((15.52, 0, 0)), material=sn.Lambertian(reflectance=0.4))
    plain, scan = scan_of(scene), scan_of(scene, blooming=BLOOMING, returns="all")
    assert (scan.valid.sum(axis=0) == 1).all()  # 1 cm to 0.5 m apart, and the pulse is 0.75 m long
    near = (plain.label != 1) & (abs(plain.range_m - 15.0) < 0.5)
    _, power, range_m = expected(plain, BLOOMING, 0.0)
    both = plain.intensity + power
    middle = (plain.range_m * plain.intensity + range_m.reshape(power.shape) * power) / both
    np.testing.assert_allclose(scan.intensity[0][near], both[near], rtol=1e-5)
    np.testing.assert_allclose(scan.range_m[0][near], middle[near], rtol=1e-5)


@pytest.mark.parametrize("returns", ["first", "last", "dual", "all"])
def test_it_competes_by_the_lidars_own_rule(returns):
    plain = scan_of(street(), threshold=1e-4)
    scan = scan_of(street(), threshold=1e-4, blooming=BLOOMING, returns=returns)
    _, power, range_m = expected(plain, BLOOMING, 1e-4)
    seen = (power >= 1e-4) & (plain.label != 1)
    assert 10 < seen.sum() < seen.size
    first = scan.range_m if scan.range_m.ndim == 2 else scan.range_m[0]
    if returns == "first":
        np.testing.assert_array_equal(first[seen], range_m.reshape(seen.shape)[seen])
    elif returns == "last":
        np.testing.assert_array_equal(first[seen], plain.range_m[seen])
    elif returns == "dual":
        last = np.where(power > plain.intensity, plain.range_m, range_m.reshape(seen.shape))
        assert scan.valid.all(axis=0)[seen].all()
        np.testing.assert_array_equal(np.maximum(*scan.range_m)[seen], plain.range_m[seen])
        np.testing.assert_array_equal(scan.intensity[0][seen] >= scan.intensity[1][seen], True)
        np.testing.assert_array_equal(scan.range_m[1][seen], last[seen])
    else:
        np.testing.assert_array_equal(scan.valid.sum(axis=0), 1 + seen)
        assert (np.diff(scan.range_m, axis=0)[0][seen] > 0).all()


def test_photons_decide_in_watts():
    fields = {"mode": "radiometric", "threshold": 0.0, "receiver": sn.Receiver(peak_power_W=0.02)}
    plain, scan = scan_of(street(wall=False), **fields), scan_of(street(wall=False), blooming=BLOOMING, **fields)
    blooms, power, _ = expected(plain, BLOOMING, 0.0)
    electrons = power * 5e-9 * 0.6 * 905e-9 / (6.62607015e-34 * 299_792_458.0)
    sure, hopeless = electrons > 600.0, electrons < 20.0
    bloomed = scan.cause == sn.Cause.BLOOM
    assert sure.sum() > 10
    assert hopeless.sum() > 10
    assert bloomed[sure & blooms].all()
    assert not bloomed[hopeless].any()
    # Weak light is told at ranges that spread: c t_r / 2 / sqrt(2 SNR)
    signal = electrons[sure & blooms]
    sigma_m = 299_792_458.0 * 1e-9 / 2.0 / np.sqrt(2.0 * signal**2 / (signal + 900.0))
    spread = (scan.range_m - 15.01)[sure & blooms] / sigma_m
    assert spread.std() == pytest.approx(1.0, abs=4.0 / np.sqrt(2.0 * len(spread)) + 0.3)


def test_every_head_sees_its_own_and_threads_do_not_matter():
    poses = [sn.Pose(), sn.Pose((0, 200, 0)), sn.Pose((0, 0.2, 0))]
    before = worker_pool.get_threads()
    try:
        worker_pool.set_threads(1)
        one = scan_of(street(), worlds=2, pose=poses, blooming=BLOOMING)
        worker_pool.set_threads(2)
        two = scan_of(street(), worlds=2, pose=poses, blooming=BLOOMING)
    finally:
        worker_pool.set_threads(before)
    np.testing.assert_array_equal(one.range_m, two.range_m)
    np.testing.assert_array_equal(one.intensity, two.intensity)
    alone = scan_of(street(), blooming=BLOOMING)
    np.testing.assert_array_equal(one.cause[0, 0], alone.cause)
    np.testing.assert_array_equal(one.cause[1, 0], alone.cause)
    assert not (one.cause[:, 1] == sn.Cause.BLOOM).any()
    assert (one.cause[:, 2] == sn.Cause.BLOOM).any()


def test_dropped_rays_stay_dropped():
    noise = sn.RangeNoise(dropout=0.3)
    plain, scan = scan_of(street(), noise=noise), scan_of(street(), noise=noise, blooming=BLOOMING)
    np.testing.assert_array_equal(scan.valid, plain.valid)
    assert (scan.cause == sn.Cause.BLOOM).any()


def test_slices_are_refused():
    with pytest.raises(SpecError, match="blooming is given with publish 'slices'; it acts on whole sweeps"):
        sn.Lidar(pattern=PATTERN, mode="relative", blooming=BLOOMING, publish="slices")


def test_rays_fired_before_a_reset_see_nothing():
    env = sn.Environment(street(), sn.worlds.Static(step_s=0.05), worlds=2, seed=5)
    pattern = sn.patterns.Spinning(elevation_deg=(0.0, 0.7, 1.4), columns=720, rate_hz=10)
    spec = sn.Lidar(pattern=pattern, mode="relative", max_range_m=100.0, threshold=1e-7, blooming=BLOOMING)
    lidar = env.attach(spec, pose=sn.Pose.from_euler_deg((0, 0, 0), yaw=90.0))  # the sign is met in the first half
    env.step()
    env.reset(np.array([False, True]))
    env.step()
    scan = lidar.read()
    before = scan.offset_ns < 50_000_000
    assert (scan.cause == sn.Cause.BLOOM)[0][before].any()
    assert not scan.valid[1][before].any()
