"""The ellipsoid against pymap3d, and its own axes."""

import numpy as np
import pymap3d
import pytest

from sensorium.physics.fields.earth import earth_fixed_position, east_north_up

RNG = np.random.default_rng(1)
PLACES = [
    (0, 0, 0),
    (90, 0, 0),
    (-90, 123, 50),
    (0, 180, -100),
    *RNG.uniform([-90, -180, -1e4], [90, 180, 1e6], (20, 3)),
]


@pytest.mark.parametrize(("latitude_deg", "longitude_deg", "height_m"), PLACES)
def test_positions_and_axes_are_those_of_pymap3d(latitude_deg, longitude_deg, height_m):
    p_E = earth_fixed_position(latitude_deg, longitude_deg, height_m)
    np.testing.assert_allclose(p_E, pymap3d.geodetic2ecef(latitude_deg, longitude_deg, height_m), atol=1e-8)
    R_EW = east_north_up(latitude_deg, longitude_deg)
    for v_W in np.eye(3):
        np.testing.assert_allclose(R_EW @ v_W, pymap3d.enu2uvw(*v_W, latitude_deg, longitude_deg), atol=1e-15)


def test_the_radii_of_the_ellipsoid():
    np.testing.assert_allclose(earth_fixed_position(0, 0, 0), [6378137.0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(earth_fixed_position(90, 0, 0), [0, 0, 6356752.314245], atol=1e-6)


def test_axes_are_a_rotation():
    for latitude_deg, longitude_deg, _ in PLACES:
        R_EW = east_north_up(latitude_deg, longitude_deg)
        np.testing.assert_allclose(R_EW.T @ R_EW, np.eye(3), atol=1e-15)
        assert np.linalg.det(R_EW) == pytest.approx(1.0)
