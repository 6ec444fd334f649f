"""Worlds that are drawn anew at a reset: what sensors see follows, and nothing else changes."""

import copy

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError

WORLDS = 6
POST = sn.SceneObject(sn.shapes.cylinder(0.4, 3.0, 16), material=sn.Lambertian(reflectance=0.2), label="post")
WALL = sn.SceneObject(sn.shapes.box(0.3, 3.0, 3.0), material=sn.Lambertian(reflectance=0.8), label="wall")
STREWN = sn.Scatter(
    [POST, WALL], (3, 8), low=(-12, -12, 0), high=(12, 12, 0), gap_m=0.3, clear=[sn.ClearZone((0, 0), 2)]
)
PATTERN = sn.patterns.Spinning(elevation_deg=(0.0,), columns=128, rate_hz=10.0)


def environment(scene, lidar=None, **options):
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), seed=4, **options)
    return env, env.attach(sn.Lidar(pattern=PATTERN) if lidar is None else lidar)


def batch(worlds=WORLDS, first_world=0, seed=2):
    return sn.SceneBatch.scattered([STREWN], worlds=worlds, seed=seed, first_world=first_world)


def as_cast(scene, world):
    """What rays meet in a world of a batch as it stands, by a caster of its own."""
    caster = sn.RayCaster(sn.SceneBatch(scene.assets, scene.index[[world]], scene.pose[[world]]))
    direction = PATTERN.rays().direction_S[0].astype(np.float64)
    return caster.cast(np.zeros_like(direction), direction)


def test_the_worlds_chosen_change_and_sensors_see_them_as_they_are():
    env, lidar = environment(batch())
    env.step()
    before, first = env.scene, lidar.read()
    mask = np.array([True, False, True, False, False, True])
    env.reset(mask)
    env.step()
    after = env.scene
    np.testing.assert_array_equal(before.index[~mask], after.index[~mask])
    np.testing.assert_array_equal(before.pose.position[~mask], after.pose.position[~mask])
    assert (before.pose.position[mask] != after.pose.position[mask]).any(axis=(1, 2)).all()

    scan = lidar.read()
    np.testing.assert_array_equal(scan.range_m[~mask], first.range_m[~mask])
    for world in range(WORLDS):
        hits = as_cast(after, world)
        np.testing.assert_array_equal(scan.label[world, 0], np.where(hits.hit, hits.label, -1))
        np.testing.assert_allclose(scan.range_m[world, 0], np.where(hits.hit, hits.range_m, 0.0), rtol=1e-5)
        np.testing.assert_array_equal(scan.object_id[world, 0], hits.object_id)


def test_episodes_follow_from_seed_and_world_alone():
    env, _ = environment(batch())
    for mask in ([True] * 6, [True, False] * 3, [False, True] * 3):
        env.step()
        env.reset(np.array(mask))
    scene = env.scene
    alone, _ = environment(batch(worlds=1, first_world=4), first_world=4)
    alone.reset()
    alone.reset()
    np.testing.assert_array_equal(alone.scene.pose.position[0], scene.pose.position[4])
    np.testing.assert_array_equal(alone.scene.index[0], scene.index[4])


def test_light_follows_the_materials_of_the_new_things():
    lidar = sn.Lidar(pattern=PATTERN, mode="relative")
    env, sensor = environment(batch(), lidar)
    env.step()
    env.reset()
    env.step()
    scan = sensor.read()
    fresh, other = environment(sn.SceneBatch(env.scene.assets, env.scene.index, env.scene.pose), lidar)
    fresh.step()
    fresh.step()
    np.testing.assert_array_equal(scan.intensity, other.read().intensity)
    assert (scan.intensity > 0.0).any()


def test_cameras_see_the_new_things_as_they_are():
    """Labels, normals, colors and light are those of an environment that began with the same things."""
    depth = sn.DepthCamera(
        pattern=sn.patterns.Pinhole.from_fov(24, 16, 90.0, rate_hz=10.0),
        outputs={"depth", "segmentation", "normals", "color"},
    )
    eye = sn.Camera(
        pupil_distance_m=4.01e-3,
        width_m=4e-3,
        height_m=3e-3,
        columns=24,
        rows=18,
        focal_length_m=4e-3,
        pupil_radius_m=1e-3,
        exposure_s=1e-4,
        sample_factor=1,
        pupil_rays=1,
    )

    def looking(scene):
        env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), seed=4, sun=sn.fields.Sun(elevation_deg=40.0))
        return env, env.attach(depth), env.attach(eye)

    env, sees, films = looking(batch())
    env.step()
    env.reset()
    env.step()
    fresh, also_sees, also_films = looking(sn.SceneBatch(env.scene.assets, env.scene.index, env.scene.pose))
    fresh.step()
    fresh.step()
    for name in ("depth_m", "segmentation", "normals", "color"):
        np.testing.assert_array_equal(getattr(sees.read(), name), getattr(also_sees.read(), name))
    assert len(np.unique(sees.read().segmentation)) == 3
    np.testing.assert_array_equal(films.read().image, also_films.read().image)


