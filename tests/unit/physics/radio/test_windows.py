"""Windows: the closed form against a transform of the samples themselves."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import radio
from sensorium.physics.radio.windows import TERMS, WINDOWS, spread_line, spread_slope, window_terms

COUNT = 64


def transformed(name, at):
    """Magnitudes of all cells for an echo at a fractional cell, by a DFT of windowed samples."""
    n = np.arange(COUNT)
    window = sum((-1) ** k * a * np.cos(2 * np.pi * k * (n + 0.5) / COUNT) for k, a in enumerate(WINDOWS[name]))
    return np.abs(np.fft.fft(window * np.exp(2j * np.pi * at * n / COUNT))) / window.sum()


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("at", [20.0, 20.3, 20.5])
def test_the_spread_is_that_of_a_transform(name, at):
    found = radio.point_spread(name, np.arange(COUNT) - at, count=COUNT)
    np.testing.assert_allclose(np.abs(found), transformed(name, at), atol=1e-12)


@pytest.mark.parametrize(
    ("name", "bandwidth", "lobe_dB"),
    [("rectangular", 1.0, -13.3), ("hann", 1.5, -31.5), ("hamming", 1.36283, -43.0), ("blackman_harris", 2.00435, -92)],
)
def test_noise_bandwidth_and_highest_side_lobe(name, bandwidth, lobe_dB):
    """Harris 1978, table 1."""
    assert radio.noise_bandwidth(name) == pytest.approx(bandwidth, abs=1e-5)
    x = np.linspace(1.0 + [*WINDOWS].index(name), 20.0, 1000)
    level = 20 * np.log10(np.abs(radio.point_spread(name, x, count=4096)).max())
    assert level == pytest.approx(lobe_dB, abs=0.8)


def test_noise_bandwidth_is_that_of_the_samples():
    window = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(COUNT) + 0.5) / COUNT)
    assert radio.noise_bandwidth("hann") == pytest.approx(COUNT * np.sum(window**2) / window.sum() ** 2, rel=1e-12)


def test_another_window_is_refused():
    with pytest.raises(SpecError, match="window is 'kaiser'"):
        radio.point_spread("kaiser", 0.0, count=8)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 9])
def test_few_samples_are_windowed_too(name, count):
    """Against sums over the samples: height 1, spread, slope, noise and its correlation; cells count round."""
    n = np.arange(count) - 0.5 * (count - 1)
    w = sum((-1) ** k * a * np.cos(2 * np.pi * k * (n + 0.5 * count) / count) for k, a in enumerate(WINDOWS[name]))
    x = np.linspace(-count, count, 81)
    spread = np.exp(-2j * np.pi * x[:, None] * n / count) @ w / w.sum()
    found = radio.point_spread(name, x, count=count)
    np.testing.assert_allclose(found, spread.real, atol=1e-10)
    np.testing.assert_allclose(radio.point_spread(name, x + count, count=count), (-1) ** (count - 1) * found, atol=1e-9)
    step = 1e-6
    numeric = (radio.point_spread(name, x + step, count=count) - radio.point_spread(name, x - step, count=count)) / 2e-6
    np.testing.assert_allclose(spread_slope(name, x, count=count), numeric, atol=1e-7)
    assert radio.noise_bandwidth(name, count=count) == pytest.approx(count * np.sum(w**2) / w.sum() ** 2, rel=1e-12)
    lag = np.arange(count)
    law = np.exp(2j * np.pi * lag[:, None] * n / count) @ w**2 / np.sum(w**2)
    np.testing.assert_allclose(radio.noise_correlation(name, lag, count=count), law.real, atol=1e-12)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("count", [1, 3, 8, 64])
@pytest.mark.parametrize("x", [-4.0, -2.3, 0.0, 1e-11, 5.75])
def test_a_line_of_cells_is_the_spread_in_each(name, count, x):
    room = np.empty(7 + 2 * TERMS)
    spread_line(window_terms(name, count=count), x, float(count), 7, room)
    np.testing.assert_allclose(room[:7], radio.point_spread(name, x + np.arange(7), count=count), atol=1e-9)
