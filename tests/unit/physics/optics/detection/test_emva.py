"""EMVA 1288: the numbers of the standard's formulas."""

import pytest

from sensorium.physics import optics


def test_photons_in_the_units_of_the_standard(printed):
    """mu_p = 50.341 A[um^2] t[ms] lambda[um] E[uW/cm^2]."""
    found = optics.photons(1e-6 / 1e-4, area_m2=1e-12, exposure_s=1e-3, wavelength_m=1e-6)
    assert found == printed("50.341")


def test_noise_and_signal_to_noise_of_the_reference_pixel(printed):
    electrons = 0.6 * 1000.0
    assert optics.gray_value_noise(electrons, dark_noise_e=5.0, gain_dn_e=0.1) == printed("2.51661")
    assert optics.signal_to_noise(electrons, dark_noise_e=5.0, gain_dn_e=0.1) == printed("23.8416")


def test_in_bright_light_only_shot_noise_is_left():
    assert optics.signal_to_noise(1e8, dark_noise_e=5.0, gain_dn_e=10.0) == pytest.approx(1e4, rel=1e-6)
