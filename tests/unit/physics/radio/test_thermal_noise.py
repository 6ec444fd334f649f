"""Thermal noise of a cell."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import radio


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
