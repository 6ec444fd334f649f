"""Pieces of lidar pictures: what is drawn is what was given."""

import numpy as np
from matplotlib.colors import to_hex

import sensorium as sn
from sensorium.view import lidar_plots as draw


def test_a_canvas_has_its_axes_in_reading_order():
    figure, axes = draw.canvas(6.0, 4.0, 2, 3, share_x=True)
    assert len(axes) == 6
    corners = [axis.get_position() for axis in axes]
    assert corners[0].x0 < corners[1].x0 < corners[2].x0
    assert corners[0].y0 > corners[3].y0
    assert tuple(figure.get_size_inches()) == (6.0, 4.0)


def test_frames_maps_and_logarithms():
    _, (plain, chart) = draw.canvas(6.0, 3.0, 1, 2)
    draw.frame(plain, "Map", "x [m]", "y [m]", equal=True)
    draw.frame(chart, "Chart", "range [m]", "share", log="xy")
    assert plain.get_aspect() == 1.0
    assert (chart.get_xscale(), chart.get_yscale()) == ("log", "log")
    assert plain.get_xlabel() == "x [m]"
    assert chart.get_ylabel() == "share"


def test_points_have_the_color_of_their_cause_and_a_name():
    _, (axes,) = draw.canvas(3.0, 3.0)
    cause = np.array([sn.Cause.SURFACE, sn.Cause.SURFACE, sn.Cause.FALSE_ALARM])
    draw.points_by_cause(axes, [0.0, 1.0, 2.0], [3.0, 4.0, 5.0], cause)
    drawn = [dots for dots in axes.collections if len(dots.get_offsets())]
    assert [dots.get_offsets().tolist() for dots in drawn] == [[[0.0, 3.0], [1.0, 4.0]], [[2.0, 5.0]]]
    wanted = [draw.CAUSE_COLORS[kind] for kind in (sn.Cause.SURFACE, sn.Cause.FALSE_ALARM)]
    assert [to_hex(dots.get_facecolor()[0]) for dots in drawn] == wanted
    draw.key(axes, title="cause")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["surface", "false alarm"]


def test_every_cause_has_a_color_of_its_own():
    returned = {cause for cause in sn.Cause if cause != sn.Cause(0)}
    assert set(draw.CAUSE_COLORS) == returned
    assert len(set(draw.CAUSE_COLORS.values())) == len(returned)
