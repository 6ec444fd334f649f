"""Bands to start from."""

from sensorium.physics.fields import Sun
from sensorium.physics.imaging import band_value, effective_wavelength, filters


def test_colors_are_where_their_names_say():
    sun = Sun(elevation_deg=45.0)
    nm = {band.name: 1e9 * effective_wavelength(sun.spectral_irradiance, band) for band in filters.rgb()}
    assert 600 < nm["red"] < 650
    assert 520 < nm["green"] < 560
    assert 450 < nm["blue"] < 490


def test_a_panchromatic_chip_sees_more_than_each_color_and_heat_is_no_light():
    sun = Sun(elevation_deg=45.0)
    (gray,) = filters.panchromatic()
    power = band_value(sun.spectral_irradiance, gray)
    assert all(band_value(sun.spectral_irradiance, band) < power for band in filters.rgb())
    (heat,) = filters.far_infrared()
    assert heat.thermal
    assert band_value(sun.spectral_irradiance, heat) < 0.02 * power
