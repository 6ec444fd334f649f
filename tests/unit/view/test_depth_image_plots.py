"""Images of depth cameras as colors."""

import numpy as np

from sensorium.view import depth_image_plots as draw


def test_near_and_far_differ_and_nothing_is_dark():
    depth = np.array([[1.0, 2.0, 8.0, 0.0]])
    picture = draw.depth_colors(depth, depth > 0.0, near_m=1.0, far_m=8.0)
    assert picture.shape == (1, 4, 3)
    assert len(np.unique(picture.reshape(-1, 3).round(3), axis=0)) == 4
    assert picture[0, 3].max() < 0.1


def test_errors_are_blue_below_and_red_above():
    error = np.array([[-0.2, 0.0, 0.2, np.nan]])
    picture = draw.error_colors(error, np.isfinite(error), most_m=0.2)
    assert picture[0, 0, 2] > picture[0, 0, 0]
    assert picture[0, 2, 0] > picture[0, 2, 2]
    np.testing.assert_allclose(picture[0, 1], 0.965, atol=0.02)


def test_every_label_has_a_color_of_its_own():
    picture = draw.label_colors(np.array([[-1, 0, 1, 2, 9, 11]]))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) == 5  # ten colors, then they repeat
    np.testing.assert_array_equal(picture[0, 2], picture[0, 5])


def test_normals_and_flow_show_their_direction():
    normals = np.array([[[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]])
    picture = draw.normal_colors(normals)
    np.testing.assert_allclose(picture[0, 0], [0.5, 0.5, 1.0])
    assert picture[0, 1].max() < 0.1
    flow = np.array([[[4.0, 0.0], [-4.0, 0.0], [1.0, 0.0], [0.0, 0.0]]])
    colors = draw.flow_colors(flow, most_px=4.0)
    assert colors[0, 0].argmax() == 0
    assert colors[0, 1].argmin() == 0
    np.testing.assert_allclose(colors[0, 2], 0.5 * colors[0, 0])
    assert colors[0, 3].max() == 0.0


def test_panels_have_a_title_each():
    pictures = [(name, np.zeros((20, 30, 3))) for name in "abcd"]
    figure = draw.panels(pictures, columns=3)
    assert len(figure.axes) == 6
