"""Outputs of depth cameras as pictures."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.sensors.depth_camera.image import DepthImage
from sensorium.view.depth_pictures import depth_picture, depth_pictures
from sensorium.view.plots import label_colors

LABELS = {"a": 1, "b": 2}


def image(**images):
    lens = np.ones(2)
    return DepthImage(images, -8.0, 8.0, 0.0, 1.0, "sensor", lens, lens, 0, 0, 0, sn.Pose())


def test_nearer_is_another_color_and_what_is_no_distance_has_its_own():
    depth = np.array([[1.0, 4.0, 8.0, -8.0, 0.0]], np.float32)
    shown = depth_picture(image(depth=depth), "depth", depth, LABELS)
    assert len({tuple(pixel) for pixel in shown[0]}) == 5


def test_labels_have_the_colors_of_all_pictures():
    labels = np.array([[-1, 0, 1, 2, 9]], np.int32)
    shown = depth_picture(image(segmentation=labels), "segmentation", labels, LABELS)
    expected = np.round(255 * label_colors(LABELS)).astype(np.uint8)
    np.testing.assert_array_equal(shown[0, :4], expected[[-1, 0, 1, 2]])


def test_flow_is_bright_where_it_is_long_and_its_hue_is_its_direction():
    flow = np.array([[[1.0, 0.0], [0.1, 0.0], [-1.0, 0.0], [0.0, 0.0]]], np.float32)
    shown = depth_picture(image(flow=flow), "flow", flow, LABELS).astype(int)
    assert shown[0, 0].sum() > shown[0, 1].sum() > shown[0, 3].sum() == 0
    assert shown[0, 0].argmax() == 0
    assert shown[0, 2].argmax() != 0


def test_pictures_stand_side_by_side_and_faces_are_none():
    normals = np.zeros((4, 6, 3), np.float32)
    normals[0] = (-1.0, 0.0, 0.0)
    made = image(normals=normals, color=np.zeros((4, 6, 3), np.uint8), face_id=np.zeros((4, 6), np.int32))
    assert depth_picture(made, "face_id", made.face_id, LABELS) is None
    np.testing.assert_array_equal(depth_picture(made, "normals", normals, LABELS)[:2, 0], [[0, 128, 128], [0, 0, 0]])
    figure = depth_pictures(made, LABELS, ["normals", "color"], columns=2)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["normals", "color"]


@pytest.mark.parametrize("name", ["scene_flow"])
def test_still_scenes_are_gray(name):
    still = np.zeros((2, 2, 3), np.float32)
    assert (depth_picture(image(**{name: still}), name, still, LABELS) == 128).all()


def test_what_is_no_picture_is_told():
    faces = np.zeros((2, 2), np.int32)
    with pytest.raises(SpecError, match="names has 'face_id', which is no picture"):
        depth_pictures(image(face_id=faces), LABELS, ["face_id"])
