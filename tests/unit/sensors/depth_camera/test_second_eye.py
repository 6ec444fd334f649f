"""What a second eye sees, against rays that the ray caster casts from it to every point."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.imaging.depth_errors import StereoError
from sensorium.runtime import worker_pool

WORLDS, BASELINE_M, FAR_M = 3, 0.4, 1000.0
PATTERN = sn.patterns.Pinhole.from_fov(45, 33, 80.0, rate_hz=10.0)
POSES = (sn.Pose((0.0, 0.0, 1.0)), sn.Pose.look_at((1.0, -2.0, 1.5), (-1.0, 1.5, 0.6), up=(0.1, 0.2, 1.0)))


@pytest.fixture(scope="module")
def scene():
    rng, scene = np.random.default_rng(8), sn.Scene()
    scene.add(sn.shapes.plane(40.0, 40.0))
    for number in range(30):
        shape = sn.shapes.box(0.5, 0.5, 1.5) if number % 2 else sn.shapes.sphere(0.4, subdivisions=2)
        scene.add(shape, pose=sn.Pose((*rng.uniform(-6.0, 6.0, 2), rng.uniform(0.0, 2.0))))
    return scene


def camera(scene, **figures):
    """Two cameras in each of several worlds, after one image."""
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), worlds=WORLDS, seed=3)
    error = StereoError(baseline_m=BASELINE_M, **figures)
    spec = sn.DepthCamera(
        pattern=PATTERN, outputs={"depth", "range"}, errors=[error], min_range_m=0.01, max_range_m=FAR_M
    )
    made = env.attach(spec, pose=POSES)
    env.step()
    return made


def hidden_from_aside(scene, range_m):
    """Whether something stands between the second eye of each camera and the points at these ranges."""
    directions, caster = PATTERN.rays().direction_S.reshape(-1, 3), sn.RayCaster(scene)
    hidden = []
    for X_WS, ranges in zip(POSES, range_m.reshape(len(POSES), -1), strict=True):
        eye = X_WS.apply(np.array([0.0, -BASELINE_M, 0.0]))
        away = X_WS.apply(ranges[:, None] * directions) - eye
        nearest = caster.cast(np.broadcast_to(eye, away.shape), away).range_m
        hidden.append(nearest < np.linalg.norm(away, axis=-1) * (1.0 - 1e-3) - 1e-3)
    return np.reshape(hidden, range_m.shape)


def test_the_points_that_are_lost_are_those_that_rays_from_the_second_eye_do_not_reach(scene):
    """All else keeps its bytes: whether a point is seen changes no random number."""
    both = camera(scene)
    depth, matched = both.read().depth_m, camera(scene, occlusion=False).read().depth_m
    hidden = hidden_from_aside(scene, both.truth().range_m[0])
    lost = (depth == 0.0) & (matched > 0.0)
    np.testing.assert_array_equal(depth[~lost], matched[~lost])
    for world in range(WORLDS):
        asked = matched[world] > 0.0
        assert (lost[world] != (hidden & asked)).mean() < 2e-3  # points at the very edge of what hides them
        assert lost[world].mean() > 0.02


def test_bytes_are_the_same_on_any_number_of_threads(scene):
    before, images = worker_pool.get_threads(), []
    try:
        for count in (1, 2, 5):
            worker_pool.set_threads(count)
            images.append(camera(scene).read().depth_m)
    finally:
        worker_pool.set_threads(before)
    np.testing.assert_array_equal(images[0], images[1])
    np.testing.assert_array_equal(images[0], images[2])
