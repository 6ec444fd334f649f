"""Pinhole cameras: where pixels look, with and without a lens that distorts."""

import re

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.patterns import Fisheye, Pinhole
from sensorium.physics import optics


def camera(**options):
    return Pinhole(**{"width": 7, "height": 5, "focal_px": (4.0, 4.0), "rate_hz": 10.0} | options)


def test_the_middle_pixel_looks_along_x_and_the_first_up_and_to_the_left():
    d = camera().rays().direction_S
    np.testing.assert_allclose(d[2, 3], (1.0, 0.0, 0.0))
    assert d[0, 0, 1] > 0.0
    assert d[0, 0, 2] > 0.0
    np.testing.assert_allclose(d[0, 0] / d[0, 0, 0], (1.0, 3.0 / 4.0, 2.0 / 4.0), rtol=1e-6)


def test_pixel_centers_are_half_a_pixel_inside_the_field_of_view():
    """Physics.md 11: ray (u + 1/2 - W/2, v + 1/2 - H/2, f)."""
    pattern = Pinhole.from_fov(480, 270, 87.0, rate_hz=30.0)
    assert pattern.vertical_fov_deg == pytest.approx(56.1859, abs=5e-5)
    first = pattern.rays().direction_S[0, 0].astype(float)
    assert -first[1] / first[0] == pytest.approx((0.5 - 240.0) / pattern.focal_px[0], rel=1e-6)
    assert -first[2] / first[0] == pytest.approx((0.5 - 135.0) / pattern.focal_px[1], rel=1e-6)


def test_a_distorting_lens_looks_where_browns_polynomial_comes_from():
    k = (-0.2, 0.05, 1e-3, -2e-3, 0.0)
    d = camera(distortion=k).rays().direction_S.astype(float)
    seen = optics.brown_distorted(np.stack([-d[..., 1], -d[..., 2]], -1) / d[..., :1], k)
    u, v = np.meshgrid(np.arange(7), np.arange(5))
    np.testing.assert_allclose(seen[..., 0] * 4.0 + 3.0, u, atol=1e-5)
    np.testing.assert_allclose(seen[..., 1] * 4.0 + 2.0, v, atol=1e-5)


def test_rows_of_a_rolling_shutter_fire_one_after_the_other():
    times = camera(line_time_s=1e-3).rays().offset_ns
    np.testing.assert_array_equal(times, np.repeat(np.arange(5)[:, None] * 1_000_000, 7, axis=1))
    with pytest.raises(SpecError, match=r"line_time_s is 0.03; 5 rows must fit into one image, 0.02 s each"):
        camera(line_time_s=0.03)


def test_a_polynomial_that_does_not_reach_the_corners_is_refused():
    with pytest.raises(SpecError, match="no ray comes to the image point"):
        camera(distortion=(-1.0, 0.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("name", "value"),
    [("focal_px", 1e-320), ("focal_px", 1e308), ("center_px", -1e308), ("distortion", 1e300), ("distortion", -1e300)],
)
def test_numbers_that_no_lens_has_are_refused_before_they_overflow(name, value):
    for kind, terms in ((Pinhole, 5), (Fisheye, 4)):
        count = terms if name == "distortion" else 2
        given = {"width": 4, "height": 4, "focal_px": (9, 9), "rate_hz": 1.0, name: (value,) * count}
        message = rf"{name}\[0\] is {re.escape(str(value))}; it must be"
        with np.errstate(all="raise"), pytest.raises(SpecError, match=message):
            kind.model_validate(given)


def test_impossible_fields_of_view_are_refused():
    with pytest.raises(SpecError, match="horizontal_fov_deg is 180; it must be between 0 and 180"):
        Pinhole.from_fov(480, 270, 180, rate_hz=30.0)
    with pytest.raises(SpecError, match=r"^width is 0; it must be greater than 0$"):
        Pinhole.from_fov(0, 270, 90.0, rate_hz=30.0)
    for given, told in (
        (("16", 16, 90.0), "width is '16', a str"),
        ((16, None, 90.0), "height is None, a NoneType"),
        ((16, 16, (60.0, 90.0)), r"horizontal_fov_deg is \(60.0, 90.0\), a tuple"),
        ((np.array([16, 8]), 16, 90.0), r"width is array\(\[16,  8\]\), a ndarray"),
    ):
        with pytest.raises(SpecError, match=f"^{told}; it must be a number$"):
            Pinhole.from_fov(*given, rate_hz=30.0)


def test_a_fold_inside_the_image_is_refused_where_its_corners_look_well():
    """The radius falls and rises again before the corners, where Newton's method ends with a positive determinant."""
    with pytest.raises(SpecError, match="no ray comes to the image point"):
        camera(distortion=(-1.2, 0.0, 0.0, 0.0, 0.5))


def test_the_outer_edges_of_pixels_count():
    """R' = r + k1 r^3 ends at 2/3 / sqrt(-3 k1): the middle of the corner pixel is inside, its outer corner is not."""
    middle, outer = np.hypot(3.0, 2.0) / 4.0, np.hypot(3.5, 2.5) / 4.0
    k1 = -4.0 / 27.0 / (0.5 * (middle + outer)) ** 2
    with pytest.raises(SpecError, match="no ray comes to the image point"):
        camera(distortion=(k1, 0.0, 0.0, 0.0, 0.0))
    camera(distortion=(-4.0 / 27.0 / (1.001 * outer) ** 2, 0.0, 0.0, 0.0, 0.0)).rays()
