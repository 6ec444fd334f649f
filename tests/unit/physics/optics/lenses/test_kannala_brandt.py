"""Fisheye lenses and their inverse."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics

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


def test_random_lenses_reach_exactly_as_far_as_their_radius_grows():
    """Against the radius on a fine grid of angles: what it reaches before it first falls is found, on that branch;
    nothing beyond is."""
    rng = np.random.default_rng(4)
    t = np.linspace(0.0, np.pi, 40_001)
    turned = hard = 0
    for _ in range(200):
        k = rng.normal(size=4) * np.array([0.3, 0.1, 0.03, 0.01])
        radius = optics.fisheye_radius(t, k)
        falls = np.flatnonzero(np.diff(radius) <= 0.0)
        end = falls[0] if len(falls) else len(t) - 1
        turned += len(falls) > 0
        assert optics.turning_angle(k) == pytest.approx(t[end], abs=2e-4) if len(falls) else True
        wanted = radius[end] * np.linspace(0.0, 0.999, 97)
        found = optics.fisheye_angle(wanted, k)
        np.testing.assert_allclose(found, np.interp(wanted, radius[: end + 1], t[: end + 1]), atol=2e-4)
        np.testing.assert_allclose(optics.fisheye_radius(found, k), wanted, atol=1e-9)
        hard += radius[end] > 20.0
        with pytest.raises(SpecError, match="no ray comes to the image radius"):
            optics.fisheye_angle(1.001 * radius[end], k)
    assert turned > 50
    assert hard > 5


def test_a_radius_that_only_pauses_goes_on_growing():
    """dr/dt = (1 - q / q0)^2 touches 0 at q0 and is positive on both sides."""
    q0 = 1.4
    assert optics.turning_angle((-2.0 / q0 / 3.0, 1.0 / q0**2 / 5.0, 0.0, 0.0)) == np.inf
