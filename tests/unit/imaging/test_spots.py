"""Spots of pupil rays: a point becomes its spot diagram, an even field stays even."""

import numpy as np
import pytest

from sensorium import optics
from sensorium.errors import SpecError
from sensorium.imaging import pixel_means, spot_table
from sensorium.optics import Seidel

LENS = {"focal_length_m": 6e-3, "pupil_distance_m": 6.05e-3, "pupil_radius_m": 1.5e-3}
COLUMNS, ROWS, PITCH = 256, 192, 4.65e-6


def table_of(coefficients=Seidel(), *, factor=1, pupil_rays=32, **options):  # noqa: B008
    return spot_table(
        columns=COLUMNS,
        rows=ROWS,
        pitch_m=(PITCH, PITCH),
        factor=factor,
        pupil_rays=pupil_rays,
        coefficients=coefficients,
        **LENS | options,
    )


def pixels_of(table, ideal, depth_m):
    out = np.empty((ROWS, COLUMNS, ideal.shape[-1]), np.float32)
    inverse = np.broadcast_to(np.float32(1.0 / depth_m), ideal.shape[:2])
    pixel_means(ideal, np.ascontiguousarray(inverse), table, out)
    return out


def empty(table):
    m, margin = table.factor, table.margin
    return np.zeros((ROWS * m + 2 * margin, COLUMNS * m + 2 * margin, 1), np.float32)


def spot_of(table, row, column, depth_m):
    """Pixels that a bright sample lights, as (x, y) from it in metres, with their weights."""
    ideal = empty(table)
    ideal[row + table.margin, column + table.margin] = 1.0
    image = pixels_of(table, ideal, depth_m)[..., 0]
    y, x = np.nonzero(image)
    return (x - column) * PITCH, (y - row) * PITCH, image[y, x]


def test_in_focus_a_perfect_lens_leaves_the_image_as_it_is():
    table = table_of(factor=2, pupil_rays=8)
    ideal = empty(table)
    ideal[...] = np.random.default_rng(1).uniform(size=ideal.shape)
    s = optics.in_focus_distance(LENS["focal_length_m"], LENS["pupil_distance_m"])
    inner = ideal[table.margin : -table.margin, table.margin : -table.margin]
    expected = inner.reshape(ROWS, 2, COLUMNS, 2, 1).mean(axis=(1, 3))
    np.testing.assert_allclose(pixels_of(table, ideal, s), expected, rtol=1e-5)


def test_an_even_field_stays_even_whatever_the_lens_does():
    lens = Seidel(spherical=3e5, astigmatism=2e5, curvature=-3e5, distortion=1e5, coma=2e5)
    table = table_of(lens, factor=3, pupil_rays=6)
    ideal = empty(table) + np.float32(7.0)
    np.testing.assert_allclose(pixels_of(table, ideal, 0.3), 7.0, rtol=1e-5)


@pytest.mark.parametrize("depth_m", [0.2, 0.4, 5.0])
def test_a_point_out_of_focus_becomes_the_disc_of_a_thin_lens(depth_m):
    table = table_of(pupil_rays=512, nearest_m=0.1)
    x, y, weight = spot_of(table, 96, 128, depth_m)
    radius = optics.blur_radius(LENS["focal_length_m"], LENS["pupil_distance_m"], LENS["pupil_radius_m"], depth_m)
    assert weight.sum() == pytest.approx(1.0, rel=1e-5)
    assert np.hypot(x, y).max() == pytest.approx(radius, abs=PITCH)

    # Mean square radius of an even disc is a half of its square; rounding to pixels adds a sixth of a pixel squared
    assert (weight * (x**2 + y**2)).sum() == pytest.approx(radius**2 / 2 + PITCH**2 / 6, rel=0.06)


