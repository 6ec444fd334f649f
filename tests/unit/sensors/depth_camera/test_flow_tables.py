"""Flow of depth images: against motion in closed form, and against points carried along by hand."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.optics import brown_distorted, fisheye_radius

PINHOLE = sn.patterns.Pinhole.from_fov(33, 25, 87.0, rate_hz=10.0)
BROWN = PINHOLE.model_copy(update={"distortion": (-0.1, 0.02, 0.001, -0.002, 0.0)})
FISHEYE = sn.patterns.Fisheye(
    width=33, height=25, focal_px=(14.0, 15.0), distortion=(0.02, 0.0, 0.0, 0.0), rate_hz=10.0
)

STEP_S = 0.1
CIRCLE = sn.paths.Circle(center=(0.0, 0.0, 1.5), radius=0.4, rate=0.9, phase=-np.pi / 2)
SPIN = sn.paths.Spin(position=(4.0, 0.2, 1.5), axis=(0.2, 0.5, 1.0), rate=1.1)
STILL = sn.paths.Line(start=(0.0, 0.0, 1.5), velocity=(0.0, 0.0, 0.0))
MOUNT = sn.Pose.from_euler_deg((0.1, -0.05, 0.2), roll=5.0, pitch=-3.0, yaw=8.0)


def taken(pattern, scene, moving, *, frame="sensor", pose=None, steps=3):
    world = sn.worlds.Kinematic(moving, step_s=STEP_S)
    env = sn.Environment(scene, world)
    outputs = {"range", "points", "flow", "scene_flow", "segmentation"}
    camera = sn.DepthCamera(pattern=pattern, outputs=outputs, frame=frame, max_range_m=50.0, min_range_m=0.01)
    sensor = env.attach(camera, body="eye", pose=pose)
    for _ in range(steps):
        env.step()
    return sensor.read()


def wall_on(body):
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 60.0, 60.0), pose=sn.Pose(position=(0.1, 0.0, 0.0)), body=body, label="wall")
    return scene


def projected(pattern, points_S):
    """Image points [px] by the lens's own law, shape (..., 2)."""
    x, y, z = np.moveaxis(np.asarray(points_S, np.float64), -1, 0)
    if isinstance(pattern, sn.patterns.Fisheye):
        aside = np.maximum(np.hypot(y, z), 1e-12)
        seen = fisheye_radius(np.arctan2(aside, x), pattern.distortion)[..., None] * np.stack([-y, -z], -1)
        seen /= aside[..., None]
    else:
        seen = brown_distorted(np.stack([-y / x, -z / x], -1), pattern.distortion)
    return np.array(pattern.center) + np.array(pattern.focal_px) * seen


def test_a_wall_that_slides_moves_all_pixels_alike():
    """1 m/s to the left at 5 m: f v T / z to the left in the image."""
    moving = {"eye": STILL, "wall": sn.paths.Line(start=(5.0, 0.0, 0.0), velocity=(0.0, 1.0, 0.0))}
    image = taken(PINHOLE, wall_on("wall"), moving)
    np.testing.assert_allclose(image.flow[..., 0], -PINHOLE.focal_px[0] * 1.0 * STEP_S / 5.0, rtol=1e-5)
    np.testing.assert_allclose(image.flow[..., 1], 0.0, atol=1e-5)
    np.testing.assert_allclose(image.scene_flow, np.broadcast_to([0.0, 1.0, 0.0], (25, 33, 3)), atol=1e-6)


def test_a_wall_that_comes_nearer_spreads_from_the_middle():
    """From depth z + v T to z, a pixel r from the middle was at r z / (z + v T)."""
    moving = {"eye": STILL, "wall": sn.paths.Line(start=(5.6, 0.0, 0.0), velocity=(-2.0, 0.0, 0.0))}
    image = taken(PINHOLE, wall_on("wall"), moving)  # at 0.3 s the wall stands at 5 m
    v, u = np.mgrid[0:25, 0:33]
    away = np.stack([u, v], -1) - np.array(PINHOLE.center)
    np.testing.assert_allclose(image.flow, away * (1.0 - 5.0 / 5.2), atol=1e-4)
    np.testing.assert_allclose(image.scene_flow, np.broadcast_to([-2.0, 0.0, 0.0], (25, 33, 3)), atol=1e-6)


