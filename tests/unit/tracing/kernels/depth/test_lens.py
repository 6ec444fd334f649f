"""Lenses inside kernels: the rays of the patterns, and points back at their pixels."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.patterns.pinhole import pixel_grid
from sensorium.tracing.kernels.depth.lens import UNFOLDED, lens_row, look_block, project

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


def test_strong_lenses_have_the_rays_of_the_pattern_too():
    """Random lenses that pass the check, many of them too strong for Newton's method from the pixel itself."""
    rng = np.random.default_rng(6)
    strong = 0
    for _ in range(200):
        if rng.uniform() < 0.5:
            k = rng.normal(size=5) * np.array([0.8, 1.5, 0.05, 0.05, 2.0])
            make, fields = sn.patterns.Pinhole, {"focal_px": (30.0, 33.0), "distortion": tuple(k)}
        else:
            k = rng.normal(size=4) * np.array([0.3, 0.1, 0.03, 0.01])
            make, fields = sn.patterns.Fisheye, {"focal_px": (12.0, 13.0), "distortion": tuple(k)}
        try:
            pattern = make(width=40, height=30, rate_hz=10.0, **fields)
        except SpecError:
            continue
        expected = pattern.rays().direction_S.reshape(-1, 3)
        # Where the lens squeezes the image, rounding of pixels to float32 moves rays by more
        np.testing.assert_allclose(looked(pattern), expected, atol=2e-4, err_msg=str(pattern))
        strong += 1
    assert strong > 60


def test_a_lens_row_tells_how_far_it_folds_nowhere():
    barrel = sn.patterns.Pinhole(width=4, height=4, focal_px=(9, 9), distortion=(-0.3, 0, 0, 0, 0), rate_hz=1.0)
    assert lens_row(barrel)[UNFOLDED] == pytest.approx(1.0 / np.sqrt(0.9))
    pincushion = sn.patterns.Pinhole(width=4, height=4, focal_px=(9, 9), distortion=(0.3, 0, 0, 0, 0), rate_hz=1.0)
    assert lens_row(pincushion)[UNFOLDED] == np.inf
    fisheye = sn.patterns.Fisheye(width=4, height=4, focal_px=(9, 9), distortion=(-0.5, 0, 0, 0), rate_hz=1.0)
    assert lens_row(fisheye)[UNFOLDED] == pytest.approx(np.sqrt(2.0 / 3.0))
