"""Pictures of cameras."""


import numpy as np

from sensorium.physics.imaging import filters
from sensorium.view import camera_plots


def test_every_band_has_its_curve():
    figure = camera_plots.filter_curves(filters.rgb(), title="chip")
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.get_lines()] == ["red", "green", "blue"]
    x, y = axes.get_lines()[1].get_data()
    assert x[np.argmax(y)] == 525.0


def test_every_stage_has_its_picture_in_zero_to_one():
    rng = np.random.default_rng(1)
    stages = [
        ("ideal", rng.uniform(0, 2, (6, 8, 3))),
        ("codes", rng.integers(0, 4096, (6, 8)).astype(np.uint16)),
        ("one band", rng.uniform(0, 1, (6, 8, 1))),
        ("image", rng.integers(0, 256, (6, 8, 3)).astype(np.uint8)),
    ]
    figure = camera_plots.stage_pictures(stages, closer=(0.0, 0.5, 0.0, 0.5))
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == [name for name, _ in stages]
    for axes in shown:
        pixels = axes.get_images()[0].get_array()
        assert pixels.min() >= 0.0
        assert pixels.max() <= 1.0
