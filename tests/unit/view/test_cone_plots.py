"""Space drawn from one side: what lies where on the picture."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.view.cone_plots import Prospect
from sensorium.view.plots import new_figure


def prospect(**view):
    figure = new_figure(4.0, 4.0)
    axes = figure.add_subplot()
    return figure, axes, Prospect(axes, "space", **view)


def test_seen_from_behind_left_is_left_and_up_is_up():
    _, axes, space = prospect(azimuth_deg=180.0, elevation_deg=0.0)
    space.ray((0, 0, 0), (5.0, 1.0, 2.0))
    np.testing.assert_allclose(axes.lines[0].get_xydata(), [(0, 0), (-1, 2)], atol=1e-12)


def test_seen_from_above_x_goes_up_the_page():
    _, axes, space = prospect(azimuth_deg=180.0, elevation_deg=90.0)
    space.ray((0, 0, 0), (5.0, 1.0, 2.0))
    np.testing.assert_allclose(axes.lines[0].get_xydata(), [(0, 0), (-1, 5)], atol=1e-12)


def test_a_cone_is_as_wide_as_its_angles_say_and_a_solid_is_in_the_picture():
    figure, axes, space = prospect(azimuth_deg=180.0, elevation_deg=0.0)
    space.cone(sn.Pose(), (90.0, 60.0), 2.0, "#4aa8ff")
    rim = axes.lines[0].get_xydata()
    assert np.abs(rim).max(axis=0) == pytest.approx((2.0, 2.0 * np.tan(np.radians(30.0))), rel=1e-3)
    space.solid(sn.shapes.box(1, 1, 1), sn.Pose((4.0, 0.0, 3.0)), "#ff8c42")
    space.sensor((0.0, 0.0, 0.0))
    assert axes.get_ylim()[1] >= 3.5
    figure.canvas.draw()
    assert len(np.unique(np.asarray(figure.canvas.buffer_rgba()).reshape(-1, 4), axis=0)) > 10
