"""Oblate gravity: the gradient of its potential, harmonic, with the mass it should have, and near the Earth's."""

import math

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.fields import J2Gravity, PointMassGravity

MU, RADIUS, J2 = 3.986004418e14, 6378137.0, 1.08262668e-3
POLE_M = 6356752.314245


def potential(p):
    r = np.linalg.norm(p, axis=-1)
    return MU / r * (1 - J2 * (RADIUS / r) ** 2 * (1.5 * (p[..., 2] / r) ** 2 - 0.5))


def around_the_earth(seed, count=40):
    p = np.random.default_rng(seed).normal(size=(count, 3))
    return p / np.linalg.norm(p, axis=1, keepdims=True) * np.linspace(6.4e6, 9e6, count)[:, None]


def test_it_is_the_gradient_of_the_potential():
    p, step = around_the_earth(1), 500.0
    slope = np.stack([(potential(p + d) - potential(p - d)) / (2 * step) for d in step * np.eye(3)], axis=-1)
    # Rounding of the potential, 6e7 x 1e-16 / 1 km, and the step's square leave some 1e-8
    np.testing.assert_allclose(J2Gravity().at(p), slope, atol=1e-7)


def test_in_empty_space_it_has_neither_sources_nor_curl(jacobian):
    slopes = jacobian(J2Gravity().at, around_the_earth(2), 1e3)
    scale = np.abs(slopes).max()
    assert np.abs(np.trace(slopes, axis1=1, axis2=2)).max() < 1e-9 * scale
    np.testing.assert_allclose(slopes, slopes.swapaxes(1, 2), atol=1e-9 * scale)


def test_the_bulge_adds_no_mass(flux):
    field = J2Gravity(mu=7.0, radius_m=0.5, j2=0.1, center=(0.1, 0.1, -0.1))
    assert flux(field.at, (0, 0, 0), 1.0) == pytest.approx(-4 * math.pi * 7.0, rel=1e-9)


def test_the_factors_on_the_axes():
    # 1 + 3/2 J2 at the equator, 1 - 3 J2 over the pole at the same distance
    equator, pole = J2Gravity().at([[RADIUS, 0, 0], [0, 0, RADIUS]])
    np.testing.assert_allclose(equator, [-MU / RADIUS**2 * (1 + 1.5 * J2), 0, 0], rtol=1e-14)
    np.testing.assert_allclose(pole, [0, 0, -MU / RADIUS**2 * (1 - 3 * J2)], rtol=1e-14)


def test_it_is_the_earth_s_gravity_but_for_its_turn():
    # Normal gravity of WGS 84 (NIMA TR8350.2): 9.7803253359 at the equator, 9.8321849378 at the poles. The turn takes
    # omega^2 a off the former; the terms left out weigh some 1e-4 m/s^2 together.
    turn = 7.292115e-5**2 * RADIUS
    assert turn == pytest.approx(0.0339, abs=5e-5)
    assert -J2Gravity().at((0, RADIUS, 0))[1] - turn == pytest.approx(9.7803253359, abs=1e-4)
    assert -J2Gravity().at((0, 0, POLE_M))[2] == pytest.approx(9.8321849378, abs=2e-4)
    assert -J2Gravity().at((0, RADIUS, 0))[1] == pytest.approx(9.8142, abs=5e-5)
    assert -J2Gravity().at((0, 0, POLE_M))[2] == pytest.approx(9.8321, abs=5e-5)


def test_without_bulge_or_far_away_it_is_a_point():
    p = around_the_earth(3)
    np.testing.assert_allclose(J2Gravity(j2=0.0).at(p), PointMassGravity().at(p), rtol=1e-15)
    np.testing.assert_allclose(J2Gravity().at(1e4 * p), PointMassGravity().at(1e4 * p), rtol=1e-10)


def test_it_turns_an_orbit_s_plane_as_it_should():
    # Mean torque on a circular orbit: the node moves by -3/2 n J2 (R/r)^2 cos i
    r, inclination, count = 7.0e6, math.radians(60), 720
    u = np.arange(count) * (2 * math.pi / count)
    node, up = np.array([1.0, 0, 0]), np.array([0, math.cos(inclination), math.sin(inclination)])
    p = r * (np.cos(u)[:, None] * node + np.sin(u)[:, None] * up)
    torque = np.cross(p, J2Gravity().at(p)).mean(axis=0)
    n = math.sqrt(MU / r**3)
    rate = -1.5 * n * J2 * (RADIUS / r) ** 2 * math.cos(inclination)
    momentum = n * r**2 * np.cross(node, up)
    np.testing.assert_allclose(torque, np.cross([0, 0, rate], momentum), atol=1e-9 * n * r**2 * n)


def test_values_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match=r"J2Gravity.radius_m is 0"):
        J2Gravity(radius_m=0)
    with pytest.raises(SpecError, match=r"which is J2Gravity.center; .* at r = 0"):
        J2Gravity().at((0, 0, 0))
