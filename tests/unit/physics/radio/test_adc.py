"""Samples and cells: transforms there and back, and windows by sums over samples."""

import numpy as np
import pytest

from sensorium.physics.radio.adc import beat_samples, cells_of_samples, samples_of_cells
from sensorium.physics.radio.windows import WINDOWS, point_spread

COUNTS = [(1, 4, 6, 16), (3, 5, 7, 9), (2, 6, 8, 12)]


def some(rng, shape):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(np.complex64)


@pytest.mark.parametrize("counts", COUNTS)
def test_samples_of_cells_have_these_cells(counts):
    cells = some(np.random.default_rng(1), counts)
    for transmitters in {1, 2 if counts[1] % 2 == 0 else counts[1]}:
        samples = samples_of_cells(cells, transmitters=transmitters)
        again = cells_of_samples(samples, ("rectangular",) * 4, transmitters=transmitters)
        np.testing.assert_allclose(again, cells, atol=1e-5)
        np.testing.assert_allclose(np.mean(np.abs(samples) ** 2), np.sum(np.abs(cells) ** 2), rtol=1e-5)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("counts", COUNTS)
def test_an_echo_stands_in_cells_as_the_windows_spread_it(window, counts):
    place, amplitude = np.array([[0.3, -1.4, 8.7, 3.2]]), np.array([1.5 - 0.5j])
    samples = beat_samples(place, amplitude, np.zeros(1), counts=counts, transmitters=1)
    cells = cells_of_samples(samples, (window,) * 4, transmitters=1)
    expected = amplitude[0]
    for axis, count in enumerate(counts):
        at = np.arange(count) - (count // 2 if axis == 1 else 0)
        shape = [1] * 4
        shape[axis] = count
        expected = expected * point_spread(window, at - place[0, axis], count=count).reshape(shape)
    np.testing.assert_allclose(cells, expected, atol=1e-5)


def test_scatterers_add_up_and_one_that_moves_is_smeared():
    """Against the formula of one sample after the other; two transmitters."""
    rng, counts, transmitters = np.random.default_rng(2), (2, 4, 6, 16), 2
    place = rng.uniform([-1, -2, -9, 0], [1, 2, 9, 16], (5, 4))
    amplitude, migration = rng.standard_normal(5) + 1j * rng.standard_normal(5), np.array([0.0, 0.0, 1.3, 0.0, -2.1])
    found = beat_samples(place, amplitude, migration, counts=counts, transmitters=transmitters)
    expected = np.zeros(counts, complex)
    for (h, i, m, n), _ in np.ndenumerate(expected):
        time = (m - 2.5 + (i // 2 - 0.5) / transmitters) / 6
        e, b, d, r = place.T
        turns = e * (h - 0.5) / 2 + b * (i - 1.5) / 4 + d * time + (r + migration * time) * (n - 7.5) / 16
        expected[h, i, m, n] = np.sum(amplitude * np.exp(2j * np.pi * turns))
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_the_speed_of_a_cell_is_taken_out_between_transmitters():
    """An echo ahead stays in the beam ahead, whatever its speed up to the fold; beyond it seems elsewhere."""
    counts = (1, 6, 8, 4)
    for speed, is_ahead in ((0.0, True), (3.0, True), (-3.0, True), (5.0, False)):
        place = np.array([[0.0, 0.0, speed, 1.0]])
        samples = beat_samples(place, np.ones(1, complex), np.zeros(1), counts=counts, transmitters=3)
        cells = np.abs(cells_of_samples(samples, ("rectangular",) * 4, transmitters=3)[0, :, int(speed) % 8, 1])
        assert (cells.argmax() == 3 and cells.max() > 0.999) == is_ahead
