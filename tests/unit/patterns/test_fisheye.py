"""Fisheye cameras: angles to the axis are as the polynomial says."""

import numpy as np
import pytest

from sensorium import optics
from sensorium.errors import SpecError
from sensorium.patterns import Fisheye


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
