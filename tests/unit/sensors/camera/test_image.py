"""One image of a camera: distances, times, stages on request, and worlds turned black."""

import warnings

import numpy as np
import pytest

import sensorium as sn
from sensorium.sensors.camera.image import CameraImage

ROWS, COLUMNS, FACTOR = 2, 3, 2
CELLS = ROWS * FACTOR, COLUMNS * FACTOR
FULL = ("image", "raw", "ideal", "inverse_depth")


def picture(axes=(), bands=2, **fields):
    """An image of numbers above 0, no two alike."""

    def numbers(shape, dtype):
        return np.arange(1, 1 + np.prod(shape), dtype=dtype).reshape(shape)

    made = {
        "image": numbers((*axes, ROWS, COLUMNS, bands), np.uint8),
        "raw": numbers((*axes, ROWS, COLUMNS, bands), np.uint16),
        "ideal": numbers((*axes, *CELLS, bands), np.float32),
        "inverse_depth": 1.0 / numbers((*axes, *CELLS), np.float32),
        "axial": np.linspace(0.5, 1.0, np.prod(CELLS), dtype=np.float32).reshape(CELLS),
        "bands": ("red", "green"),
        "start_ns": 100,
        "end_ns": 250,
        "time_ns": 103,
        "X_WS": sn.Pose().broadcast_to((1, 1, 1)),
        "exposure_s": np.full(axes, 1e-3),
        "gain": np.ones(axes),
        "balance": np.ones((*axes, bands)),
        "make_stages": list,
    }
    return CameraImage(**made | fields)


@pytest.mark.parametrize("axes", [(), (2,), (2, 3)])
def test_distance_is_depth_over_the_cosine_of_each_cell_whatever_axes_come_first(axes):
    image = picture(axes)
    depth_m = np.arange(1.0, 1.0 + np.prod((*axes, *CELLS))).reshape(*axes, *CELLS)
    assert image.distance_m.dtype == np.float32
    np.testing.assert_allclose(image.distance_m, depth_m / image.axial, rtol=1e-6)


def test_the_sky_is_infinitely_far_and_that_is_no_reason_to_warn():
    depth = np.zeros(CELLS, np.float32)
    depth[1, 1] = 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        distance_m = picture(inverse_depth=depth).distance_m
    assert np.isposinf(distance_m).sum() == distance_m.size - 1
    assert distance_m[1, 1] == np.float32(2.0) / picture().axial[1, 1]


def test_an_image_is_stamped_by_its_own_clock():
    assert picture().time_ns == 103


def test_stages_are_worked_out_when_they_are_asked_for_and_each_time_anew():
    asked = []
    image = picture(make_stages=lambda: asked.append(1) or [("ideal", np.full(1, len(asked)))])
    assert not asked
    ((name, first),), ((_, second),) = image.stages(), image.stages()
    assert (name, *first, *second) == ("ideal", 1, 2)


@pytest.mark.parametrize("axes", [(3,), (3, 2)])
def test_masked_worlds_are_black_and_the_others_as_they_were(axes):
    mask = np.array([True, False, True])
    image = picture(axes)
    kept = {name: getattr(image, name).copy() for name in FULL}
    black = image.without(mask)
    for name in FULL:
        before, after = kept[name], getattr(black, name)
        assert (after.shape, after.dtype) == (before.shape, before.dtype), name
        assert not after[mask].any(), name
        np.testing.assert_array_equal(after[~mask], before[~mask], err_msg=name)
        np.testing.assert_array_equal(getattr(image, name), before, err_msg=name)

    # Where there is nothing to see, nothing is near; and what is no image stays
    assert np.isposinf(black.distance_m[mask]).all()
    for name in ("axial", "bands", "start_ns", "end_ns", "time_ns", "X_WS", "make_stages"):
        assert getattr(black, name) is getattr(image, name), name


def test_an_image_without_an_axis_of_worlds_is_black_as_a_whole_or_not_at_all():
    image = picture()
    assert not image.without(np.array([True])).image.any()
    np.testing.assert_array_equal(image.without(np.array([False])).image, image.image)


def test_a_camera_without_a_converter_has_no_codes_to_turn_black():
    assert picture((2,), raw=None).without(np.array([True, False])).raw is None
