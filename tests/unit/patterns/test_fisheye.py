"""Fisheye cameras: angles to the axis are as the polynomial says."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.patterns import Fisheye
from sensorium.patterns.fisheye import directions_of
from sensorium.physics import optics


def test_an_equidistant_lens_sees_the_horizon_all_round():
    pattern = Fisheye(width=181, height=181, focal_px=(90.0 / (np.pi / 2),) * 2, rate_hz=10.0)
    d = pattern.rays().direction_S
    np.testing.assert_allclose(d[90, 90], (1.0, 0.0, 0.0), atol=1e-7)
    np.testing.assert_allclose(d[90, 180], (0.0, -1.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(d[0, 90], (0.0, 0.0, 1.0), atol=1e-6)
    np.testing.assert_allclose(d[90, 135], (np.sqrt(0.5), -np.sqrt(0.5), 0.0), atol=1e-6)
    assert d[0, 0, 0] < 0.0  # corners look backwards


def test_directions_come_back_to_their_pixels():
    k = (0.03, -0.01, 0.002, 0.0)
    pattern = Fisheye(width=31, height=21, focal_px=(10.0, 11.0), center_px=(14.0, 9.5), distortion=k, rate_hz=10.0)
    d = pattern.rays().direction_S.astype(float)
    angle = np.arctan2(np.hypot(d[..., 1], d[..., 2]), d[..., 0])
    towards = -d[..., 1:] / np.maximum(np.hypot(d[..., 1], d[..., 2]), 1e-12)[..., None]
    xy = towards * optics.fisheye_radius(angle, k)[..., None]
    u, v = np.meshgrid(np.arange(31), np.arange(21))
    np.testing.assert_allclose(xy[..., 0] * 10.0 + 14.0, u, atol=1e-4)
    np.testing.assert_allclose(xy[..., 1] * 11.0 + 9.5, v, atol=1e-4)


def test_a_pixel_that_nothing_reaches_is_refused():
    with pytest.raises(SpecError, match=r"no ray comes to the image radius .* at most 180 degrees"):
        Fisheye(width=100, height=100, focal_px=(15.0, 15.0), rate_hz=10.0)


@pytest.mark.parametrize("k", [(0.0, 0.0, 0.0, 0.0), (0.03, -0.01, 0.002, 0.0)])
@pytest.mark.parametrize("fov_deg", [30.0, 180.0, 250.0])
def test_a_field_of_view_reaches_from_edge_to_edge(fov_deg, k):
    """The middle of the image looks ahead, the outer edges of its outer pixels half the field of view to the sides."""
    pattern = Fisheye.from_fov(41, 3, fov_deg, rate_hz=10.0, distortion=k)
    edges = directions_of(pattern, np.array([[-0.5, 1.0], [20.0, 1.0], [40.5, 1.0]]))
    half = np.radians(0.5 * fov_deg)
    np.testing.assert_allclose(edges[0], (np.cos(half), np.sin(half), 0.0), atol=1e-12)
    np.testing.assert_allclose(edges[1], (1.0, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(edges[2], (np.cos(half), -np.sin(half), 0.0), atol=1e-12)


def test_a_lens_that_turns_back_is_refused_from_there_on():
    """With k1 = -0.5 alone r = t - t^3 / 2 is greatest at t = sqrt(2 / 3). The outer corners of the image lie as much
    farther out than its sides as the image is high, and are asked too."""
    k, most_deg = (-0.5, 0.0, 0.0, 0.0), 2.0 * np.degrees(np.sqrt(2.0 / 3.0))
    Fisheye.from_fov(64_000, 1, most_deg - 0.002, rate_hz=10.0, distortion=k)
    with pytest.raises(SpecError, match=r"corner of the image is at the radius 0\.5444 f .* at most 0\.5443 f"):
        Fisheye.from_fov(64, 1, most_deg - 0.001, rate_hz=10.0, distortion=k)
    with pytest.raises(SpecError, match=r"horizontal_fov_deg is 100\.0 with .* at most 93\.5636, where"):
        Fisheye.from_fov(64, 1, 100.0, rate_hz=10.0, distortion=k)


@pytest.mark.parametrize("bad", [None, (0.1, 0.2), "bent"])
def test_a_distortion_that_is_none_is_refused_by_its_name(bad):
    with pytest.raises(SpecError, match="distortion"):
        Fisheye.from_fov(64, 64, 100.0, rate_hz=10.0, distortion=bad)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((64, 64, 0.0), r"horizontal_fov_deg is 0\.0; it must be between 0 and 360"),
        ((64, 64, 360.0), r"horizontal_fov_deg is 360\.0; it must be between 0 and 360"),
        ((0, 64, 180.0), r"width is 0; it must be greater than 0"),
        ((64, 64, "wide"), r"horizontal_fov_deg is 'wide', a str; it must be a number"),
        ((64, 64, 300.0), r"at most 180 degrees off the axis"),  # across; the corners then look farther
    ],
)
def test_a_field_of_view_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(SpecError, match=message):
        Fisheye.from_fov(*arguments, rate_hz=10.0)
