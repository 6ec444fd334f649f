"""Antennas: the lobe, and what a row of them tells apart."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import radio


def test_half_the_gain_at_the_edges_of_the_field():
    field = {"horizontal_fov_rad": 1.2, "vertical_fov_rad": 0.3}
    assert radio.relative_gain(0.0, 0.0, **field) == 1.0
    np.testing.assert_allclose(radio.relative_gain([0.6, -0.6, 0.0], [0.0, 0.0, 0.15], **field), 0.5, rtol=1e-12)


def test_angle_resolution():
    assert np.degrees(radio.angle_resolution(antennas=8, spacing=0.5)) == pytest.approx(14.32, abs=0.01)
    ahead, aside = radio.angle_resolution(antennas=8, spacing=0.5, angle_rad=[0.0, np.pi / 3.0])
    assert aside == pytest.approx(2.0 * ahead, rel=1e-12)
    assert radio.unambiguous_sine(0.5) == 1.0
    assert radio.unambiguous_sine(2.0) == 0.25


def test_the_bound_of_angles_is_reached_by_the_best_fit():
    """A row of 8 with 30 dB together: the largest beam of a fine grid scatters as the bound says."""
    rng = np.random.default_rng(5)
    n, snr, truth = np.arange(8), 1000.0, 0.1
    noise = (rng.normal(size=(2000, 8)) + 1j * rng.normal(size=(2000, 8))) * np.sqrt(0.5 * 8.0 / snr)
    sines = np.linspace(0.05, 0.15, 801)
    beams = np.exp(-2j * np.pi * 0.5 * np.outer(n, sines))
    found = sines[np.abs((np.exp(2j * np.pi * 0.5 * n * truth) + noise) @ beams).argmax(axis=1)]
    bound = radio.least_sine_error(snr, antennas=8, spacing=0.5)
    assert found.std() == pytest.approx(bound, rel=0.06)


def test_one_antenna_has_no_angle():
    with pytest.raises(SpecError, match="antennas is 1"):
        radio.least_sine_error(10.0, antennas=1, spacing=0.5)
    with pytest.raises(SpecError, match="spacing is 0"):
        radio.angle_resolution(antennas=4, spacing=0.0)
