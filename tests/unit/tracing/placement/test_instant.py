"""Who draws images places cameras and objects itself: the same numbers as placing and aiming give beforehand."""

import numpy as np
import pytest

import sensorium as sn

PATTERN = sn.patterns.Pinhole.from_fov(32, 24, 80.0, rate_hz=10.0)


def environment(worlds=3, sensors=2, center=(0.0, 0.0, 1.5)):
    """Cameras that circle among fixed and moving things."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(400.0), label="ground")
    scene.add(sn.shapes.box(1.0, 2.0, 3.0), pose=sn.Pose((6.0, 1.0, 1.0), (0.9, 0.1, 0.3, 0.2)), label="box")
    scene.add(sn.shapes.sphere(0.5), body="ball", pose=sn.Pose((0.1, 0.2, 0.3)), label="ball")
    moving = {
        "eye": sn.paths.Circle(center=center, radius=2.0, rate=0.7),
        "ball": sn.paths.Circle(center=(4.0, 0.0, 1.0), radius=1.0, rate=1.3),
    }
    env = sn.Environment(scene, sn.worlds.Kinematic(moving, step_s=0.07), worlds=worlds, seed=1)
    poses = [sn.Pose((0.1 * k, 0.0, 0.2), (1.0, 0.0, 0.1 * k, 0.3)) for k in range(sensors)]
    outputs = {"depth", "flow"}  # for which states of the past are kept
    return env, env.attach(sn.DepthCamera(pattern=PATTERN, max_range_m=100.0, outputs=outputs), body="eye", pose=poses)


def transforms(scenes):
    """Of all arrays of all worlds."""
    tables = scenes.tables
    counts = np.diff(tables.first)
    return [scenes.arrays.transforms(w, k) for w, count in enumerate(counts) for k in range(count)]


@pytest.mark.parametrize("center", [(0.0, 0.0, 1.5), (100.0, -40.0, 1.5)])
def test_transforms_are_those_of_placing(center):
    """At times between states too, and after the anchor has moved to another cell of its grid."""
    env, camera = environment(center=center)
    for _ in range(4):
        env.step()
    image, tracer = camera.read(), env._tracer
    drawn = transforms(tracer._scenes[False])
    start_ns = image.start_ns
    placed = tracer.place(start_ns, start_ns, image.X_WS.position[0, :, 0])
    np.testing.assert_array_equal(placed.anchor, tracer._scenes[False].anchor)
    for ours, theirs in zip(drawn, transforms(placed), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_poses_are_those_of_the_bodies_and_mounts():
    env, camera = environment()
    for _ in range(3):
        env.step()
    image = camera.read()
    X_WB = env._history.poses(np.array([image.start_ns]), 0)
    expected = X_WB[:, :, None] @ camera.rig.X_BS.reshape((1, -1))
    np.testing.assert_array_equal(image.X_WS.position, expected.position)
    np.testing.assert_array_equal(image.X_WS.quaternion, expected.quaternion)


def test_a_camera_that_rides_on_nothing_stands_where_it_was_put():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 50.0, 50.0), pose=sn.Pose((4.5, 0.0, 0.0)))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1))
    camera = env.attach(sn.DepthCamera(pattern=PATTERN), pose=sn.Pose((1.0, 0.0, 0.0)))
    env.step()
    assert camera.read().depth_m == pytest.approx(3.0, abs=1e-5)
    np.testing.assert_array_equal(camera.read().X_WS.position, [[[[1.0, 0.0, 0.0]]]])


def test_an_image_has_every_field():
    """It is filled by hand, and not by the dataclass that would notice."""
    env, camera = environment()
    env.step(), env.step()
    assert set(vars(camera.read())) == set(sn.DepthImage.__dataclass_fields__)