def test_truth_of_what_was_seen_before_is_void_where_worlds_are_gone():
    lidar = sn.Lidar(pattern=PATTERN, mode="relative", noise={"base_m": 0.05})
    env, sensor = environment(batch(), lidar)
    env.step()
    mask = np.array([True, False, False, False, False, False])
    seen = sensor.truth()
    env.reset(mask)
    truth = sensor.truth()
    assert not truth.valid[0].any()
    np.testing.assert_array_equal(truth.range_m[1:], seen.range_m[1:])


def test_a_function_of_the_users_own_draws():
    asked = []

    def redraw(worlds, episodes):
        asked.append((worlds.tolist(), episodes.tolist()))
        return np.zeros((len(worlds), 1), int), sn.Pose(
            np.stack([2.0 + episodes, 0.0 * worlds, 0.0 * worlds], -1)[:, None]
        )

    scene = sn.SceneBatch([WALL], np.zeros((3, 1), int), sn.Pose((5.0, 0.0, 0.0)), redraw=redraw)
    env, lidar = environment(scene)
    env.reset(np.array([False, True, True]))
    env.reset(np.array([False, False, True]))
    env.step()
    assert asked == [([1, 2], [1, 1]), ([2], [2])]
    ahead = lidar.read().range_m.reshape(3, -1)
    nearest = np.where(ahead > 0, ahead, np.inf).min(axis=1)
    np.testing.assert_allclose(nearest, [4.85, 2.85, 3.85], atol=1e-3)


def test_moving_things_keep_their_bodies():
    carried = sn.Scatter([POST, WALL], 1, body=["cart"], low=(0, 0, 0), high=(0, 0, 0.5))
    scene = sn.SceneBatch.scattered([STREWN, carried], worlds=3, seed=5)
    world = sn.worlds.Kinematic({"cart": sn.paths.Line(start=(1.5, 0, 0), velocity=(0.1, 0, 0))}, step_s=0.1)
    env = sn.Environment(scene, world, seed=1)
    lidar = env.attach(sn.Lidar(pattern=PATTERN))
    env.step()
    env.reset(np.array([True, True, False]))
    env.step()
    assert (lidar.read().object_id == 8).any(axis=(1, 2)).all()


def test_bad_draws_are_told():
    one_row = sn.SceneBatch([WALL], [[0]], sn.Pose(), redraw=lambda worlds, episodes: None)
    with pytest.raises(SceneError, match="one row for 4 worlds and redraw; it needs a row for each"):
        sn.Environment(one_row, worlds=4)
    with pytest.raises(SceneError, match="redraw is a str; it must be a function"):
        sn.SceneBatch([WALL], [[0]], sn.Pose(), redraw="again")
    wrong = sn.SceneBatch([WALL], [[0], [0]], sn.Pose(), redraw=lambda worlds, episodes: ([[0, 0]], sn.Pose()))
    with pytest.raises(SceneError, match=r"redraw gave an index of shape \(1, 2\); it must be \(2, 1\)"):
        sn.Environment(wrong).reset()
    index = [[0], [0]]
    for given, told in ((None, "a NoneType"), (np.array(index), "a ndarray"), ((index, sn.Pose(), 1), "3 things")):
        wrong = sn.SceneBatch([WALL], index, sn.Pose(), redraw=lambda worlds, episodes, given=given: given)
        with pytest.raises(SceneError, match=f"redraw gave {told}; it must give two, the index and the pose"):
            sn.Environment(wrong).reset()


def test_a_reset_that_finds_no_room_changes_nothing():
    posts, full = sn.SceneBatch.scattered([STREWN], worlds=4, seed=2), False

    def redraw(worlds, episodes):
        if full:
            raise SceneError("no room")
        return posts.redraw(worlds, episodes)

    scene = sn.SceneBatch(posts.assets, posts.index, posts.pose, redraw=redraw)
    moving = sn.worlds.Kinematic({"eye": sn.paths.Line((0, 0, 1), velocity=(0.1, 0, 0))}, step_s=0.1)
    env = sn.Environment(scene, moving, seed=4)
    lidar = env.attach(sn.Lidar(pattern=PATTERN), body="eye")
    for _ in range(3):
        env.step()
    env.reset()
    env.step()
    before, at = env.scene, env.state.X_WB.position.copy()
    full = True
    with pytest.raises(SceneError, match="no room"):
        env.reset()
    assert env.scene is before
    np.testing.assert_array_equal(env.state.X_WB.position, at)
    env.step()
    assert env.state.X_WB.position[0, 0, 0] == pytest.approx(at[0, 0, 0] + 0.01)

    # Nor is the draw that failed counted: the next is the one that should have come
    full = False
    env.reset()
    index, pose = posts.redraw(np.arange(4), np.full(4, 2))
    np.testing.assert_array_equal(env.scene.index, index)
    np.testing.assert_array_equal(env.scene.pose.position, pose.position)
    env.step()
    assert lidar.read().range_m.shape[0] == 4


def test_scenes_that_are_looked_at_say_why_they_cannot_be_copied():
    env, _ = environment(batch())
    env.step()
    with pytest.raises(TypeError, match="make the environment or the caster anew"):
        copy.deepcopy(env)
