import numpy as np
import pytest
from matplotlib.colors import to_rgb

from sensorium.core.errors import SpecError
from sensorium.view import plots

LABELS = {"ground": 1, "car": 2, "thing": 4}
EXTENT = (0.0, 10.0, 0.0, 5.0)


def pixels_of(figure):
    """The figure as it would be saved, (height, width, 3)."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3]


def has_color(picture, color):
    return bool((np.abs(picture.astype(int) - np.round(255 * np.asarray(color))).max(axis=-1) <= 1).any())


def test_colors_differ_and_the_index_of_a_miss_is_the_background():
    colors = plots.label_colors(LABELS)
    assert colors.shape == (6, 3)
    assert len({tuple(colors[number]) for number in LABELS.values()}) == 3
    assert np.allclose(colors[-1], to_rgb(plots.PAPER))


def test_a_known_class_keeps_its_color_whatever_its_number():
    one, other = plots.label_colors({"car": 1}), plots.label_colors({"thing": 1, "ground": 2, "car": 7})
    assert np.array_equal(one[1], other[7])


def test_many_unknown_labels_are_all_colored():
    colors = plots.label_colors({f"class {k}": k for k in range(1, 20)})
    assert ((colors[1:-1] != colors[0]).any(axis=1)).all()


def test_from_above_the_highest_point_of_a_pixel_is_seen_whatever_the_order():
    colors = plots.label_colors(LABELS)
    points = np.array([[5.0, 2.5, 0.0], [5.0, 2.5, 1.5], [5.0, 2.5, 0.7]])
    numbers = np.array([1, 2, 4])
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        picture = plots._seen_from_above(points[order], numbers[order], colors, EXTENT, 100)
        assert np.allclose(picture[25, 50], colors[2])


def test_from_above_rows_go_along_y_and_columns_along_x():
    colors = plots.label_colors(LABELS)
    picture = plots._seen_from_above(np.array([[8.05, 1.05, 0.0]]), np.array([2]), colors, EXTENT, 100)
    assert picture.shape == (50, 100, 3)
    row, column = np.nonzero((picture != colors[-1]).any(axis=-1))
    assert set(zip(row.tolist(), column.tolist(), strict=True)) == {(r, c) for r in (9, 10, 11) for c in (79, 80, 81)}


def test_from_above_points_outside_the_extent_leave_no_trace():
    colors = plots.label_colors(LABELS)
    outside = np.array([[-0.01, 1.0, 0.0], [10.0, 1.0, 0.0], [1.0, 5.0, 0.0], [1.0, -3.0, 0.0]])
    picture = plots._seen_from_above(outside, np.array([1, 1, 2, 2]), colors, EXTENT, 100)
    assert (picture == colors[-1]).all()


def test_heights_below_zero_keep_their_label():
    colors = plots.label_colors(LABELS)
    points = np.array([[5.0, 2.5, -3.0], [5.0, 2.5, -2.0]])
    picture = plots._seen_from_above(points, np.array([4, 1]), colors, EXTENT, 100)
    assert np.allclose(picture[25, 50], colors[1])


def test_the_top_view_shows_points_and_path_and_names_only_what_it_shows():
    points = np.random.default_rng(1).uniform([0, 0, 0], [10, 5, 1], (20_000, 3))
    path = [[1.0, 1.0], [9.0, 4.0]]
    figure = plots.top_view(points, np.full(20_000, 2), LABELS, path_W=path, extent_m=EXTENT)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["car", "path of the sensor"]
    picture = pixels_of(figure)
    assert has_color(picture, plots.label_colors(LABELS)[2])
    assert has_color(picture, (1.0, 1.0, 1.0))
    assert figure.axes[0].get_xlim() == EXTENT[:2]
    assert figure.axes[0].get_ylim() == EXTENT[2:]


def test_the_range_image_leaves_misses_blank():
    ranges = np.tile(np.linspace(1.0, 40.0, 64), (16, 1))
    label = np.ones((16, 64), int)
    label[:8], ranges[:8] = -1, 0.0
    figure = plots.range_image(ranges, label, LABELS, extent_deg=(180.0, -180.0, -20.0, 20.0))
    shown = figure.axes[0].images[0].get_array()
    assert np.array_equal(np.ma.getmaskarray(shown), label < 0)
    assert figure.axes[0].get_xlim() == (180.0, -180.0)
    assert np.allclose(figure.axes[1].images[0].get_array()[:8], to_rgb(plots.PAPER))
    pixels_of(figure)


@pytest.mark.parametrize("returned", [True, False])
def test_everything_can_be_drawn_from_nothing(returned):
    label = np.full((4, 8), 1 if returned else -1)
    pixels_of(plots.overview(np.zeros((0, 3)), np.zeros(0, int), np.full((4, 8), 2.0), label, LABELS))


def test_wrong_shapes_are_refused():
    with pytest.raises(SpecError, match=r"points_W has shape \(3, 2\)"):
        plots.top_view(np.zeros((3, 2)), np.zeros(3, int), LABELS)
    with pytest.raises(SpecError, match="range_m has shape"):
        plots.range_image(np.zeros((3, 2)), np.zeros(3, int), LABELS)


def test_save_replaces_whole_files_and_leaves_nothing_else(tmp_path):
    from PIL import Image

    target = tmp_path / "picture.png"
    target.write_text("old")
    figure = plots.range_image(np.full((4, 8), 2.0), np.ones((4, 8), int), LABELS)
    plots.save_figure(target, figure)
    assert [file.name for file in tmp_path.iterdir()] == ["picture.png"]
    assert np.asarray(Image.open(target)).std() > 0


def test_a_save_that_fails_keeps_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "picture.png"
    target.write_text("old")
    figure = plots.range_image(np.full((4, 8), 2.0), np.ones((4, 8), int), LABELS)

    def fail(part, **_):
        part.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        plots.save_figure(target, figure)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


def test_save_into_no_folder_is_refused(tmp_path):
    figure = plots.range_image(np.full((4, 8), 2.0), np.ones((4, 8), int), LABELS)
    with pytest.raises(SpecError, match="its folder does not exist"):
        plots.save_figure(tmp_path / "no" / "picture.png", figure)


def test_pictures_leave_matplotlib_global_state_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    pixels_of(plots.top_view(np.zeros((1, 3)), np.ones(1, int), LABELS))
    assert dict(matplotlib.rcParams) == before
