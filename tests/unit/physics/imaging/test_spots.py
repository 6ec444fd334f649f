"""Spots of pupil rays: a point becomes its spot diagram, an even field stays even."""

import numpy as np
import pytest
from scipy import ndimage

from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.imaging import pixel_means, pupil_points, spot_table
from sensorium.physics.optics import Seidel

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
    """Pixels that a bright sample lights, as (x, y) from it in meters, with their weights."""
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


def test_terms_that_fold_the_image_are_refused():
    with pytest.raises(SpecError, match=r"distortion=500000000.*fold the image"):
        table_of(Seidel(distortion=5e8), pupil_rays=1)


def test_the_grid_needs_cells():
    with pytest.raises(SpecError, match="factor is 0; the virtual grid must have at least 1 cell a pixel"):
        table_of(factor=0)


# --- pixels that are not square ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pitch_m", [(4.65e-6, 9.3e-6), (12e-6, 4e-6), (4.65e-6, 4.65e-6)])
@pytest.mark.parametrize("depth_m", [0.25, 5.0])
def test_a_blur_is_round_on_the_chip_whatever_shape_pixels_have(pitch_m, depth_m):
    """Second moments of an even disc of radius r are r^2 / 4 along both axes; rounding to a cell adds a twelfth of its
    square."""
    table = spot_table(
        columns=96,
        rows=96,
        pitch_m=pitch_m,
        factor=1,
        pupil_rays=2048,
        coefficients=Seidel(),
        nearest_m=0.2,
        **LENS | {"pupil_radius_m": 5e-3},
    )
    ideal = np.zeros((96 + 2 * table.margin, 96 + 2 * table.margin, 1), np.float32)
    ideal[48 + table.margin, 48 + table.margin] = 1.0
    image = np.empty((96, 96, 1), np.float32)
    pixel_means(ideal, np.full(ideal.shape[:2], 1.0 / depth_m, np.float32), table, image)
    y, x = np.nonzero(image[..., 0])
    weight = image[y, x, 0].astype(float)
    radius_m = optics.blur_radius(LENS["focal_length_m"], LENS["pupil_distance_m"], 5e-3, depth_m)
    assert weight.sum() == pytest.approx(1.0, rel=1e-5)
    for at, pitch in ((x, pitch_m[0]), (y, pitch_m[1])):
        along = (at - 48) * pitch
        assert (weight * along**2).sum() == pytest.approx(radius_m**2 / 4 + pitch**2 / 12, rel=0.02)
        assert np.abs(along).max() == pytest.approx(radius_m, abs=pitch)


@pytest.mark.parametrize("pitch_m", [(4.65e-6, 9.3e-6), (9.3e-6, 4.65e-6)])
def test_aberrations_are_metric_whatever_shape_pixels_have(pitch_m):
    lens = Seidel(spherical=3e5, astigmatism=2e5, curvature=4e5, distortion=5e5, coma=6e5)
    table = spot_table(columns=64, rows=64, pitch_m=pitch_m, factor=2, pupil_rays=4, coefficients=lens, **LENS)
    pupil = table.pupil.astype(float) * np.array(pitch_m) / np.mean(pitch_m)
    node = (np.stack(np.meshgrid(*[np.arange(5) * 16.0] * 2), -1) - 32.0) * pitch_m
    shift_m = table.shift * np.array(pitch_m) / 2
    expected = optics.deviation(
        node - shift_m, pupil[:, :, None, None, :], lens, image_distance_m=LENS["pupil_distance_m"]
    )
    assert np.abs(expected).max() > 2e-6
    np.testing.assert_allclose(shift_m, expected, atol=0.05 * min(pitch_m))


# --- lenses that fold -------------------------------------------------------------------------------------------------


def half_diagonal_m():
    return 0.5 * PITCH * np.hypot(COLUMNS, ROWS)


@pytest.mark.parametrize("strength", [1.02, 1.5, 5.0, 1e2, 1e4, 1e8])
def test_distortion_that_folds_a_corner_is_refused_at_any_strength(strength):
    """R' = r - R E r^3 is greatest, 2/3 r, at r = 1 / sqrt(3 R E)."""
    just = (4.0 / 27.0) / (LENS["pupil_distance_m"] * half_diagonal_m() ** 2)
    with pytest.raises(SpecError, match="fold the image"):
        table_of(Seidel(distortion=strength * just), pupil_rays=1)


