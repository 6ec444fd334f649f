"""A picture for each curve."""

import numpy as np
from PIL import Image

from sensorium.recordings.measurement import Curve, Measurement
from sensorium.recordings.measurement_pictures import curve_plot, save_pictures


def curve(quantity: str, x, y, unit="m") -> Curve:
    x, y = np.asarray(x, float), np.asarray(y, float)
    return Curve(quantity, "range", "m", "range noise", unit, x, y, 0.9 * y, 1.1 * y)


def test_every_curve_becomes_a_file_of_its_name(tmp_path):
    curves = curve("noise.by_range", [1, 50], [0.002, 0.004]), curve("dropout", [1, 2], [0.0, 0.1], "1")
    files = save_pictures(tmp_path, Measurement("lidar", "VLP-16", "a.pcap", (), curves))
    assert [file.name for file in files] == ["noise-by_range.png", "dropout.png"]
    for file in files:
        with Image.open(file) as image:
            assert image.size[0] > 800
            assert np.asarray(image).std() > 3.0


def test_axes_have_units_and_scales_that_show_the_values():
    axes = curve_plot(curve("noise", [1, 5, 50], [0.002, 0.004, 0.006]), title="noise").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("range [m]", "range noise [mm]")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [2.0, 4.0, 6.0])
    wide = curve_plot(curve("dropout", [1, 2], [0.001, 0.1], "1"), title="dropout").axes[0]
    assert (wide.get_xscale(), wide.get_yscale(), wide.get_ylabel()) == ("linear", "log", "range noise")
