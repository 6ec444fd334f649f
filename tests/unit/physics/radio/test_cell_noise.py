"""Noise in cells: its power and its correlation along every axis, and that beams left out change no other."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.radio.adc import cells_of_samples, samples_of_cells
from sensorium.physics.radio.cell_noise import add_noise, drawn_noise
from sensorium.sensors.radar.cells import Cells

KEY = np.array([7, 9], np.uint32)


def noise_of(**fields):
    """Cells of a frame of noise, and what they should be: windowed transforms of its samples."""
    chirp = sn.radar.Chirp(samples=fields.pop("samples", 16), chirps=fields.pop("chirps", 8), ramp_s=60e-6)
    cfar = {"guard": 1, "training": 4}
    cells = Cells(sn.Radar(chirp=chirp, cfar=cfar, **fields))
    real, imaginary = np.zeros(cells.shape, np.float32), np.zeros(cells.shape, np.float32)
    add_noise(real, imaginary, cells.grid, KEY, 3, 1, 2)
    counts = tuple(axis.count for axis in cells.axes)
    fresh = drawn_noise(counts, noise_W=cells.grid.noise_W, key=KEY, tick=3, world=1, sensor=2)
    samples = samples_of_cells(fresh, transmitters=1)
    expected = cells_of_samples(samples, tuple(axis.window for axis in cells.axes), transmitters=1)
    return real + 1j * imaginary, expected[:, cells.grid.beams + counts[1] // 2], cells


@pytest.mark.parametrize("window", sn.radar.WINDOWS)
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"antennas": 2, "chirps": 1, "samples": 15},
        {"antennas": 3, "elevation_antennas": 2, "chirps": 3},
        {"antennas": 5, "elevation_antennas": 4, "chirps": 7, "samples": 9},
        {"antennas": 32, "horizontal_fov_deg": 20.0},
    ],
)
def test_noise_is_that_of_windowed_samples(window, fields):
    found, expected, cells = noise_of(window=window, angle_window=window, **fields)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.sqrt(cells.noise_W))
    if fields.get("antennas") == 32:
        assert found.shape[1] < 32


def test_its_mean_power_is_that_of_the_windows():
    found, _, cells = noise_of(chirps=64, samples=256)
    assert np.mean(np.abs(found) ** 2) == pytest.approx(cells.noise_W, rel=0.02)