@pytest.mark.parametrize("share", [0.98, 0.7, -1.0, -5.0, -100.0])
def test_distortion_that_does_not_fold_a_corner_is_not_refused(share):
    """Nodes have the root of r' = r - R E r^3 that is nearest to the axis; all of it is within the margin."""
    E = share * (4.0 / 27.0) / (LENS["pupil_distance_m"] * half_diagonal_m() ** 2)
    table = table_of(Seidel(distortion=E), pupil_rays=1)
    corner = np.array([COLUMNS, ROWS]) * 0.5
    seen = np.linalg.norm((corner - table.shift[0, 0, -1, -1]) * PITCH)
    roots = np.roots([-LENS["pupil_distance_m"] * E, 0.0, 1.0, -half_diagonal_m()])
    expected = roots.real[(np.abs(roots.imag) < 1e-12) & (roots.real > 0.0)].min()
    assert seen == pytest.approx(expected, abs=0.1 * PITCH)
    needed = np.abs(corner - table.shift[0, 0, -1, -1]) - corner
    assert table.margin >= needed.max()


def folds(lens, points, grid=241):
    """Whether some pupil ray's map of the field folds within the chip, by its Jacobian on a fine grid: the points whose
    images lie on the chip and that hang together with the axis must all keep their orientation."""
    half = 0.5 * PITCH * np.array([COLUMNS, ROWS])
    x, y = np.meshgrid(*(np.linspace(-3.0 * h, 3.0 * h, grid) for h in half))
    field = np.stack([x, y], axis=-1)
    worst = np.inf
    for pupil in points:
        image = field + optics.deviation(field, pupil, lens, image_distance_m=LENS["pupil_distance_m"])
        ay, ax = np.gradient(image, y[:, 0], x[0], axis=(0, 1))
        det = ax[..., 0] * ay[..., 1] - ax[..., 1] * ay[..., 0]
        on_chip = (np.abs(image) <= half).all(axis=-1)
        label, _ = ndimage.label(on_chip)
        middle = label[grid // 2, grid // 2]
        assert middle
        worst = min(worst, det[label == middle].min())
    return worst


def test_random_terms_are_refused_where_their_jacobian_says_so():
    rng = np.random.default_rng(5)
    just = (4.0 / 27.0) / (LENS["pupil_distance_m"] * half_diagonal_m() ** 2)
    told = {True: 0, False: 0}
    for _ in range(40):
        sizes = rng.uniform(-1.0, 1.0, 4) * np.array([1.0, 0.4, 2.0, 0.4]) * just
        lens = Seidel(0.0, sizes[1], sizes[1], sizes[2], sizes[3])
        points = table_of(pupil_rays=4).pupil[0].astype(float)
        worst = folds(lens, points)
        if abs(worst) < 0.15:
            continue  # within the width of the grid
        told[worst < 0.0] += 1
        if worst < 0.0:
            with pytest.raises(SpecError, match="fold the image"):
                table_of(lens, pupil_rays=4)
        else:
            table_of(lens, pupil_rays=4)
    assert min(told.values()) > 5, told


@pytest.mark.parametrize(("count", "sets"), [(2, 1), (16, 1), (8, 9)])
def test_moments_are_those_of_a_disc(count, sets):
    points = pupil_points(count, sets)
    assert points.shape == (sets, count, 2)
    np.testing.assert_allclose(points.mean(axis=1), 0.0, atol=1e-15)
    assert (points**2).sum(axis=-1).mean() == pytest.approx(0.5, rel=1e-12)
    assert (np.hypot(*points.reshape(-1, 2).T) < 1.0).all()


def test_many_points_fill_the_disc_evenly():
    points = pupil_points(2000)[0]
    radius, angle = np.hypot(*points.T), np.arctan2(points[:, 1], points[:, 0])
    counts, *_ = np.histogram2d(radius**2, angle, bins=(5, 8), range=((0, 1), (-np.pi, np.pi)))
    assert counts.min() > 45
    assert counts.max() < 55


def test_one_ray_is_the_chief_ray_and_odd_numbers_are_refused():
    np.testing.assert_array_equal(pupil_points(1, 4), np.zeros((4, 1, 2)))
    with pytest.raises(SpecError, match="count is 7 and sets 1; points are 1 or an even number"):
        pupil_points(7)
