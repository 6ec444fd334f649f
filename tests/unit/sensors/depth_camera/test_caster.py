"""Images of depth cameras as their caster takes them: times, ticks, late truths, motions, and how far rays look."""

import numpy as np
import pytest
from scipy import stats

import sensorium as sn
from sensorium.physics.imaging.depth_quantization import DepthQuantization

MS = 1_000_000
DRAWN = sn.patterns.Pinhole.from_fov(32, 24, 60.0, rate_hz=10.0)
BENT = DRAWN.model_copy(update={"distortion": (1e-12, 0.0, 0.0, 0.0, 0.0)})  # by less than rounding, and so traced
ROLLING = DRAWN.model_copy(update={"line_time_s": 2e-3})
SPEED_M_S, WALL_M = 20.0, 50.0
STEPPED = {"errors": (DepthQuantization(step_m=0.5),)}


def spec(pattern=DRAWN, **options):
    fields = {"outputs": {"depth", "range"}, "min_range_m": 0.1, "max_range_m": 200.0}
    return sn.DepthCamera(pattern=pattern, **fields | options)


def wall():
    """Across x, much larger than the view."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 900.0, 900.0), pose=sn.Pose((WALL_M + 0.5, 0.0, 0.0)), label="wall")
    return scene


def environment(camera, *, scene=None, body="eye", steps=1, velocity=(SPEED_M_S, 0.0, 0.0), **options):
    """A camera on a body that flies at the wall, and its caster; the history has all of some steps of 100 ms."""
    attach = {key: options.pop(key) for key in ("pose", "hide") if key in options}
    world = sn.worlds.Kinematic({"eye": sn.paths.Line(start=(0.0, 0.0, 0.0), velocity=velocity)}, step_s=0.1)
    env = sn.Environment(wall() if scene is None else scene, world, **options)
    sensor = env.attach(camera, body=body, **attach)
    for _ in range(steps):
        go_on(sensor, world)
    return env, sensor._model._caster


def go_on(sensor, world):
    """One step of the world, of which nothing is forgotten."""
    world.step()
    sensor.rig.history.add(world.state())


def caster(camera, **options):
    return environment(camera, **options)[1]


# --- when ---------------------------------------------------------------------------------------------------------


def test_an_image_is_of_an_instant_or_lasts_until_its_last_row():
    for pattern, duration_ns in ((DRAWN, 0), (ROLLING, 23 * 2 * MS + 1)):
        of = caster(spec(pattern))
        assert of.duration_ns == duration_ns
        assert of.period_ns == 100 * MS
        image, _ = of.take(30 * MS, 0)
        assert (image.start_ns, image.end_ns, image.time_ns) == (30 * MS, 30 * MS + duration_ns, 30 * MS)


@pytest.mark.parametrize("speed_m_s", [SPEED_M_S, 0.0])
@pytest.mark.parametrize("pattern", [DRAWN, BENT, ROLLING], ids=["drawn", "traced", "rolling"])
def test_a_pixel_sees_the_wall_from_where_the_camera_is_at_its_time(pattern, speed_m_s):
    """Depth wall - v t, whatever order rays are fired in and whether they are drawn or traced."""
    of = caster(spec(pattern), velocity=(speed_m_s, 0.0, 0.0))
    for start_ns in (40 * MS, 0, 17 * MS):
        image, _ = of.take(start_ns, 0)
        time_s = 1e-9 * start_ns + pattern.line_time_s * np.arange(24)
        depth = np.broadcast_to((WALL_M - speed_m_s * time_s)[:, None], (24, 32))
        np.testing.assert_allclose(image.depth_m, depth, rtol=1e-5)
        np.testing.assert_allclose(image.range_m, depth / pattern.rays().direction_S[..., 0], rtol=1e-5)
        assert image.X_WS[0, 0, 0].position[0] == pytest.approx(speed_m_s * 1e-9 * start_ns)


@pytest.mark.parametrize(
    "options", [{}, {"noise": sn.DepthNoise(multiplier=0.1)}, STEPPED], ids=["true", "noisy", "stepped"]
)
def test_the_truth_is_stamped_by_no_wrong_clock(options):
    image, truth = caster(spec(timing=sn.Timing(clock_offset_s=0.5), **options)).take(20 * MS, 3)
    assert (image.time_ns, image.start_ns) == (520 * MS, 20 * MS)
    assert (truth().time_ns, truth().start_ns, truth().end_ns) == (20 * MS, 20 * MS, 20 * MS)


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [DRAWN, BENT, ROLLING], ids=["drawn", "traced", "rolling"])
def test_random_numbers_belong_to_the_tick_and_not_to_the_time(pattern):
    of = caster(spec(pattern, noise=sn.DepthNoise(multiplier=0.02)), velocity=(0.0, 0.0, 0.0), seed=3)
    first = of.take(10 * MS, 5)[0].range_m.copy()
    other = of.take(10 * MS, 6)[0].range_m
    assert (other != first).mean() > 0.99
    np.testing.assert_array_equal(of.take(30 * MS, 5)[0].range_m, first)


@pytest.mark.parametrize(
    "options",
    [{"noise": sn.DepthNoise(multiplier=0.1)}, {"noise": sn.DepthNoise(dropout=0.5)}, STEPPED],
    ids=["noise", "dropout", "steps"],
)
@pytest.mark.parametrize("pattern", [DRAWN, BENT], ids=["drawn", "traced"])
def test_images_and_their_truths_are_kept_apart_from_those_that_follow(pattern, options):
    """The truth of each image is the distance then, also when it is asked for after others were taken; points in the
    world are always on the wall."""
    of = caster(spec(pattern, outputs={"depth", "points"}, frame="world", **options))
    taken = [(start_ns, *of.take(start_ns, tick)) for tick, start_ns in enumerate(range(0, 80 * MS, 10 * MS))]
    copies = [image.depth_m.copy() for _, image, _ in taken]
    for (start_ns, image, truth), copy in zip(reversed(taken), reversed(copies), strict=True):
        np.testing.assert_allclose(truth().depth_m, WALL_M - SPEED_M_S * 1e-9 * start_ns, rtol=1e-5)
        np.testing.assert_allclose(truth().points[..., 0], WALL_M, rtol=1e-5)
        np.testing.assert_array_equal(image.depth_m, copy)
        assert not np.array_equal(image.depth_m, truth().depth_m)


def test_noise_may_carry_what_is_beyond_the_limit_inside_it():
    """A wall at 1.1 of the greatest range: as often as a normal number is below (1/1.1 - 1) / k."""
    pattern = sn.patterns.Pinhole.from_fov(64, 64, 1.0, rate_hz=10.0)
    camera = spec(pattern, max_range_m=WALL_M / 1.1, noise=sn.DepthNoise(multiplier=0.1))
    image, truth = caster(camera, velocity=(0.0, 0.0, 0.0), worlds=4).take(0, 0)
    chance = stats.norm.cdf((1.0 / 1.1 - 1.0) / 0.1)
    assert image.valid.mean() == pytest.approx(chance, abs=4.0 * np.sqrt(chance * (1 - chance) / image.valid.size))
    assert not truth().valid.any()


def test_errors_may_carry_what_is_beyond_the_limit_inside_it():
    """A wall at 50 m is at 40 m for a camera that counts in steps of 40 m."""
    camera = spec(max_range_m=45.0, errors=(DepthQuantization(step_m=40.0),))
    image, truth = caster(camera, velocity=(0.0, 0.0, 0.0)).take(0, 0)
    near = image.range_m < 45.0
    assert 0.2 < near.mean() < 1.0
    np.testing.assert_allclose(image.depth_m[near], 40.0, rtol=1e-5)
    assert (image.depth_m[~near] == 45.0).all()
    assert (truth().depth_m == 45.0).all()


def test_errors_along_the_axis_follow_the_lens_that_was_drawn():
    """Whole steps of depth for every focal length and principal point, not for those of the pattern."""
    drawn = sn.Randomization(
        intrinsics=sn.Intrinsics(fov_deg=(50.0, 100.0), min_shift_px=(-4, -4), max_shift_px=(4, 4))
    )
    scene = sn.Scene()
    scene.add(sn.shapes.plane(900.0, 900.0), pose=sn.Pose((0.0, 0.0, -5.0)))
    of = caster(spec(randomize=drawn, **STEPPED), scene=scene, worlds=6, pose=sn.Pose.from_euler_deg(pitch=75.0))
    image, truth = of.take(0, 0)
    assert len(np.unique(image.focal_px[:, 0])) == 6
    assert image.valid.all()
    np.testing.assert_allclose(image.depth_m, 0.5 * np.rint(truth().depth_m / 0.5), rtol=1e-5)
    assert np.ptp(truth().depth_m) > 2.0


def test_what_shows_no_distance_is_told_in_the_unit_of_the_image_and_only_where_there_is_such():
    limits = {"min_range_m": 1.0, "max_range_m": 60.0, "near_value_m": 0.5, "far_value_m": 90.0}
    image, _ = caster(spec(**limits)).take(0, 0)
    assert (image.near, image.far, image.scale_m, image.frame) == (0.5, 90.0, 1.0, "sensor")
    assert np.isnan(image.dropped)
    dropping = {"noise": sn.DepthNoise(dropout=0.1, dropped="near"), "normalize": True, "frame": "world"}
    image, _ = caster(spec(**limits | dropping)).take(0, 0)
    assert (image.near, image.far, image.scale_m, image.frame) == (0.5 / 60.0, 1.5, 60.0, "world")
    assert image.dropped == 0.5 / 60.0
    assert caster(spec(**STEPPED)).take(0, 0)[0].dropped == 0.0


# --- motions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [DRAWN, BENT], ids=["drawn", "traced"])
def test_a_camera_that_stands_in_the_world_sees_a_body_come(pattern):
    """Without a body of its own: 20 m/s towards it, and since the image before a pixel r from the middle moved by
    r (1 - z / (z + v T))."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 900.0, 900.0), body="eye")
    outputs = {"depth", "flow", "scene_flow"}
    mount = sn.Pose.from_euler_deg((WALL_M, 0.0, 0.0), yaw=180.0)
    env, of = environment(spec(pattern, outputs=outputs), scene=scene, body=None, pose=mount, steps=2)
    image, _ = of.take(env.time_ns, 0)
    z = WALL_M - 0.5 - SPEED_M_S * 0.2
    np.testing.assert_allclose(image.depth_m, z, rtol=1e-5)
    np.testing.assert_allclose(image.scene_flow, np.broadcast_to([-SPEED_M_S, 0.0, 0.0], (24, 32, 3)), atol=1e-4)
    v, u = np.mgrid[0:24, 0:32]
    away = np.stack([u, v], -1) - np.array(DRAWN.center)
    np.testing.assert_allclose(image.flow, away * (1.0 - z / (z + SPEED_M_S * 0.1)), atol=1e-3)