@pytest.mark.parametrize("pattern", [PINHOLE, BROWN, FISHEYE], ids=["pinhole", "brown", "fisheye"])
def test_a_moving_and_turning_camera_and_a_turning_body(pattern):
    """Points carried back by hand to where body and camera were an image ago, and seen there through the lens."""
    scene = wall_on("wall")
    scene.add(sn.shapes.box(1.0, 1.2, 0.8), body="box", label="box")
    moving = {"eye": CIRCLE, "box": SPIN, "wall": sn.paths.Line(start=(7.0, 0.0, 0.0), velocity=(-0.5, 0.3, 0.2))}
    image = taken(pattern, scene, moving, pose=MOUNT)
    now_s, then_s = image.start_ns * 1e-9, image.start_ns * 1e-9 - STEP_S
    points_S = image.points.astype(np.float64)
    X_WS, X_WS_then = moving["eye"].pose(now_s) @ MOUNT, moving["eye"].pose(then_s) @ MOUNT
    for label, name in ((1, "wall"), (2, "box")):
        seen = image.segmentation == label
        assert seen.sum() > 10
        on_body = moving[name].pose(now_s).inverse().apply(X_WS.apply(points_S[seen]))
        before = X_WS_then.inverse().apply(moving[name].pose(then_s).apply(on_body))
        expected = projected(pattern, points_S[seen]) - projected(pattern, before)
        np.testing.assert_allclose(image.flow[seen], expected, atol=1e-4)
        assert np.abs(expected).max() > 0.1

    # The sky has no flow
    assert (image.flow[image.segmentation == -1] == 0.0).all()


@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_scene_flow_is_the_derivative_of_a_points_place(frame):
    moving = {"eye": CIRCLE, "box": SPIN}
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 60.0, 60.0), pose=sn.Pose(position=(6.1, 0.0, 0.0)), label="wall")
    scene.add(sn.shapes.box(1.0, 1.2, 0.8), body="box", label="box")
    image = taken(PINHOLE, scene, moving, frame=frame, pose=MOUNT)
    now_s, h = image.start_ns * 1e-9, 1e-5
    points_S = taken(PINHOLE, scene, moving, pose=MOUNT).points.astype(np.float64)
    X_WS = [moving["eye"].pose(now_s + dt) @ MOUNT for dt in (-h, 0.0, h)]
    for label in (1, 2):
        seen = image.segmentation == label
        assert seen.sum() > 10
        fixed = X_WS[1].apply(points_S[seen])
        places = [fixed] * 3
        if label == 2:
            on_body = SPIN.pose(now_s).inverse().apply(fixed)
            places = [SPIN.pose(now_s + dt).apply(on_body) for dt in (-h, 0.0, h)]
        if frame == "sensor":
            places = [X.inverse().apply(p) for X, p in zip(X_WS, places, strict=True)]
        np.testing.assert_allclose(image.scene_flow[seen], (places[2] - places[0]) / (2.0 * h), atol=2e-5)
    if frame == "world":
        assert (image.scene_flow[image.segmentation == 1] == 0.0).all()


def test_the_first_image_after_a_reset_has_no_image_before():
    moving = {"eye": STILL, "wall": sn.paths.Line(start=(5.0, 0.0, 0.0), velocity=(0.0, 1.0, 0.0))}
    env = sn.Environment(wall_on("wall"), sn.worlds.Kinematic(moving, step_s=0.05), worlds=2)
    sensor = env.attach(sn.DepthCamera(pattern=PINHOLE, outputs={"flow", "scene_flow"}), body="eye")
    for _ in range(5):
        env.step()
    env.reset(np.array([True, False]))
    env.step()
    first = sensor.read()
    assert first.start_ns == 300_000_000
    full = -PINHOLE.focal_px[0] * 0.1 / 5.0
    np.testing.assert_allclose(first.flow[1, ..., 0], full, rtol=1e-5)
    np.testing.assert_allclose(first.flow[0, ..., 0], 0.5 * full, rtol=1e-5)  # it moved since the reset only
    np.testing.assert_allclose(first.scene_flow[..., 1], 1.0, rtol=1e-5)
