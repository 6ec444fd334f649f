"""Lidars that follow light, as users meet them: returns, limits, noise, truth, repeatability, refusals."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.runtime import worker_pool

SPINNING = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(10, -20, 8)), columns=128, rate_hz=10)
FIELDS = ("range_m", "points", "intensity", "cause", "depth", "mirror_id", "object_id", "face_id", "label")


def line(count=1, azimuth_deg=0.0):
    """The same ray, many times."""
    return sn.patterns.Table(
        azimuth_deg=(azimuth_deg,) * count, elevation_deg=(0.0,) * count, time_s=(0.0,) * count, rate_hz=10
    )


def showroom():
    """A closed room with a mirror, panes, a tank of water and a fog bank."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(20, 16, 6), label="room", material=sn.Lambertian(reflectance=0.6))
    scene.add(
        sn.shapes.box(0.1, 4, 3), pose=sn.Pose.from_euler_deg((6, 3, 0), yaw=25), material=sn.Mirror(reflectance=0.9)
    )
    scene.add(sn.shapes.plane(4, 3), pose=sn.Pose.from_euler_deg((4, -3, 0), pitch=80), material=sn.ThinGlass())
    scene.add(sn.shapes.plane(4, 3), pose=sn.Pose.from_euler_deg((5, -4, 0), pitch=70), material=sn.ThinGlass())
    scene.add(
        sn.shapes.box(2, 2, 1),
        pose=sn.Pose((-4, 3, -1)),
        material=sn.Dielectric(medium=sn.media.uniform(refractive_index=1.33, extinction_per_m=0.05)),
    )
    scene.add(sn.shapes.box(4, 4, 4), pose=sn.Pose((-5, -4, 0)), material=sn.media.fog(visibility_m=20.0))
    scene.add(sn.shapes.box(1, 1, 1), body="cart", label="cart", material=sn.materials.load("asphalt"))
    return scene


def moving(count=1):
    """A cart in circles, and a sensor that drives and turns; a path of its own for each of several worlds."""
    start = np.stack([np.linspace(0, 1, count), np.zeros(count), np.zeros(count)], axis=-1)

    def pose(t):
        t = np.asarray(t)[..., None] if count > 1 else np.asarray(t)
        position = (start if count > 1 else start[0]) + t[..., None] * np.array([1.0, 0.3, 0.1])
        return sn.Pose.from_euler_deg(position, yaw=40 * t)

    return sn.worlds.Kinematic(
        {"cart": sn.paths.Circle(center=(0, 2, -1), radius=1.5, rate=1.0), "robot": sn.paths.Function(pose)},
        step_s=0.02,
    )


EVERYTHING = {
    "noise": sn.RangeNoise(base_m=0.01, slope=1e-3, square_per_m=1e-4, bias_m=0.02, angle_std_rad=2e-3, dropout=0.1),
    "returns": "all",
    "max_returns": 4,
    "max_depth": 3,
}
FOG = sn.media.fog(visibility_m=50.0)


def run(
    scene, *, world=None, duration_s=0.1, atmosphere=None, seed=0, body=None, pose=None, environment=None, **options
):
    world = sn.worlds.Static({"cart": sn.Pose((2, 4, -2))}) if world is None else world
    env = sn.Environment(scene, world, atmosphere=atmosphere, seed=seed, **environment or {})
    lidar = env.attach(
        sn.Lidar(**{"pattern": SPINNING, "mode": "relative"} | options), body=body, pose=pose, name="top"
    )
    for _ in env.run(duration_s=duration_s):
        pass
    return lidar


def same(a, b):
    return all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in FIELDS)


# --- returns ----------------------------------------------------------------------------------------------------------


def at(scan, j):
    """Return j of every ray, as an array of (range, intensity, object)."""
    return np.stack([scan.range_m[j], scan.intensity[j], scan.object_id[j]])


