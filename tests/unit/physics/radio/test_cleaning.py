"""What is taken from a frame to look for what side lobes hide: the models of its echoes, and nothing else."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.radio.cleaning import add_echoes, main_lobe_hides, scalloping, side_lobes_hide
from sensorium.sensors.radar.cells import Cells


def lobes(window, x, count):
    """W(x) by its sum over samples."""
    w = sn.radar.window_samples(window, count=count)
    turn = (np.arange(count) - 0.5 * (count - 1)) / count
    return np.cos(2 * np.pi * np.multiply.outer(x, turn)) @ w / w.sum()


@pytest.mark.parametrize("window", sn.radar.WINDOWS)
@pytest.mark.parametrize("counts", [(8, 32, 64), (3, 9, 33), (5, 16, 21)])
def test_models_of_echoes_are_added_as_transforms_have_them(window, counts):
    """Whatever turn their places are counted from: cells go on with the sign of an even number of samples."""
    antennas, chirps, samples = counts
    chirp = sn.radar.Chirp(samples=samples, chirps=chirps, ramp_s=60e-6)
    spec = sn.Radar(
        chirp=chirp, antennas=antennas, window=window, angle_window=window, adc=True, cfar={"guard": 1, "training": 4}
    )
    cells, rng = Cells(spec), np.random.default_rng(antennas)
    place = rng.uniform(-1.5, 1.5, (4, 4)) * [0, *counts]
    amplitude = rng.normal(size=4) + 1j * rng.normal(size=4)
    real, imaginary = rng.normal(size=(2, *cells.shape)).astype(np.float32)
    expected = (real + 1j * imaginary).astype(complex)
    at = np.arange(antennas) - antennas // 2, np.arange(chirps), np.arange(samples)
    for p, a in zip(place, amplitude, strict=True):
        across, along, away = (lobes(window, x - one, len(x)) for x, one in zip(at, p[1:], strict=True))
        expected[0] += a * across[:, None, None] * along[:, None] * away
    add_echoes(real, imaginary, cells.grid, 0.0, place, amplitude)
    np.testing.assert_allclose(real + 1j * imaginary, expected, atol=3e-6)


def test_only_without_a_window_lobes_hide_what_is_looked_for():
    """From three and a half cells on, over the 27 dB down to which a second echo is looked for."""
    for window in sn.radar.WINDOWS:
        x = np.arange(3.5, 32.0, 0.01)
        highest = (lobes(window, x, 64) ** 2).max()
        assert side_lobes_hide([(window, 64)]) == (highest > 0.002) == (window == "rectangular")
    assert side_lobes_hide([("hamming", 1), ("rectangular", 8), ("hann", 32)])
    assert not side_lobes_hide([("rectangular", 1), ("rectangular", 7), ("hann", 32)])


def test_a_main_lobe_hides_others_where_it_fills_more_cells_than_the_rank_leaves():
    """A window's cells within its main lobe, counted: up to two for each cell to its first zero."""
    for window, zero in (("rectangular", 1), ("hann", 2), ("hamming", 2), ("blackman_harris", 4)):
        x = np.arange(0.05, 6.0, 0.01)
        assert np.flatnonzero(np.diff(np.sign(lobes(window, x, 64))))[0] * 0.01 + 0.05 == pytest.approx(zero, abs=0.02)
        filled = max(np.sum(np.abs(np.arange(-9, 10) - offset) < zero) for offset in (0.0, 0.5))
        for spare in range(10):
            assert main_lobe_hides(window, count=64, spare=spare) == (filled > spare)


def test_scalloping_is_half_a_cell_along_each_axis():
    expected = lobes("rectangular", 0.5, 64) ** 2 * lobes("hann", 0.5, 8) ** 2
    assert scalloping([("hann", 1), ("hann", 8), ("rectangular", 64)]) == pytest.approx(expected, rel=1e-9)
    assert 10 * np.log10(scalloping([("rectangular", 256)])) == pytest.approx(-3.92, abs=0.01)
