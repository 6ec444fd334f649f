"""Latitude, longitude and height from Earth-fixed axes: round trips, poles, and another library."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorium.physics.fields.earth import FLATTENING, SEMI_MAJOR_AXIS_M, earth_fixed_position
from sensorium.physics.fields.geodetic import geodetic_position

SEMI_MINOR_AXIS_M = SEMI_MAJOR_AXIS_M * (1.0 - FLATTENING)


@settings(deadline=None, derandomize=True)
@given(st.floats(-90.0, 90.0), st.floats(-180.0, 180.0), st.floats(-1e6, 4e7))
def test_a_round_trip_is_exact_to_rounding(latitude_deg, longitude_deg, height_m):
    p_E = earth_fixed_position(latitude_deg, longitude_deg, height_m)
    latitude, longitude, height = geodetic_position(p_E)
    north_m = math.radians(latitude - latitude_deg) * SEMI_MAJOR_AXIS_M
    east_m = math.sin(math.radians(longitude - longitude_deg)) * np.hypot(p_E[0], p_E[1])
    assert abs(north_m) < 1e-7
    assert abs(east_m) < 1e-7
    assert abs(height - height_m) < 1e-7


def test_axes_of_the_ellipsoid():
    places = [(SEMI_MAJOR_AXIS_M, 0, 0), (0, -SEMI_MAJOR_AXIS_M - 7.0, 0), (0, 0, SEMI_MINOR_AXIS_M + 5.0)]
    latitude, longitude, height = geodetic_position(np.array([*places, (0, 0, -SEMI_MINOR_AXIS_M)]))
    np.testing.assert_allclose(latitude, [0.0, 0.0, 90.0, -90.0], atol=1e-14)
    np.testing.assert_allclose(longitude[:2], [0.0, -90.0], atol=1e-14)
    np.testing.assert_allclose(height, [0.0, 7.0, 5.0, 0.0], atol=1e-8)


def test_the_gradient_of_height_is_the_vertical():
    # Up is the normal of the ellipsoid at the foot point, whatever the height
    rng = np.random.default_rng(3)
    for latitude, longitude, height in rng.uniform((-80, -180, 0), (80, 180, 1e5), (20, 3)):
        p_E = earth_fixed_position(latitude, longitude, height)
        ahead, behind = (geodetic_position(p_E + step * np.eye(3))[2] for step in (1.0, -1.0))
        phi, lam = math.radians(latitude), math.radians(longitude)
        up = [math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi)]
        np.testing.assert_allclose((ahead - behind) / 2.0, up, atol=1e-8)


def test_it_agrees_with_pymap3d():
    pymap3d = pytest.importorskip("pymap3d")
    rng = np.random.default_rng(4)
    given_places = rng.uniform((-90, -180, -1e4), (90, 180, 1e6), (10_000, 3)).T
    found = geodetic_position(np.stack(pymap3d.geodetic2ecef(*given_places), axis=-1))
    meters = np.array([math.radians(1.0) * SEMI_MAJOR_AXIS_M] * 2 + [1.0])[:, None]
    assert np.abs((np.array(found) - given_places) * meters).max() < 1e-7


def test_a_place_in_a_batch_is_as_alone():
    p_E = np.random.default_rng(5).uniform(-7e6, 7e6, (37, 5, 3))
    batch = np.stack(geodetic_position(p_E))
    alone = np.array([[np.stack(geodetic_position(place)) for place in row] for row in p_E])
    np.testing.assert_array_equal(batch, alone.transpose(2, 0, 1))
