"""Lenses inside kernels: the rays of the patterns, and points back at their pixels."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.patterns.pinhole import pixel_grid
from sensorium.trace.lens import lens_row, look_block, project

LENSES = {
    "pinhole": sn.patterns.Pinhole(width=40, height=30, focal_px=(30.0, 33.0), center_px=(18.0, 16.0), rate_hz=10.0),
    "brown": sn.patterns.Pinhole(
        width=40, height=30, focal_px=(30.0, 33.0), distortion=(-0.25, 0.05, 0.002, -0.003, 0.01), rate_hz=10.0
    ),
    "equidistant": sn.patterns.Fisheye(width=40, height=30, focal_px=(15.0, 15.0), rate_hz=10.0),
    "kannala": sn.patterns.Fisheye(
        width=40, height=30, focal_px=(15.0, 16.0), distortion=(0.05, -0.01, 0.002, 0.0), rate_hz=10.0
    ),
    "behind": sn.patterns.Fisheye(width=41, height=41, focal_px=(9.2, 9.2), rate_hz=10.0),  # 176 degrees in the corner
}


def looked(pattern):
    u, v = pixel_grid(pattern.width, pattern.height).reshape(-1, 2).T.astype(np.float32)
    x, y, z = out = np.zeros((3, len(u)), np.float32)
    look_block(np.ascontiguousarray(u), np.ascontiguousarray(v), lens_row(pattern), len(u), x, y, z)
    return out.T


@pytest.mark.parametrize("name", LENSES)
def test_rays_are_those_of_the_pattern(name):
    pattern = LENSES[name]
    np.testing.assert_allclose(looked(pattern), pattern.rays().direction_S.reshape(-1, 3), atol=6e-7)


@pytest.mark.parametrize("name", LENSES)
def test_points_appear_where_their_rays_came_from(name):
    pattern = LENSES[name]
    row = lens_row(pattern)
    for direction, pixel in zip(
        pattern.rays().direction_S.reshape(-1, 3)[::37].astype(np.float64),
        pixel_grid(pattern.width, pattern.height).reshape(-1, 2)[::37],
        strict=True,
    ):
        u, v, seen = project.py_func(row, *(3.0 * direction))
        assert seen
        np.testing.assert_allclose([u, v], pixel, atol=2e-4)


def test_nothing_behind_a_pinhole_appears():
    assert project.py_func(lens_row(LENSES["pinhole"]), -1.0, 0.2, 0.1) == (0.0, 0.0, False)
    assert project.py_func(lens_row(LENSES["equidistant"]), 1.0, 0.0, 0.0)[:2] == pytest.approx((19.5, 14.5))
