"""The sun as a light: its direction, what of it arrives, and the sky's share."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.fields import Sun


def test_the_whole_spectrum_is_the_solar_constant():
    sun = Sun(elevation_deg=40.0, transmittance=1.0)
    assert sun.band_irradiance(1e-7, 1e-4) == pytest.approx(1361.0, rel=3e-5)


def test_a_narrow_band_is_the_density_times_its_width():
    sun = Sun(elevation_deg=40.0)
    band = sun.band_irradiance(904.5e-9, 905.5e-9)
    assert band == pytest.approx(sun.spectral_irradiance(905e-9) * 1e-9, rel=1e-6)
    assert band == pytest.approx(0.75 * 0.90597, rel=1e-4)


def test_direction_is_right_handed_about_z_from_x():
    np.testing.assert_allclose(Sun(elevation_deg=0.0).direction_W, [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(Sun(elevation_deg=0.0, azimuth_deg=90.0).direction_W, [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(Sun(elevation_deg=90.0).direction_W, [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(
        Sun(elevation_deg=30.0, azimuth_deg=180.0).direction_W, [-math.sqrt(0.75), 0, 0.5], atol=1e-15
    )


def test_over_a_place_x_is_east_and_y_north():
    # At the equator on an equinox the sun rises in the east, and stands overhead at noon
    morning = Sun.at(datetime(2024, 3, 20, 6, 30, tzinfo=UTC), latitude_deg=0.0, longitude_deg=0.0)
    assert morning.direction_W[0] > 0.99
    noon = Sun.at(datetime(2024, 3, 20, 12, 7, 25, tzinfo=UTC), latitude_deg=0.0, longitude_deg=0.0)
    assert noon.elevation_deg > 89.7

    # North of the tropics the noon sun stands in the south, at 90 degrees less latitude plus declination
    north = Sun.at(datetime(2024, 6, 20, 12, 2, tzinfo=UTC), latitude_deg=50.0, longitude_deg=0.0)
    assert north.elevation_deg == pytest.approx(90.0 - 50.0 + 23.438, abs=0.01)
    np.testing.assert_allclose(north.direction_W[:2], [0.0, -math.cos(math.radians(63.438))], atol=3e-3)

    # and south of them in the north
    south = Sun.at(datetime(2024, 6, 20, 12, 2, tzinfo=UTC), latitude_deg=-50.0, longitude_deg=0.0)
    assert south.direction_W[1] > 0.9


def test_the_irradiance_follows_the_distance():
    winter = Sun.at(datetime(2024, 1, 3, 12, tzinfo=UTC), latitude_deg=0.0, longitude_deg=0.0)
    assert winter.irradiance_W_m2 == pytest.approx(1361.0 / 0.98331**2, rel=1e-4)
    given = Sun.at(datetime(2024, 1, 3, 12, tzinfo=UTC), latitude_deg=0.0, longitude_deg=0.0, irradiance_W_m2=1000.0)
    assert given.irradiance_W_m2 == 1000.0


def test_the_sky_gives_its_share_of_the_light_on_the_ground():
    sun = Sun(elevation_deg=35.0, diffuse_fraction=0.2)
    direct = sun.spectral_irradiance(905e-9) * math.sin(math.radians(35.0))
    sky = math.pi * sun.sky_radiance(905e-9)
    assert sky / (direct + sky) == pytest.approx(0.2, rel=1e-12)


def test_night_is_dark():
    night = Sun(elevation_deg=-5.0)
    assert night.spectral_irradiance(905e-9) == night.band_irradiance(4e-7, 7e-7) == night.sky_radiance(905e-9) == 0.0


def test_a_measured_spectrum_takes_the_place_of_the_black_body():
    sun = Sun(elevation_deg=40.0, spectrum=((900e-9, 0.8e9), (910e-9, 0.6e9)))
    assert sun.spectral_irradiance(905e-9) == pytest.approx(0.7e9)
    assert sun.band_irradiance(900e-9, 910e-9) == pytest.approx(7.0)
    with pytest.raises(SpecError, match="covers 900 to 910 nm"):
        sun.spectral_irradiance(1550e-9)


def test_values_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match="elevation_deg"):
        Sun(elevation_deg=91.0)
    with pytest.raises(SpecError, match="transmittance"):
        Sun(elevation_deg=40.0, transmittance=1.1)
    with pytest.raises(SpecError, match="latitude_deg is 91"):
        Sun.at(datetime(2024, 1, 1, tzinfo=UTC), latitude_deg=91.0, longitude_deg=0.0)
    with pytest.raises(SpecError, match="the lower wavelength comes first"):
        Sun(elevation_deg=40.0).band_irradiance(2e-6, 1e-6)
    with pytest.raises(SpecError, match="wavelength_m is 905"):
        Sun(elevation_deg=40.0).spectral_irradiance(905)
