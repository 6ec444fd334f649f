"""Pixels where near and far things meet: edges blur by their own depths, whatever else is in the image."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.imaging import pixel_means, spot_table
from sensorium.physics.imaging.spots import TILE
from sensorium.physics.optics import Seidel

PITCH = 4.65e-6
LENS = {"focal_length_m": 6e-3, "pupil_distance_m": 6.0001e-3, "pupil_radius_m": 1.5e-3}


def table_of(columns, rows, *, factor=1, pupil_rays=64, coefficients=Seidel(), **options):  # noqa: B008
    return spot_table(
        columns=columns,
        rows=rows,
        pitch_m=(PITCH, PITCH),
        factor=factor,
        pupil_rays=pupil_rays,
        coefficients=coefficients,
        **LENS | {"nearest_m": 0.3} | options,
    )


def pixels(table, columns, rows, ideal, inverse):
    out = np.empty((rows, columns, ideal.shape[-1]), np.float32)
    pixel_means(np.ascontiguousarray(ideal), np.ascontiguousarray(inverse, np.float32), table, out)
    return out


def blur_px(depth_m):
    return float(optics.blur_radius(*LENS.values(), depth_m)) / PITCH


def disc_edge(x_px, radius_px):
    """Share of an even disc of a radius that lies to the right of x, both in pixels."""
    t = np.clip(x_px / radius_px, -1.0, 1.0)
    return 0.5 - (t * np.sqrt(1.0 - t * t) + np.arcsin(t)) / np.pi


@pytest.mark.parametrize("depth_m", [0.3, 0.45, 1.0])
@pytest.mark.parametrize("other_m", [None, 0.05, 0.2, 0.29, 0.7, 5.0])
def test_an_edge_blurs_by_its_own_depth_whatever_else_is_in_the_image(depth_m, other_m):
    """A bright near half before a black far one is the edge of an even disc; a second thing far aside changes no byte
    of it, be it nearer or farther, and be its blur wide or narrow."""
    columns, rows, margin = 192, 64, table_of(192, 64).margin
    shape = rows + 2 * margin, columns + 2 * margin
    ideal, inverse = np.zeros((*shape, 1), np.float32), np.full(shape, 1.0 / 360.0)
    edge = margin + 40
    ideal[:, :edge], inverse[:, :edge] = 1.0, 1.0 / depth_m
    table = table_of(columns, rows)
    alone = pixels(table, columns, rows, ideal, inverse)[..., 0]
    radius = blur_px(depth_m)
    profile = disc_edge(np.arange(columns) + 0.5 - 40, radius)
    kept = slice(0, 90)
    np.testing.assert_allclose(alone[rows // 2, kept], profile[kept], atol=0.08)
    if other_m is not None:
        place = int(np.ceil(40 + radius + blur_px(other_m) + 4))
        inverse[20:30, margin + place : margin + place + 6] = 1.0 / other_m
        beside = pixels(table, columns, rows, ideal, inverse)[..., 0]
        seen = int(place - blur_px(other_m) - 2)
        assert seen > 40 + radius
        np.testing.assert_array_equal(beside[:, :seen], alone[:, :seen])


@pytest.mark.parametrize("coefficients", [Seidel(), Seidel(distortion=2e7)], ids=["perfect", "distorting"])
def test_something_moving_through_the_tiles_beside_changes_no_byte_of_an_edge(coefficients):
    rng = np.random.default_rng(2)
    columns, rows = 160, 48
    table = table_of(columns, rows, factor=2, pupil_rays=8, coefficients=coefficients)
    m, margin = 2, table.margin
    shape = rows * m + 2 * margin, columns * m + 2 * margin
    ideal = rng.uniform(size=(*shape, 2)).astype(np.float32)
    inverse = np.full(shape, 0.01, np.float32)
    inverse[:, : margin + 40 * m] = 1.0 / 0.8
    first = pixels(table, columns, rows, ideal, inverse)
    moved = np.abs(table.shift).max() / m
    for place in range(int(46 + blur_px(0.4) + moved), 150, 3):
        other = inverse.copy()
        other[10 * m : 30 * m, margin + place * m : margin + (place + 5) * m] = 1.0 / 0.4
        seen = int(place - blur_px(0.4) - moved - 2)
        beside = pixels(table, columns, rows, ideal, other)
        np.testing.assert_array_equal(beside[:, :seen], first[:, :seen])
        assert (beside != first).any()


def test_where_tiles_begin_changes_no_byte():
    """The same scene cut out at other places has its tiles elsewhere; what both cuts show is the same."""
    rng = np.random.default_rng(3)
    columns, rows, m = 96, 80, 2
    table = table_of(columns, rows, factor=m, pupil_rays=6)
    margin = table.margin
    size = 2 * margin + m * (rows + TILE), 2 * margin + m * (columns + TILE)
    ideal = rng.uniform(size=(*size, 1)).astype(np.float32)
    inverse = rng.uniform(0.0, 0.1, size).astype(np.float32)
    for _ in range(14):
        y, x = rng.integers(0, size[0] - 30), rng.integers(0, size[1] - 30)
        h, w = rng.integers(3, 40, 2)
        inverse[y : y + h, x : x + w] = np.float32(1.0 / rng.uniform(0.2, 3.0))
    reach = int(np.ceil(blur_px(0.2))) + 2

    def cut(dy, dx):
        rows_of = slice(dy * m, dy * m + rows * m + 2 * margin)
        columns_of = slice(dx * m, dx * m + columns * m + 2 * margin)
        return pixels(table, columns, rows, ideal[rows_of, columns_of], inverse[rows_of, columns_of])

    first = cut(0, 0)
    assert (np.abs(first - 0.5) > 0.02).any()
    for dy, dx in ((1, 0), (0, 5), (7, 9), (8, 8), (15, 13)):
        found = cut(dy, dx)
        np.testing.assert_array_equal(
            found[reach : rows - dy - reach, reach : columns - dx - reach],
            first[dy + reach : rows - reach, dx + reach : columns - reach],
        )


def test_a_thing_far_away_in_tiles_blurs_as_far_as_its_depth_says():
    """A near thing's light comes as far as its blur is wide, over several tiles."""
    columns, rows, depth = 256, 32, 0.04
    table = table_of(columns, rows, pupil_rays=512, nearest_m=depth)
    margin = table.margin
    shape = rows + 2 * margin, columns + 2 * margin
    ideal, inverse = np.zeros((*shape, 1), np.float32), np.full(shape, 1.0 / 360.0)
    edge = margin + 128
    ideal[:, :edge], inverse[:, :edge] = 1.0, 1.0 / depth
    radius = blur_px(depth)
    assert radius > 2 * TILE
    row = pixels(table, columns, rows, ideal, inverse)[rows // 2, :, 0]
    np.testing.assert_allclose(row, disc_edge(np.arange(columns) + 0.5 - 128, radius), atol=0.05)


def test_the_nearest_of_three_layers_is_in_front():
    """A near bar before a nearer-than-far one: where both blur over a pixel, the nearer stops its rays first, so that
    no pixel sees more than all its rays."""
    columns, rows = 128, 48
    table = table_of(columns, rows, pupil_rays=256)
    margin = table.margin
    shape = rows + 2 * margin, columns + 2 * margin
    inverse = np.full(shape, 1.0 / 360.0)
    layer = np.zeros(shape, int)
    layer[:, margin + 50 : margin + 70], layer[:, margin + 60 : margin + 90] = 1, 2
    inverse[layer == 1], inverse[layer == 2] = 1.0 / 0.8, 1.0 / 0.35
    ideal = np.stack([layer == 0, layer == 1, layer == 2], axis=-1).astype(np.float32)
    found = pixels(table, columns, rows, ideal, inverse)[rows // 2]
    np.testing.assert_allclose(found.sum(axis=-1), 1.0, atol=1e-5)
    nearest = disc_edge(60 - (np.arange(columns) + 0.5), blur_px(0.35))
    np.testing.assert_allclose(found[:75, 2], nearest[:75], atol=0.08)
    # Of the bar behind, no more than the nearer one lets through, and as much where that is not
    behind = disc_edge(50 - (np.arange(columns) + 0.5), blur_px(0.8))
    assert (found[:, 1] <= 1.0 - found[:, 2] + 1e-6).all()
    np.testing.assert_allclose(found[30:52, 1], behind[30:52] * (1 - found[30:52, 2]), atol=0.08)


def test_sizes_must_agree():
    table = table_of(256, 192)
    with pytest.raises(SpecError, match=r"ideal has shape \(3, 3, 1\) .* 192 x 256 pixels need"):
        pixels(table, 256, 192, np.zeros((3, 3, 1), np.float32), np.zeros((3, 3)))