def test_before_the_first_image_nothing_has_moved():
    of = caster(spec(outputs={"flow", "scene_flow"}))
    first = of.take(0, 0)[0].flow.copy()
    assert not first.any()

    # Half a period later the past is half as long; away from the middle everything has moved out
    half, _ = of.take(50 * MS, 1)
    v, u = np.mgrid[0:24, 0:32]
    away = np.stack([u, v], -1) - np.array(DRAWN.center)
    np.testing.assert_allclose(half.flow, away * (1.0 - (WALL_M - 1.0) / WALL_M), atol=1e-3)
    np.testing.assert_allclose(half.scene_flow[..., 0], -SPEED_M_S, rtol=1e-5)


def test_velocities_are_seen_by_cameras_as_they_were_placed_at_random():
    turned = sn.Placement(min_rotation_deg=(-20.0, -20.0, -20.0), max_rotation_deg=(20.0, 20.0, 20.0))
    drawn = sn.Randomization(placement=turned)
    of = caster(spec(outputs={"depth", "scene_flow"}, randomize=drawn), worlds=3, pose=[sn.Pose(), sn.Pose()])
    image, _ = of.take(50 * MS, 0)
    towards_S = image.X_WS[0].inverse().rotate((-SPEED_M_S, 0.0, 0.0))
    assert np.ptp(towards_S[..., 1]) > 1.0
    np.testing.assert_allclose(
        image.scene_flow, np.broadcast_to(towards_S[:, :, None, None], (3, 2, 24, 32, 3)), atol=1e-3
    )


