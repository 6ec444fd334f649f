"""Which arrays a depth camera has, and the images they make."""

import gc
import weakref

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.sensors.depth_camera.arrays import DepthArrays
from sensorium.sensors.depth_camera.errors import STAGES

LENS = sn.patterns.Pinhole.from_fov(4, 3, 80.0, rate_hz=10.0)
STEREO = sn.imaging.depth_errors.StereoError(baseline_m=0.05)


def arrays(axes=(2, 3), heads=6, stages=(), **options):
    spec = sn.DepthCamera(pattern=LENS, min_range_m=0.1, max_range_m=10.0, **options)
    return DepthArrays(spec, axes, heads, stages)


def filled(outputs):
    """Names of the arrays that have pixels."""
    return {name for name, array in outputs._asdict().items() if array.shape[1]}


@pytest.mark.parametrize(
    ("output", "array", "dtype", "shape"),
    [
        ("depth", "depth", np.float32, ()),
        ("range", "range_m", np.float32, ()),
        ("points", "points_S", np.float32, (3,)),
        ("segmentation", "label", np.int32, ()),
        ("object_id", "object_id", np.int32, ()),
        ("face_id", "face_id", np.int32, ()),
        ("normals", "normals", np.float32, (3,)),
        ("flow", "flow", np.float32, (2,)),
        ("scene_flow", "scene_flow", np.float32, (3,)),
        ("color", "color", np.uint8, (3,)),
    ],
)
def test_only_what_is_asked_for_has_pixels(output, array, dtype, shape):
    of_camera = arrays(outputs={output})
    outputs = of_camera.new(np.zeros)
    assert filled(outputs) == {array}
    made = getattr(outputs, array)
    assert (made.shape, made.dtype) == ((6, 12, *shape), dtype)

    # What is shown are the same numbers, in the shape of readings
    images = of_camera.images(outputs)
    assert list(images) == [output]
    assert images[output].shape == (2, 3, 3, 4, *shape)
    assert np.shares_memory(images[output], made)


def test_points_in_the_world_are_of_more_digits():
    outputs = arrays(outputs={"points"}, frame="world").new(np.zeros)
    assert filled(outputs) == {"points_W"}
    assert outputs.points_W.dtype == np.float64


def test_pixels_are_in_rows_from_the_first_on():
    of_camera = arrays(axes=(), heads=1, outputs={"depth"})
    outputs = of_camera.new(np.zeros)
    outputs.depth[0] = np.arange(12.0)
    np.testing.assert_array_equal(of_camera.images(outputs)["depth"], np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize(
    ("options", "stages", "need_truth"),
    [
        ({"outputs": {"depth"}}, (), False),
        ({"outputs": {"depth"}, "noise": sn.DepthNoise(dropout=0.1)}, (), True),
        ({"outputs": {"points"}, "noise": sn.DepthNoise(multiplier=0.1)}, (), True),
        ({"outputs": {"normals"}, "noise": sn.DepthNoise(dropout=0.1)}, (), False),
        ({"outputs": {"range"}, "errors": [STEREO]}, [STAGES[type(STEREO)]], True),
    ],
)
def test_true_ranges_are_kept_where_what_is_measured_may_differ(options, stages, need_truth):
    of_camera = arrays(stages=stages, **options)
    assert of_camera.need_truth == need_truth
    outputs = of_camera.new(np.zeros)
    assert ("true_m" in filled(outputs)) == need_truth
    assert "true_m" not in of_camera.images(outputs)
    assert set().union(*(stage.needs for stage in stages)) <= filled(outputs)


def test_what_is_measured_once_more_takes_the_place_of_what_was():
    of_camera = arrays(outputs={"depth", "points", "normals"}, noise=sn.DepthNoise(dropout=0.1))
    once, again = of_camera.new(np.zeros), of_camera.new_measured(np.ones)
    assert filled(again) == {"depth", "points_S"}
    both = of_camera.with_measured(once, again)
    assert both.depth is again.depth
    assert both.points_S is again.points_S
    assert both.normals is once.normals
    assert both.true_m is once.true_m


@pytest.mark.parametrize(
    ("outputs", "measured"), [({"depth"}, True), ({"flow", "points"}, True), ({"normals", "flow", "color"}, False)]
)
def test_distances_and_points_are_measured(outputs, measured):
    assert DepthArrays.are_measured(outputs) == measured


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
