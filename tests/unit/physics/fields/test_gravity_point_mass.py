"""Newton's law: inverse square, Gauss, no sources and no curl in empty space."""

import math

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.fields import PointMassGravity

MU = 3.986004418e14


def test_the_earth_at_its_equator():
    # mu / a^2 with the figures of WGS 84
    np.testing.assert_allclose(PointMassGravity().at((6378137.0, 0, 0)), [-9.7982855, 0, 0], atol=1e-7)


def test_it_pulls_towards_the_center_with_the_inverse_square():
    center = np.array([1e6, -2e6, 3e6])
    field = PointMassGravity(mu=2.5e13, center=tuple(center))
    directions = np.random.default_rng(1).normal(size=(50, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for r in (100.0, 3e3, 5e8):
        np.testing.assert_allclose(field.at(center + r * directions), -2.5e13 / r**2 * directions, rtol=1e-8)


def test_gauss_law(flux):
    field = PointMassGravity(mu=7.0, center=(0.3, -0.2, 0.1))
    assert flux(field.at, (0, 0, 0), 1.0) == pytest.approx(-4 * math.pi * 7.0, rel=1e-12)
    assert flux(field.at, (2, 0, 0), 1.0) == pytest.approx(0.0, abs=1e-9)


def test_in_empty_space_it_has_neither_sources_nor_curl(jacobian):
    p = np.random.default_rng(2).normal(size=(30, 3)) * 4e6 + [7e6, 0, 0]
    slopes = jacobian(PointMassGravity().at, p, 1e3)
    scale = np.abs(slopes).max(axis=(1, 2))
    assert np.all(np.abs(np.trace(slopes, axis1=1, axis2=2)) < 1e-9 * scale)
    np.testing.assert_allclose(slopes, slopes.swapaxes(1, 2), atol=1e-9 * scale.max())


def test_inside_a_body_it_is_still_a_point():
    np.testing.assert_allclose(PointMassGravity().at((0, 0, 1.0)), [0, 0, -MU])


def test_at_the_point_itself_it_has_no_value():
    field = PointMassGravity(center=(1, 2, 3))
    with pytest.raises(SpecError, match=r"p_W is \[1.0, 2.0, 3.0\], which is PointMassGravity.center; .* at r = 0"):
        field.at([[0, 0, 0], [1, 2, 3]])


def test_values_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match=r"PointMassGravity.mu is -1"):
        PointMassGravity(mu=-1.0)
    with pytest.raises(SpecError, match="center"):
        PointMassGravity(center=(0, 0, math.inf))