@pytest.mark.parametrize(
    "lens", [Seidel(coma=1e6), Seidel(astigmatism=1.2e7), Seidel(spherical=3e5), Seidel(curvature=1.2e7)], ids=str
)
def test_each_term_makes_its_spot_diagram(lens):
    """Mean and spread of the light of a sample off the axis are those of its rays, each weighted by how much the lens
    magnifies along it: radiance stays, so a larger image of the sample holds more light."""
    table = table_of(lens, pupil_rays=256)
    row, column = 140, 190
    field = np.array([column + 0.5 - COLUMNS / 2, row + 0.5 - ROWS / 2]) * PITCH
    s = optics.in_focus_distance(LENS["focal_length_m"], LENS["pupil_distance_m"])

    def missed(at):
        return optics.deviation(at, table.pupil[0].astype(float), lens, image_distance_m=LENS["pupil_distance_m"])

    rays, step = missed(field), 1e-7
    along_x, along_y = ((missed(field + step * e) - missed(field - step * e)) / (2 * step) for e in np.eye(2))
    larger = (1 + along_x[:, 0]) * (1 + along_y[:, 1]) - along_x[:, 1] * along_y[:, 0]
    assert np.abs(rays).max() > 2.0 * PITCH, "the spot must be worth looking at"
    x, y, weight = spot_of(table, row, column, s)
    assert weight.sum() == pytest.approx(larger.mean(), rel=0.05)
    mean = np.array([(weight * x).sum(), (weight * y).sum()]) / weight.sum()
    np.testing.assert_allclose(mean, np.average(rays, axis=0, weights=larger), atol=0.15 * PITCH)
    spread = np.array([(weight * x**2).sum(), (weight * y**2).sum()]) / weight.sum()
    np.testing.assert_allclose(
        spread, np.average(rays**2, axis=0, weights=larger) + PITCH**2 / 12, rtol=0.1, atol=0.1 * PITCH**2
    )


def test_distortion_moves_the_image_as_browns_k1_does():
    lens = Seidel(distortion=3e7)
    table = table_of(lens, pupil_rays=1)
    ideal = empty(table)
    ideal[:, :, 0] = np.arange(ideal.shape[1]) - table.margin
    image = pixels_of(table, ideal, 1.0)[..., 0]
    seen = image[ROWS // 2 - 1]
    x = (seen + 0.5 - COLUMNS / 2) * PITCH
    moved = -LENS["pupil_distance_m"] * 3e7 * x**3 / PITCH
    assert np.abs(moved).max() > 8

    # What was seen at x comes to x (1 - R E x^2), up to the rounding of the sample that was taken
    np.testing.assert_allclose(seen + moved, np.arange(COLUMNS), atol=0.8)


def test_near_things_blur_and_far_ones_behind_them_stay_sharp():
    table = table_of(pupil_rays=64, pupil_distance_m=6.0001e-3, nearest_m=0.3)
    ideal = empty(table)
    near = np.zeros(ideal.shape[:2], bool)
    near[:, : ideal.shape[1] // 2] = True
    ideal[near] = 1.0
    inverse = np.where(near, np.float32(1 / 0.3), np.float32(1 / 360.0))
    out = np.empty((ROWS, COLUMNS, 1), np.float32)
    pixel_means(ideal, inverse, table, out)
    row = out[ROWS // 2, :, 0]
    assert (np.diff(row) <= 1e-6).all()
    assert row[0] == pytest.approx(1.0)
    assert row[-1] == 0.0
    radius_px = optics.blur_radius(6e-3, 6.0001e-3, 1.5e-3, 0.3) / PITCH

    # Light of the near half reaches as far beyond its edge as its blur is wide, and is half of what it was at the edge
    between = (row > 0.0) & (row < 1.0)
    assert between.sum() == pytest.approx(2.0 * radius_px, abs=2.5)
    assert row[between].mean() == pytest.approx(0.5, abs=0.05)


def test_terms_that_fold_the_image_are_refused():
    with pytest.raises(SpecError, match=r"distortion=500000000.*fold the image"):
        table_of(Seidel(distortion=5e8), pupil_rays=1)


def test_sizes_must_agree_and_the_grid_needs_cells():
    table = table_of()
    with pytest.raises(SpecError, match=r"ideal has shape \(3, 3, 1\) .* 192 x 256 pixels need"):
        pixel_means(
            np.zeros((3, 3, 1), np.float32),
            np.zeros((3, 3), np.float32),
            table,
            np.zeros((ROWS, COLUMNS, 1), np.float32),
        )
    with pytest.raises(SpecError, match="factor is 0; the virtual grid must have at least 1 cell a pixel"):
        table_of(factor=0)
