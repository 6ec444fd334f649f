"""Arrays of rasterized images are used again, but never while a reading holds them."""

import gc
import weakref

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError

PATTERN = sn.patterns.Pinhole.from_fov(32, 24, 80.0, rate_hz=10.0)


def environment(**options):
    """A camera that drives past a box, one image a step."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0), label="ground")
    scene.add(sn.shapes.box(1.0, 1.0, 1.0), pose=sn.Pose((6.0, 1.0, 0.5)), label="box")
    car = sn.paths.Line(start=(0.0, 0.0, 1.0), velocity=(3.0, 0.0, 0.0))
    env = sn.Environment(scene, sn.worlds.Kinematic({"car": car}, step_s=0.1), worlds=2)
    camera = env.attach(sn.DepthCamera(pattern=PATTERN, max_range_m=50.0, **options), body="car")
    return env, camera


def addresses(image):
    """Where an image's arrays lie."""
    return {array.ctypes.data for array in image.images.values()}


def test_memory_is_used_again_once_an_image_is_gone():
    env, camera = environment()
    seen = set()
    for _ in range(20):
        env.step()
        seen |= addresses(camera.read())
    assert len(seen) <= 2 * len(camera.read().images)


@pytest.mark.parametrize(
    "part", [lambda image: image, lambda image: image.depth_m, lambda image: image.depth_m[0, 12:16]]
)
def test_what_is_kept_does_not_change(part):
    env, camera = environment()
    kept, copies = [], []
    for _ in range(12):  # more than are used in turn
        env.step()
        image = camera.read()
        kept.append(part(image))
        copies.append((image.depth_m if isinstance(kept[-1], sn.DepthImage) else kept[-1]).copy())
        del image
    for one, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(one.depth_m if isinstance(one, sn.DepthImage) else one, copy)
    assert not np.array_equal(copies[0], copies[-1])


@pytest.mark.parametrize("position", [lambda X_WS: lambda: X_WS.position, lambda X_WS: X_WS.position.view])
def test_poses_of_an_image_that_is_kept_do_not_change(position):
    env, camera = environment()
    env.step()
    of_first = position(camera.read().X_WS)
    for _ in range(6):
        env.step()
    np.testing.assert_allclose(of_first()[0, :, 0, 0], 0.3)
    with pytest.raises(ValueError, match="read-only"):
        of_first()[0, 0, 0, 0] = 1.0


def test_truth_can_be_asked_for_when_the_camera_has_gone_on():
    """It is measured once more, from where the camera was then."""
    noise = sn.DepthNoise(multiplier=0.1)
    env, camera = environment(noise=noise, frame="world", outputs={"depth", "points"})
    plain_env, plain = environment(frame="world", outputs={"depth", "points"})
    env.step(), plain_env.step()
    (arrival,), expected = camera.arrivals(), plain.read()
    for _ in range(6):
        env.step()
    truth = arrival.truth()
    np.testing.assert_array_equal(truth.depth_m, expected.depth_m)
    np.testing.assert_array_equal(truth.points, expected.points)


def test_a_changed_shape_of_one_image_is_not_that_of_the_next():
    env, camera = environment()
    for _ in range(6):
        env.step()
        depth = camera.read().depth_m
        assert depth.shape == (2, 24, 32)
        depth.shape = (-1,)
        del depth


def test_a_camera_goes_with_its_environment_without_a_search_for_garbage():
    env, camera = environment()
    env.step()
    caster = weakref.ref(camera._model._caster)
    gc.disable()
    try:
        del env, camera
        assert caster() is None
    finally:
        gc.enable()


def test_idle_buffers_do_not_keep_old_scenes():
    """Another sensor that hides a body has new scenes made; the buffers of four images were bound to the old ones."""
    env, camera = environment()
    images = []
    for _ in range(4):
        env.step()
        images.append(camera.read())
    old = weakref.ref(env._tracer.instants)
    images.clear()
    env.attach(sn.DepthCamera(pattern=PATTERN), body="car", name="other", hide=["car"])
    env.step(), env.step()
    gc.collect()
    assert old() is None


def test_errors_of_a_camera_that_measures_nothing_are_refused():
    errors = [{"kind": "quantization", "step_m": 0.5}]
    with pytest.raises(SpecError, match="range, depth or points must be among them"):
        environment(outputs={"segmentation"}, errors=errors)
