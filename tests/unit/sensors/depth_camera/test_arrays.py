"""Which arrays a depth camera has, and the images they make."""

import numpy as np
import pytest

import sensorium as sn
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
