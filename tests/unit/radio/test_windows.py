"""Windows: the closed form against a transform of the samples themselves."""

import numpy as np
import pytest

from sensorium import radio
from sensorium.errors import SpecError
from sensorium.radio.windows import WINDOWS

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
