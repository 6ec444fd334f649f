"""Fisheye lenses and their inverse."""

import numpy as np
import pytest

from sensorium import optics
from sensorium.errors import SpecError

LENS = (0.05, -0.01, 0.002, -1e-4)


def test_without_coefficients_it_is_equidistant():
    angle = np.linspace(0.0, np.pi, 7)
    np.testing.assert_allclose(optics.fisheye_radius(angle, (0.0,) * 4), angle)
    np.testing.assert_allclose(optics.fisheye_angle(angle, (0.0,) * 4), angle)


def test_newton_undoes_the_polynomial_beyond_the_horizon():
    angle = np.linspace(0.0, np.radians(110.0), 50)
    np.testing.assert_allclose(optics.fisheye_angle(optics.fisheye_radius(angle, LENS), LENS), angle, atol=1e-12)


def test_the_polynomial_has_odd_powers_up_to_nine():
    t = 0.7
    expected = t + 0.05 * t**3 - 0.01 * t**5 + 0.002 * t**7 - 1e-4 * t**9
    assert optics.fisheye_radius(t, LENS) == pytest.approx(expected, rel=1e-14)


def test_a_radius_that_no_angle_reaches_is_refused():
    with pytest.raises(SpecError, match=r"no ray comes to the image radius 3.5 f .* at most 180 degrees"):
        optics.fisheye_angle(3.5, (0.0,) * 4)
    with pytest.raises(SpecError, match="no ray comes to the image radius 2 f"):
        optics.fisheye_angle(2.0, (-0.3, 0.0, 0.0, 0.0))