# --- what is seen -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [DRAWN, BENT], ids=["drawn", "traced"])
def test_heads_are_worlds_and_then_cameras(pattern):
    """Each of two cameras 5 m apart, in each of two worlds."""
    poses = [sn.Pose(), sn.Pose((5.0, 0.0, 0.0))]
    image, _ = caster(spec(pattern), pose=poses, worlds=2).take(0, 0)
    assert image.depth_m.shape == (2, 2, 24, 32)
    expected = np.broadcast_to(np.array([WALL_M, WALL_M - 5.0])[:, None, None], image.depth_m.shape)
    np.testing.assert_allclose(image.depth_m, expected, rtol=1e-5)
    assert image.X_WS.shape == (1, 2, 2)
    np.testing.assert_allclose(image.X_WS.position[0, :, :, 0], [[0.0, 5.0]] * 2, atol=1e-12)


@pytest.mark.parametrize("pattern", [DRAWN, BENT], ids=["drawn", "traced"])
def test_cameras_that_come_later_hide_their_bodies_from_nobody_else(pattern):
    """Each hides one of two boxes: that around itself, and a screen 5 m before it. When the second camera comes, scenes
    are made anew and bodies numbered anew."""
    scene = wall()
    scene.add(sn.shapes.box(2.0, 2.0, 2.0), body="eye")
    scene.add(sn.shapes.box(1.0, 90.0, 90.0), pose=sn.Pose((5.5, 0.0, 0.0)), body="a screen")
    path = sn.paths.Line(start=(0.0, 0.0, 0.0), velocity=(SPEED_M_S, 0.0, 0.0))
    env = sn.Environment(scene, sn.worlds.Kinematic({"eye": path, "a screen": path}, step_s=0.1))
    first = env.attach(spec(pattern), body="eye", hide=["eye"])._model._caster
    np.testing.assert_allclose(first.take(0, 0)[0].depth_m, 5.0, rtol=1e-5)
    second = env.attach(spec(pattern), body="eye", name="second", hide=["a screen"])._model._caster
    third = env.attach(spec(pattern), body="eye", name="third", hide=["eye", "a screen"])._model._caster
    for of, depth_m in ((first, 5.0), (second, 1.0), (third, WALL_M), (first, 5.0)):
        np.testing.assert_allclose(of.take(0, 0)[0].depth_m, depth_m, rtol=1e-5)


