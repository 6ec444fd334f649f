"""Which way the ratio to Warp goes, and that Warp places bodies anew for every image, of the same worlds."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.qa.benchmarks import timing
from sensorium.qa.benchmarks.rows import depth, depth_warp


def test_the_ratio_is_how_many_times_faster_we_are(monkeypatch):
    """A step of 1 s and images of Warp's of 5 s, by a clock that only moves when told to."""
    now_s, made = [0.0], []
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now_s[0])

    def taking(duration_s):
        def call():
            now_s[0] += duration_s

        return call

    class Fake:
        def __init__(self, worlds):
            made.append(worlds)
            self.step = taking(1.0)

    monkeypatch.setattr(depth_warp.depth, "rig", Fake)
    monkeypatch.setattr(depth_warp, "WarpDepth", lambda of: made.append(of) or taking(5.0))
    assert depth_warp.against_warp(7, rounds=3) == 5.0
    assert made[0] == 7
    assert isinstance(made[1], Fake)  # both have the same worlds

    # Each warmed up once, then timed in every round
    assert now_s[0] == (1.0 + 5.0) * (1 + 3)


def test_bodies_are_placed_where_the_last_images_saw_them_each_time_anew(monkeypatch):
    pytest.importorskip("warp")
    rig = depth.rig(2, side=16)
    other = depth_warp.WarpDepth(rig)
    names, state = rig.env.world.body_names, rig.env.state
    placed, place = [], other._caster.place
    monkeypatch.setattr(other._caster, "place", lambda poses: placed.append(poses) or place(poses))
    assert other.images is None
    other()
    first = other.images.depth_m.numpy().copy()
    rig.step()  # which moves our bodies, not those of the image before
    other()
    np.testing.assert_array_equal(other.images.depth_m.numpy(), first)
    assert len(placed) == 2
    for poses in placed:
        assert set(poses) == {name for name in names if name.startswith("obstacle")}
        for name, pose in poses.items():
            np.testing.assert_array_equal(pose.position, state.X_WB[:, names.index(name)].position)


def test_images_end_where_the_cameras_do():
    """A camera that looks to the left at a box 2.5 m away, and beyond 5 m at a wall."""
    pytest.importorskip("warp")
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 1.0, 1.0), body="box", label="box")
    scene.add(sn.shapes.box(90.0, 1.0, 90.0), pose=sn.Pose((0.0, 10.5, 0.0)), label="wall")
    paths = {"eye": sn.paths.Fixed(sn.Pose((0.0, -1.0, 0.0))), "box": sn.paths.Fixed(sn.Pose((0.0, 2.0, 0.0)))}
    pattern = sn.patterns.Pinhole.from_fov(9, 9, 60.0, rate_hz=10.0)
    for far_m, labels in ((5.0, {-1, 1}), (50.0, {1, 2})):
        env = sn.Environment(scene, sn.worlds.Kinematic(paths, step_s=0.1), worlds=2)
        spec = sn.DepthCamera(pattern=pattern, max_range_m=far_m, outputs={"depth", "segmentation"})
        camera = env.attach(spec, body="eye", pose=sn.Pose.from_euler_deg(yaw=90.0))
        env.step()
        other = depth_warp.WarpDepth(depth.Rig(env, camera, pattern))
        other()
        label, meters = other.images.label.numpy(), other.images.depth_m.numpy()
        assert set(label.ravel().tolist()) == labels
        np.testing.assert_array_equal(label, camera.read().segmentation)
        np.testing.assert_allclose(meters[label == 1], 2.5, rtol=1e-5)
        np.testing.assert_allclose(meters[label == 2], 11.0, rtol=1e-5)
