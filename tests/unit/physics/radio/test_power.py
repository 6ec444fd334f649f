"""The radar equation: the worked example of physics.md 12, and the fourth power."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import radio

WORKED = {"power_W": 0.01, "gain": radio.of_decibels(25.0), "wavelength_m": 299792458.0 / 77e9}


def test_the_worked_received_power(printed):
    found = radio.received_power(10.0, 100.0, **WORKED)
    assert found * 1e13 == printed("7.6389")
    assert radio.in_decibels(found / 1e-3) == printed("-91.17")


def test_twice_the_range_is_a_sixteenth_of_the_power():
    near, far = radio.received_power(1.0, [50.0, 100.0], **WORKED)
    assert near / far == pytest.approx(16.0, rel=1e-12)


def test_the_cross_section_comes_back():
    ranges = np.array([3.0, 40.0, 250.0])
    power = radio.received_power(7.5, ranges, loss=2.0, **WORKED)
    np.testing.assert_allclose(radio.cross_section_of_power(power, ranges, loss=2.0, **WORKED), 7.5, rtol=1e-12)


def test_decibels_go_both_ways():
    np.testing.assert_allclose(radio.in_decibels(radio.of_decibels([-30.0, 0.0, 3.0])), [-30.0, 0.0, 3.0], atol=1e-12)


def test_range_zero_is_refused():
    with pytest.raises(SpecError, match="range_m is 0"):
        radio.received_power(1.0, 0.0, **WORKED)


def test_one_second_at_290_K_is_k_T(printed):
    assert radio.thermal_noise(noise_figure=1.0, integration_s=1.0) * 1e21 == printed("4.00388")


def test_the_worked_example_of_the_radar_equation_stands_far_above_it():
    """128 chirps of 50 us and 12 dB: 9.92e-18 W, so that the 7.6389e-13 W of physics.md 12 are 49 dB."""
    noise_W = radio.thermal_noise(noise_figure=radio.of_decibels(12.0), integration_s=128 * 50e-6)
    assert noise_W == pytest.approx(9.915e-18, rel=1e-3)
    assert radio.in_decibels(7.6389e-13 / noise_W) == pytest.approx(48.87, abs=0.01)


def test_a_noise_figure_below_one_is_refused():
    with pytest.raises(SpecError, match=r"noise_figure is 0\.5"):
        radio.thermal_noise(noise_figure=0.5, integration_s=1.0)