def test_which_returns_are_reported():
    everything = run(showroom(), max_depth=2, returns="all", max_returns=8, detection=None).read()
    count = everything.valid.sum(axis=0)
    known = count < 8  # where all of them are known
    assert (count[known] > 2).sum() > 50
    assert everything.range_m.shape == (8, 8, 128)

    # All: nearest first, then nothing
    rank = np.arange(8)[:, None, None]
    np.testing.assert_array_equal(everything.valid, rank < count)
    later = np.diff(everything.range_m, axis=0)
    assert (later[everything.valid[1:]] >= 0).all()

    weak = np.where(everything.valid, everything.intensity, -1.0)
    places = {"strongest": weak.argmax(axis=0), "first": np.zeros(count.shape, int), "last": np.maximum(count - 1, 0)}
    picked = {
        name: np.stack([np.take_along_axis(field, place[None], 0)[0] for field in at_all(everything)])
        for name, place in places.items()
    }
    for name in places:
        scan = run(showroom(), max_depth=2, returns=name, detection=None).read()
        assert scan.range_m.shape == (8, 128)
        np.testing.assert_array_equal(np.stack(at_all(scan))[:, known], picked[name][:, known])

    # Dual: the strongest, then the last, or the second strongest where the strongest is the last
    dual = run(showroom(), max_depth=2, returns="dual", detection=None).read()
    assert dual.range_m.shape == (2, 8, 128)
    np.testing.assert_array_equal(at(dual, 0)[:, known], picked["strongest"][:, known])
    second = np.argsort(weak, axis=0)[-2]
    is_last = places["strongest"] == places["last"]
    place = np.where(is_last, second, places["last"])
    expected = np.stack([np.take_along_axis(field, place[None], 0)[0] for field in at_all(everything)])
    two = known & (count >= 2)
    np.testing.assert_array_equal(at(dual, 1)[:, two], expected[:, two])
    assert not dual.valid[1][known & (count < 2)].any()


def at_all(scan):
    return [scan.range_m, scan.intensity, scan.object_id]


def test_all_keeps_the_strongest():
    everything = run(showroom(), max_depth=2, returns="all", max_returns=8).read()
    few = run(showroom(), max_depth=2, returns="all", max_returns=2).read()
    known = everything.valid.sum(axis=0) < 8
    strongest = np.sort(np.where(everything.valid, everything.intensity, 0.0), axis=0)[-2:]
    np.testing.assert_array_equal(np.sort(few.intensity, axis=0)[:, known], strongest[:, known])


def test_without_depth_nothing_is_seen_behind_glass_or_in_mirrors():
    scan = run(showroom(), max_depth=0, returns="all", max_returns=3, atmospheric_returns="off").read()
    assert set(np.unique(scan.cause)) == {sn.Cause.NONE, sn.Cause.SURFACE}
    assert not scan.valid[1:].any()
    deep = run(showroom(), max_depth=3).read()
    assert {sn.Cause.REFLECTION, sn.Cause.TRANSMISSION, sn.Cause.SURFACE} <= set(np.unique(deep.cause))
    np.testing.assert_array_equal(deep.mirror_id >= 0, deep.cause == sn.Cause.REFLECTION)
    np.testing.assert_array_equal(
        deep.depth > 0, (deep.cause == sn.Cause.REFLECTION) | (deep.cause == sn.Cause.TRANSMISSION)
    )


def test_returns_below_the_threshold_are_not_seen():
    options = {"max_depth": 2, "returns": "all", "max_returns": 8}
    everything = run(showroom(), **options).read()
    for threshold in (1e-6, 0.02, 10.0):
        scan = run(showroom(), threshold=threshold, **options).read()
        expected = np.sort(np.where(everything.intensity >= threshold, everything.intensity, 0.0), axis=0)
        np.testing.assert_array_equal(np.sort(scan.intensity, axis=0), expected)
        first = run(showroom(), threshold=threshold, max_depth=2, returns="first").read()
        np.testing.assert_array_equal(first.range_m, scan.range_m[0])


