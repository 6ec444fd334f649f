import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Noise
from sensorium.view.device_plots import predicted_allan_plot, predicted_parts, scan_plot


def points_of(axes):
    """Offsets of all points drawn."""
    return np.concatenate([np.asarray(drawn.get_offsets()) for drawn in axes.collections])


def test_every_ray_of_a_sweep_is_drawn_where_it_goes():
    lidar = sn.Lidar.from_device("velodyne-vlp16")
    figure = scan_plot({"vlp16": lidar.pattern})
    whole, closer = figure.axes[:2]
    points = points_of(whole)
    assert len(points) == 16 * 1808
    assert (points[:, 1].min(), points[:, 1].max()) == pytest.approx((-15.0, 15.0), abs=1e-4)
    near = points_of(closer)
    assert 0 < len(near) < len(points) / 30
    assert (near[:, 0] >= 87.0).all()
    assert (near[:, 0] <= 93.0).all()


def test_a_rosette_goes_on_from_sweep_to_sweep():
    figure = scan_plot({"mid40": sn.Lidar.from_device("livox-mid40").pattern})
    assert [len(points_of(axes)) for axes in figure.axes[:2]] == [10_000, 100_000]


def test_several_patterns_have_a_row_each():
    figure = scan_plot({name: sn.Lidar.from_device(name).pattern for name in ("hokuyo-utm30lx", "livox-mid70")})
    assert len(figure.axes) == 5  # two each, and the scale
    with pytest.raises(SpecError, match="no pattern is given"):
        scan_plot({})


def test_predicted_parts_by_hand():
    tau_s = np.array([1.0, 4.0, 100.0])
    parts = predicted_parts(Noise(density=(2.0, 2.0, 4.0), instability=1.0), tau_s, 100.0)
    assert parts["white noise"][:, 0] == pytest.approx([2.0**0.5, 0.5**0.5, 0.02**0.5])
    assert parts["white noise"][0, 2] == pytest.approx(8.0**0.5)
    assert parts["bias instability"][2] == pytest.approx([0.664282] * 3, rel=0.02)
    assert predicted_parts(Noise(density=1.0, sided="two"), tau_s, 1.0)["white noise"][1, 0] == pytest.approx(0.5)
    assert predicted_parts(Noise(std=1.0), tau_s, 100.0)["white noise"][0, 0] == pytest.approx(0.1)
    assert predicted_parts(Noise(), tau_s, 100.0) == {}


def test_a_panel_for_each_group_and_a_curve_for_axes_that_differ():
    figure = predicted_allan_plot(sn.Imu.from_device("bosch-bmi088"))
    linear, angular = figure.axes
    assert [line.get_label() for line in linear.lines] == ["white noise, x y", "white noise, z"]
    assert [line.get_label() for line in angular.lines] == ["white noise"]
    figure = predicted_allan_plot(sn.Imu.from_device("vectornav-vn100"))
    assert [line.get_label() for line in figure.axes[1].lines] == ["white noise", "bias instability", "sum"]
    figure = predicted_allan_plot(sn.Magnetometer.from_device("pni-rm3100"))
    assert len(figure.axes) == 1


def test_a_group_without_noise_says_so():
    (axes,) = predicted_allan_plot(sn.Magnetometer()).axes
    assert [text.get_text() for text in axes.texts] == ["the sheet tells no noise"]