def test_a_restart_draws_anew_where_worlds_restart_and_nothing_for_a_camera_without_chance():
    drawn = sn.Randomization(placement=sn.Placement(max_translation_m=(3.0, 0.0, 0.0)))
    of = caster(spec(randomize=drawn), worlds=4, velocity=(0.0, 0.0, 0.0))
    before = of.take(0, 0)[0].depth_m[:, 0, 0].copy()
    of.restart(np.array([True, False, False, True]))
    after = of.take(10 * MS, 1)[0].depth_m[:, 0, 0]
    np.testing.assert_array_equal(before != after, [True, False, False, True])
    assert len(np.unique(np.concatenate([before, after]))) == 6
    plain = caster(spec(), worlds=4)
    plain.restart(np.ones(4, np.bool_))
    np.testing.assert_allclose(plain.take(0, 0)[0].depth_m, WALL_M, rtol=1e-5)


@pytest.mark.parametrize("randomize", [{"ray_jitter_rad": 5e-3}, {"intrinsics": {"fov_deg": (50.0, 70.0)}}])
def test_depths_are_whole_steps_along_the_axis_through_whatever_lens_and_jitter(randomize):
    camera = spec(randomize=sn.Randomization(when="step", **randomize), **STEPPED)
    env, _ = environment(camera, worlds=3, steps=0)
    for _ in range(3):
        env.step()
        image = env.sensors["depth_camera"].read()
        steps = image.depth_m[image.valid] / 0.5
        np.testing.assert_allclose(steps, np.rint(steps), atol=2e-4)
        assert image.valid.mean() > 0.9


@pytest.mark.parametrize("off_and_on", [False, True])
def test_the_first_flow_of_a_camera_is_that_since_it_was_switched_on_whatever_else_is_there(off_and_on):
    def first_flow(beside):
        world = sn.worlds.Kinematic({"eye": sn.paths.Line((0, 0, 0), velocity=(0, 1, 0))}, step_s=0.05)
        env = sn.Environment(wall(), world)
        if beside:  # it keeps a longer history
            slow = sn.patterns.Spinning(elevation_deg=(0.0,), columns=8, rate_hz=2)
            env.attach(sn.Lidar(pattern=slow), body="eye")
        camera = spec(DRAWN, outputs={"flow"})
        sensor = env.attach(camera, body="eye", name="early") if off_and_on else None
        if sensor is not None:
            sensor.enabled = False
        for _ in range(9):
            env.step()
        if sensor is None:
            sensor = env.attach(camera, body="eye", name="late")
        sensor.enabled = True
        env.step()
        return sensor.read().flow

    alone = first_flow(beside=False)
    np.testing.assert_array_equal(first_flow(beside=True), alone)
    focal_px = DRAWN.focal_px[0]
    np.testing.assert_allclose(alone[..., 0], focal_px * 0.05 / WALL_M, rtol=1e-4)  # 50 ms at 1 m/s to the left
