"""Bands: integrals of light, filter and response."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.fields import Sun
from sensorium.physics.imaging import Band, band_value, effective_wavelength, thermal_radiance
from sensorium.physics.optics.spectra import Spectrum

FLAT = Band(name="flat", filter=((500e-9, 1.0), (600e-9, 1.0)))
INFRARED = Band(name="lwir", filter=((8e-6, 1.0), (14e-6, 1.0)), thermal=True)


def test_flat_light_through_a_flat_band_is_its_width():
    assert band_value(lambda _: 1.0, FLAT) == pytest.approx(100e-9, rel=1e-12)
    assert effective_wavelength(lambda _: 1.0, FLAT) == pytest.approx(550e-9, rel=1e-12)


def test_filter_and_response_are_multiplied_where_both_are_known():
    band = Band(name="b", filter=((500e-9, 0.5), (600e-9, 0.5)), response=((550e-9, 0.4), (700e-9, 0.4)))
    assert band_value(lambda _: 3.0, band) == pytest.approx(3.0 * 0.5 * 0.4 * 50e-9, rel=1e-12)
    triangle = Band(name="t", filter=((500e-9, 0.0), (550e-9, 1.0), (600e-9, 0.0)))
    assert band_value(lambda _: 1.0, triangle) == pytest.approx(50e-9, rel=1e-12)


def test_sunlight_in_a_flat_band_is_that_of_the_sun():
    sun = Sun(elevation_deg=40.0)
    expected = sun.band_irradiance(500e-9, 600e-9)
    assert band_value(sun.spectral_irradiance, FLAT) == pytest.approx(expected, rel=1e-5)


def test_in_darkness_a_band_still_has_a_wavelength():
    assert effective_wavelength(lambda _: 0.0, FLAT) == pytest.approx(550e-9, rel=1e-12)
    with pytest.raises(SpecError, match="filter times response of band 'black' is 0 everywhere"):
        effective_wavelength(lambda _: 0.0, Band(name="black", filter=((500e-9, 0.0), (600e-9, 0.0))))


def test_a_black_body_in_the_far_infrared():
    """37.6 % of the power of a body of 300 K lies between 8 and 14 um (table of Planck's integral)."""
    total = 5.670374419e-8 * 300.0**4 / np.pi
    assert thermal_radiance(INFRARED, 300.0) / total == pytest.approx(0.376, abs=5e-4)
    assert thermal_radiance(INFRARED, 310.0) > thermal_radiance(INFRARED, 300.0)
    with pytest.raises(SpecError, match="temperature_k is 0; it must be above 0"):
        thermal_radiance(INFRARED, 0)


def test_bands_without_light_or_with_too_much_are_refused():
    with pytest.raises(SpecError, match="do not overlap"):
        Band(name="b", filter=((500e-9, 1.0), (600e-9, 1.0)), response=((700e-9, 1.0), (800e-9, 1.0)))
    with pytest.raises(SpecError, match="a value of band 'b' is above 1"):
        Band(name="b", filter=Spectrum(wavelength_m=(5e-7, 6e-7), value=(1.0, 1.5)))
