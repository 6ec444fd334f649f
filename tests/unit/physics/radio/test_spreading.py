"""Echoes in cells: those of windowed transforms of their samples, also where they move within the frame."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.radio.adc import beat_samples, cells_of_samples
from sensorium.physics.radio.spreading import Scatterers, add_scatterers
from sensorium.sensors.radar.cells import Cells


def both(window, place, migration, *, transmitters=1, antennas=8):
    """Cells that one echo of amplitude 1 is spread over, and those of its samples, among the beams that are formed."""
    chirp = sn.radar.Chirp(samples=48, chirps=32, ramp_s=60e-6, transmitters=transmitters)
    cells = Cells(sn.Radar(chirp=chirp, antennas=antennas, window=window, angle_window=window, adc=True))
    place, migration, one = np.array([place]), np.array([migration]), np.ones(1, bool)
    scatterers = Scatterers(np.array([0, 1]), place, np.array([[1.0, 0.0]], np.float32), migration, ~one, one)
    real, imaginary = np.zeros(cells.shape, np.float32), np.zeros(cells.shape, np.float32)
    add_scatterers(real, imaginary, scatterers, 0, 1, cells.grid)
    counts = tuple(axis.count for axis in cells.axes)
    samples = beat_samples(place, np.ones(1, complex), migration, counts=counts, transmitters=transmitters)
    return real + 1j * imaginary, cells_of_samples(
        samples, tuple(axis.window for axis in cells.axes), transmitters=transmitters
    )


@pytest.mark.parametrize("window", sn.radar.WINDOWS)
@pytest.mark.parametrize("seed", range(3))
def test_an_echo_is_that_of_windowed_samples(window, seed):
    place = np.append(0.0, np.random.default_rng(seed).uniform([-4, -16, 0], [4, 16, 48]))
    found, expected = both(window, place, 0.0)
    np.testing.assert_allclose(found, expected, atol=3e-7)


@pytest.mark.parametrize("window", ["rectangular", "hann", "blackman_harris"])
@pytest.mark.parametrize("migration", [0.05, -0.3, 1.7, -4.0])
def test_so_is_one_that_moves_within_the_frame(window, migration):
    """Weights that change linearly over pieces of 1/32 cell are off by a mean of W'' / 12 of its square at most; far
    along the speed, where steps would leave 1e-2 of the echo, by 1e-4 of it."""
    place = (0.0, 1.3, 5.4, 20.7)
    found, expected = both(window, place, migration)
    error = np.abs(found - expected)
    assert error.max() < np.pi**2 / 3 / 12 / 32**2
    away = np.abs((np.arange(32) - place[2] + 16) % 32 - 16) > 5 + abs(migration)
    assert error[:, :, away].max() < 1e-4


def test_and_one_of_transmitters_in_turn():
    found, expected = both("hann", (0.0, 2.2, -7.3, 30.1), -0.8, transmitters=2, antennas=4)
    assert np.abs(found - expected).max() < 4e-3  # it moves by 0.8 / 64 of a cell from one to the other
