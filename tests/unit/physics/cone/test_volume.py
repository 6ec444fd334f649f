"""Spheres that are called outside are; nearly all that are outside are called so."""

import math

import numpy as np
import pytest

from sensorium.physics.cone import azimuth, elevation, half_angle_tangent, projected_elevation, sphere_is_outside
from sensorium.physics.cone.volume import is_inside


def test_slopes_of_the_sides():
    assert half_angle_tangent(90.0) == pytest.approx(1.0)
    assert half_angle_tangent(60.0) == pytest.approx(math.tan(math.radians(30.0)))


@pytest.mark.parametrize("spherical", [False, True])
def test_no_sphere_with_a_point_in_the_cone_is_called_outside(spherical):
    random = np.random.default_rng(1)
    called = 0
    for _ in range(400):
        a, b = random.uniform(0.1, 2.0, 2)
        center, radius = random.uniform((-4, -6, -6), (8, 6, 6)), random.uniform(0.1, 2.0)
        outside = sphere_is_outside(*center, radius, a, b, 5.0, spherical)
        called += outside
        if outside:
            points = center + radius * random.uniform(-1.0, 1.0, (200, 3))
            points = points[((points - center) ** 2).sum(axis=1) <= radius**2]
            assert not any(is_inside(*point, a, b, 5.0, spherical) for point in points)
    assert 100 < called < 400


def test_a_round_cone_lets_no_sphere_beside_it_pass():
    # 45 degrees: the distance of (x, y, 0) from the side is (y - x) / sqrt(2)
    off = math.sqrt(0.5)
    assert sphere_is_outside(2.0, 3.0, 0.0, off - 1e-9, 1.0, 1.0, 5.0, False)
    assert not sphere_is_outside(2.0, 3.0, 0.0, off + 1e-9, 1.0, 1.0, 5.0, False)


def test_left_and_up_are_positive():
    assert azimuth(np.array([1.0, 1.0, 0.0])) == pytest.approx(math.pi / 4)
    up = np.array([1.0, 0.0, 1.0])
    assert elevation(up) == projected_elevation(up) == pytest.approx(math.pi / 4)


def test_the_projected_elevation_is_an_elevation_only_straight_ahead():
    # E-24: at 60 degrees to the side, a point as high as it is far ahead is twice as far away
    point = np.array([1.0, math.sqrt(3.0), 1.0])
    assert projected_elevation(point) == pytest.approx(math.pi / 4)
    assert elevation(point) == pytest.approx(math.atan(0.5))