def glass_and_wall(pane_m, wall_m):
    """A pane seen head-on, which returns far more than the wall behind it."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(4), pose=sn.Pose.from_euler_deg((pane_m, 0, 0), pitch=-90), material=sn.ThinGlass())
    scene.add(sn.shapes.box(1, 20, 20), pose=sn.Pose((wall_m + 0.5, 0, 0)))
    return scene


def test_limits_of_range():
    scene = glass_and_wall(0.3, 50.0)
    for limits, object_id, range_m in (
        ({}, 0, 0.3),
        ({"max_range_m": 0.29}, -1, 0.0),
        ({"returns": "last"}, 1, 50.002),
    ):
        scan = run(scene, pattern=line(), max_depth=1, **limits).read()
        assert scan.object_id[0, 0] == object_id
        assert scan.range_m[0, 0] == pytest.approx(range_m, rel=1e-5)
    scan = run(scene, pattern=line(), max_depth=0, min_range_m=0.5).read()
    assert not scan.valid.any()
    assert scan.intensity[0, 0] == scan.range_m[0, 0] == 0.0


def test_what_the_sensor_does_not_listen_to_hides_nothing():
    """Neither a window right before the sensor nor an echo that comes too late keeps another return from being seen."""
    near = run(glass_and_wall(0.3, 50.0), pattern=line(), max_depth=1, min_range_m=0.5).read()
    assert near.range_m[0, 0] == pytest.approx(50.002, rel=1e-5)
    late = run(glass_and_wall(5.0, 50.0), pattern=line(), max_depth=1, max_range_m=40.0, returns="last").read()
    assert late.range_m[0, 0] == pytest.approx(5.0, rel=1e-5)
    # optical path counts: 1.33 x 40 m of water are beyond 50 m
    scene = sn.Scene()
    scene.add(sn.shapes.plane(40), pose=sn.Pose.from_euler_deg((5, 0, 0), pitch=-80), material=sn.ThinGlass())
    tank = sn.Dielectric(medium=sn.media.uniform(refractive_index=1.33))
    scene.add(sn.shapes.box(80, 99, 99), pose=sn.Pose((50, 0, 0)), material=tank)
    scene.add(sn.shapes.box(1, 90, 90), pose=sn.Pose((45.5, 0, 0)))
    late = run(scene, pattern=line(), max_depth=2, max_range_m=50.0, returns="last").read()
    assert late.valid[0, 0]
    assert late.range_m[0, 0] < 50.0


# --- errors along the ray ---------------------------------------------------------------------------------------------


def test_bias_moves_every_return_along_its_ray():
    plain, biased = run(showroom()).read(), run(showroom(), noise=sn.RangeNoise(bias_m=-0.25)).read()
    np.testing.assert_allclose(biased.range_m[plain.valid], plain.range_m[plain.valid] - 0.25, atol=2e-6)
    np.testing.assert_array_equal(biased.intensity, plain.intensity)
    assert run(showroom(), noise=sn.RangeNoise(bias_m=-100.0)).read().range_m.max() == 0.0


def test_points_stay_on_the_nominal_rays():
    scan = run(showroom(), atmosphere=FOG, **EVERYTHING).read()
    directions = SPINNING.rays().direction_S
    np.testing.assert_allclose(scan.points, scan.range_m[..., None] * directions, atol=1e-5)
    # yet what they met was beside them
    plain = run(showroom(), **EVERYTHING | {"noise": sn.RangeNoise()}).read()
    jitter = run(showroom(), **EVERYTHING | {"noise": sn.RangeNoise(angle_std_rad=2e-3)}).read()
    assert (jitter.range_m[0] != plain.range_m[0]).mean() > 0.9


def test_each_return_has_noise_of_its_own_and_drop_out_takes_them_all():
    options = {"max_depth": 2, "returns": "all", "max_returns": 4, "detection": None}
    quiet = run(showroom(), **options).read()
    options["noise"] = sn.RangeNoise(base_m=0.01)
    scan = run(showroom(), **options).read()
    both = (scan.valid & quiet.valid)[1:].all(axis=0) & scan.valid[0]
    error = (scan.range_m - quiet.range_m)[:, both]
    assert both.sum() > 40
    assert np.abs(np.corrcoef(error) - np.eye(4)).max() < 0.6
    assert (error[0] != error[2]).all()
    dropped = run(showroom(), **options | {"noise": sn.RangeNoise(dropout=0.5)}).read()
    gone = ~dropped.valid[0] & quiet.valid[0]
    assert 0.4 < gone.mean() < 0.6
    assert not dropped.valid[:, gone].any()
    np.testing.assert_array_equal(dropped.range_m[:, ~gone], quiet.range_m[:, ~gone])
    assert not run(showroom(), noise=sn.RangeNoise(dropout=1.0)).read().valid.any()


@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_truth_is_what_a_geometric_lidar_sees(frame):
    options = {"world": None, "body": "robot", "pose": sn.Pose((0, 0, 0.3)), "frame": frame}
    lidar = run(showroom(), **options | {"world": moving()}, atmosphere=FOG, **EVERYTHING)
    geometric = run(showroom(), **options | {"world": moving()}, mode="geometric")
    truth, expected = lidar.truth(), geometric.read()
    np.testing.assert_allclose(truth.range_m, expected.range_m, rtol=1e-6)
    np.testing.assert_allclose(truth.points, expected.points, atol=2e-5)
    for name in ("object_id", "face_id", "label", "valid", "cause"):
        np.testing.assert_array_equal(getattr(truth, name), getattr(expected, name))
    # and without jitter, where the kernel knows it already
    quiet = run(showroom(), **options | {"world": moving()}, **EVERYTHING | {"noise": sn.RangeNoise(base_m=0.1)})
    np.testing.assert_array_equal(quiet.truth().object_id, expected.object_id)
    np.testing.assert_allclose(quiet.truth().points, expected.points, atol=2e-5)


def test_points_in_the_world_are_the_same_points():
    in_sensor = run(showroom(), world=moving(), body="robot", **EVERYTHING).read()
    in_world = run(showroom(), world=moving(), body="robot", frame="world", **EVERYTHING).read()
    np.testing.assert_array_equal(in_sensor.range_m, in_world.range_m)
    there = in_sensor.pose(in_sensor.ray_time_ns).apply(in_sensor.points)
    np.testing.assert_allclose(there[in_sensor.valid], in_world.points[in_sensor.valid], atol=2e-5)
    assert (in_world.points[~in_world.valid] == 0).all()


# --- the air ----------------------------------------------------------------------------------------------------------


def test_returns_from_the_air_belong_to_no_object():
    scan = run(showroom(), atmosphere=sn.media.fog(visibility_m=10.0), atmospheric_returns="priority").read()
    air = scan.cause == sn.Cause.ATMOSPHERE
    assert 0.2 < air.mean() < 1.0
    assert (scan.object_id[air] == -1).all()
    assert (scan.label[air] == -1).all()
    assert scan.valid[air].all()
    assert (scan.intensity[air] > 0).all()
    # Beer and Lambert, the captured share, and the backscatter of the air within half a pulse
    fog = sn.media.fog(visibility_m=10.0).at(905e-9)
    captured = sn.optics.captured_fraction(
        scan.range_m[air] / fog.refractive_index, detector_radius_m=0.01, exit_radius_m=0.01, half_divergence_rad=1.5e-3
    )
    echo = fog.backscatter_per_m_sr * 299_792_458.0 * 5e-9 / 2
    lost = np.exp(-2 * fog.extinction_per_m * scan.range_m[air])
    np.testing.assert_allclose(scan.intensity[air], echo * lost * captured, rtol=2e-4)
    off = run(showroom(), atmosphere=sn.media.fog(visibility_m=10.0), atmospheric_returns="off").read()
    assert not (off.cause == sn.Cause.ATMOSPHERE).any()


def test_a_return_from_the_air_competes_by_its_strength():
    fog = sn.media.fog(visibility_m=10.0)
    draws = {"atmosphere": fog, "pattern": SPINNING, "seed": 3}
    everything = run(showroom(), returns="all", **draws).read()
    strongest = run(showroom(), **draws).read()
    best = np.take_along_axis(everything.cause, everything.intensity.argmax(axis=0)[None], axis=0)[0]
    np.testing.assert_array_equal(strongest.cause, best)
    assert {sn.Cause.SURFACE, sn.Cause.ATMOSPHERE} <= set(np.unique(best))


def test_a_sensor_s_own_law_replaces_the_atmosphere_s():
    law = {"atmospheric_law": (1.0, 0.01, 1.0), "atmospheric_returns": "priority"}
    scan = run(showroom(), atmosphere=FOG, **law).read()
    assert (scan.cause == sn.Cause.ATMOSPHERE).all()
    assert scan.range_m.max() < 0.2
    none = run(showroom(), atmosphere=FOG, **law | {"atmospheric_law": (1.0, 0.01, 0.0)}).read()
    assert none.range_m[none.cause == sn.Cause.ATMOSPHERE].min() > 3.0  # out of the fog bank alone


def test_inside_a_fog_bank_its_air_returns():
    bank = sn.media.fog(visibility_m=5.0)
    scene = sn.Scene()
    scene.add(sn.shapes.box(30, 30, 30), material=bank)
    options = {"pattern": line(2000), "atmospheric_returns": "priority", "max_depth": 1, "detection": None}
    inside = run(scene, **options).read()
    outside = run(scene, pose=sn.Pose((100, 0, 0)), **options).read()
    assert (inside.cause == sn.Cause.ATMOSPHERE).mean() == pytest.approx(bank.at(905e-9).gamma_probability, abs=0.03)
    assert not outside.valid.any()
    # the bank before a sensor answers from behind its boundary on
    before = run(scene, pose=sn.Pose((-25, 0, 0)), **options).read()
    air = before.cause == sn.Cause.ATMOSPHERE
    assert air.mean() == pytest.approx(bank.at(905e-9).gamma_probability, abs=0.03)
    assert before.range_m[air].min() > 10.0
    assert before.range_m[air].mean() == pytest.approx(10.0 + 9.5 * 0.52, rel=0.02)


def test_a_housing_full_of_air_under_water():
    """What lies around the body that the sensor is inside of is the body around that, not the atmosphere."""
    scene = sn.Scene()
    water = sn.media.uniform(refractive_index=1.33, extinction_per_m=0.1)
    scene.add(sn.shapes.box(40, 40, 40), material=sn.Dielectric(medium=water))
    scene.add(sn.shapes.box(2, 2, 2), material=sn.media.uniform(refractive_index=1.0))
    scene.add(sn.shapes.box(1, 10, 10), pose=sn.Pose((5.5, 0, 0)))
    scan = run(scene, pattern=line(), max_depth=1, returns="last", calibrated_index=1.0).read()
    assert scan.range_m[0, 0] == pytest.approx(1.0 + 1.33 * 4.0, rel=1e-5)


# --- repeatability ----------------------------------------------------------------------------------------------------


def test_the_same_bytes_on_one_thread_and_two():
    # more blocks than one thread would take on alone
    many = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(10, -20, 16)), columns=512, rate_hz=10)
    before, scans = worker_pool.get_threads(), []
    for count in (1, 2, 2):
        sn.set_threads(count)
        scans.append(run(showroom(), pattern=many, world=moving(), body="robot", atmosphere=FOG, **EVERYTHING).read())
    sn.set_threads(before)
    assert same(scans[0], scans[1])
    assert same(scans[1], scans[2])
    assert len(set(np.unique(scans[0].cause))) == 5


def test_a_batch_of_worlds_is_what_each_gives_alone():
    options = {"body": "robot", "atmosphere": FOG, "seed": 4, **EVERYTHING}
    together = run(showroom(), world=moving(), environment={"worlds": 3}, **options).read()
    assert together.range_m.shape == (3, 4, 8, 128)
    for world in range(3):
        alone = run(showroom(), world=moving(), environment={"worlds": 1, "first_world": world}, **options).read()
        for name in FIELDS:
            assert getattr(together, name)[world].tobytes() == getattr(alone, name)[0].tobytes(), name
    assert not np.array_equal(together.range_m[0], together.range_m[1])


def test_other_sensors_change_nothing():
    def environment(*others):
        env = sn.Environment(showroom(), moving(), atmosphere=FOG, seed=5)
        for name in others:
            env.attach(sn.Lidar(pattern=SPINNING, mode="relative", **EVERYTHING), name=name, body="cart")
        lidar = env.attach(sn.Lidar(pattern=SPINNING, mode="relative", **EVERYTHING), name="top", body="robot")
        for _ in env.run(duration_s=0.2):
            pass
        return lidar.read()

    assert same(environment(), environment("left", "right"))


def test_sensors_of_one_kind_sweeps_seeds_and_names_draw_their_own():
    options = {"noise": sn.RangeNoise(base_m=0.01), "detection": None}
    pair = run(showroom(), pose=[sn.Pose(), sn.Pose()], **options).read().range_m
    assert pair.shape == (2, 8, 128)
    others = [
        run(showroom(), seed=1, **options).read().range_m,
        run(showroom(), duration_s=0.2, **options).read().range_m,
        pair[1],
    ]
    for other in others:
        seen = pair[0] > 0
        assert seen.mean() > 0.8
        assert (pair[0] != other)[seen].mean() > 0.99


def test_rays_fired_before_a_reset_are_void():
    env = sn.Environment(showroom(), moving(), atmosphere=sn.media.fog(visibility_m=5.0), worlds=2)
    lidar = env.attach(
        sn.Lidar(pattern=SPINNING, mode="relative", **EVERYTHING | {"noise": sn.RangeNoise(), "detection": None}),
        body="robot",
    )
    for number, _ in enumerate(env.run(duration_s=0.1)):
        if number == 1:  # at 0.04 s
            env.reset(np.array([True, False]))
    scan = lidar.read()
    before = (scan.ray_time_ns < 40_000_000)[0, 0]
    assert 0.3 < before.mean() < 0.5
    assert not scan.valid[0][:, before].any()
    assert scan.valid[0, 0][~before].all()
    assert scan.valid[1, 0].all()
    truth = lidar.truth()
    assert not truth.valid[0][before].any()
    assert truth.valid[0][~before].all()


def test_slices_make_up_the_sweep():
    options = {"max_depth": 2, "returns": "dual", "atmospheric_returns": "off", "detection": None}
    whole = run(showroom(), world=moving(), body="robot", **options).read()
    env = sn.Environment(showroom(), moving())
    lidar = env.attach(sn.Lidar(pattern=SPINNING, mode="relative", publish="slices", **options), body="robot")
    pieces = [reading for _ in env.run(duration_s=0.1) for reading in lidar.readings()]
    joined = np.concatenate([piece.range_m for piece in pieces], axis=-1)
    assert len(pieces) == 5
    np.testing.assert_allclose(joined, whole.range_m, rtol=2e-5)
    np.testing.assert_array_equal(np.concatenate([p.object_id for p in pieces], axis=-1), whole.object_id)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sn.Dielectric(refractive_index=0.9), r"refractive_index is 0\.9; a dielectric has at least 1"),
        (lambda: sn.ThinGlass(refractive_index=0.5), r"refractive_index is 0\.5"),
        (lambda: sn.media.uniform(extinction_per_m=-0.1), r"extinction_per_m.*-0\.1"),
        (lambda: sn.Lambertian(reflectance=1.2), r"reflectance is 1\.2; it must be less than or equal to 1"),
        (
            lambda: sn.TwoLayer(refractive_index=1.5, extinction_coefficient=0.2, roughness=0.1, reflectance=0.5),
            r"extinction_coefficient is 0\.2 and reflectance 0\.5; above k = 0\.1",
        ),
        (lambda: sn.media.fog(visibility_m=100, gamma_shape=0.0), r"gamma_shape is 0\.0; it must be greater than 0"),
        (
            lambda: sn.Lidar(pattern=SPINNING, atmospheric_law=(0.0, 0.5, 0.5)),
            r"atmospheric_law\[0\] is .*greater than 0",
        ),
        (
            lambda: sn.Lidar(pattern=SPINNING, atmospheric_law=(9.5, 0.5, 1.5)),
            r"atmospheric_law\[2\] is 1\.5; .*equal to 1",
        ),
        (lambda: sn.Lidar(pattern=SPINNING, max_depth=9), "max_depth is 9; it must be less than or equal to 8"),
        (lambda: sn.Lidar(pattern=SPINNING, returns="second"), r"returns.*'second'"),
        (lambda: sn.Lidar(pattern=SPINNING, threshold=float("nan")), r"threshold.*finite"),
        (lambda: sn.Lidar(pattern=SPINNING, calibrated_index=0.5), r"calibrated_index.*0\.5"),
        (lambda: sn.Lidar(pattern=SPINNING, color="red"), "color is 'red'; there is no such field"),
    ],
)
def test_values_that_cannot_be(make, message):
    with pytest.raises(SpecError, match=message):
        make()


def test_materials_and_atmospheres_that_are_none():
    scene = sn.Scene()
    with pytest.raises(SpecError, match="material is 'glas'; the library has no such name; did you mean 'glass'"):
        scene.add(sn.shapes.box(1, 1, 1), material="glas")
    scene.add(sn.shapes.box(1, 1, 1), material=1.5)
    with pytest.raises(sn.errors.SceneError, match="material is a float; it must be one of"):
        run(scene)
    with pytest.raises(sn.errors.SpecError, match="atmosphere is a str; it must be a medium"):
        sn.Environment(showroom(), atmosphere="fog")


def test_the_agx_model_of_divergence_knows_round_beams_only():
    with pytest.raises(sn.errors.SpecError, match="round beams only"):
        run(showroom(), divergence="agx", beam=sn.Beam(half_divergence_rad=(1e-3, 2e-3)))


@pytest.mark.parametrize("mode", ["relative", "radiometric"])
def test_fog_on_a_body_that_the_lidar_hides_is_not_there_for_it_wherever_it_sits(mode):
    def read(*, fog_at=None, hide=()):
        scene = sn.Scene()
        scene.add(sn.shapes.box(1, 60, 60), pose=sn.Pose((20.5, 0, 0)), material=sn.Lambertian(reflectance=0.5))
        if fog_at is not None:
            fog = sn.media.fog(visibility_m=30.0)
            scene.add(sn.shapes.box(6, 6, 6), pose=sn.Pose((fog_at, 0, 0)), body="car", material=fog)
        env = sn.Environment(scene, sn.worlds.Static({"car": sn.Pose()}, step_s=0.1))
        lidar = env.attach(sn.Lidar(pattern=line(), mode=mode), body="car", hide=hide)
        while not lidar.fresh:
            env.step()
        scan = lidar.read()
        return scan.range_m.tolist(), scan.intensity.tolist()

    clear = read()
    for around_or_ahead in (0.0, 8.0):
        assert read(fog_at=around_or_ahead, hide=("car",)) == clear
        assert read(fog_at=around_or_ahead) != clear
