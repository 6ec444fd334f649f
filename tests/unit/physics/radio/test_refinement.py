"""Places between cells: no bias and the Cramer-Rao bound, for every window and number of samples."""

import numpy as np
import pytest

from sensorium.physics.radio.refinement import CELLS, refine, weights_of
from sensorium.physics.radio.windows import WINDOWS, window_samples

COUNTS = [2, 3, 4, 5, 8, 12, 16, 64]


def block_of(samples, window, centers):
    """Cells around given ones along one axis, with phases from the middle, by a sum over samples."""
    count = samples.shape[-1]
    w = window_samples(window, count=count)
    cells = min(count, CELLS)
    at = centers[:, None] + np.arange(cells) - cells // 2
    m = np.arange(count) - 0.5 * (count - 1)
    return np.einsum("tn,tkn->tk", samples * w / w.sum(), np.exp(-2j * np.pi * at[:, :, None] * m / count))


def estimates(samples, window, centers):
    """Places [cells] and amplitudes of tones in rows of samples."""
    count = samples.shape[-1]
    weights = weights_of([(window, 1), (window, 1), (window, 1), (window, count)])
    place, out, amplitude = np.empty(4), [], []
    for cells, center in zip(block_of(samples, window, centers), centers, strict=True):
        block = np.zeros((CELLS,) * 4, np.complex128)
        block[0, 0, 0, : len(cells)] = cells
        amplitude.append(refine(block, weights, place))
        out.append(center + place[3])
    return np.array(out), np.array(amplitude)


def peak_cells(samples, window):
    """Strongest cell of each row."""
    count = samples.shape[-1]
    power = np.abs(np.fft.fft(samples * window_samples(window, count=count), axis=1))
    return power.argmax(axis=1)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("count", COUNTS)
def test_a_tone_without_noise_has_no_bias(window, count):
    """A thousandth of a cell at most, anywhere, and its amplitude to a thousandth."""
    p = np.linspace(-0.5, count - 0.5, 301)[:-1]
    m = np.arange(count) - 0.5 * (count - 1)
    samples = 2.0 * np.exp(2j * np.pi * p[:, None] * m / count + 0.7j)
    found, amplitude = estimates(samples, window, peak_cells(samples, window))
    error = np.mod(found - p + 0.5 * count, count) - 0.5 * count
    assert np.abs(error).max() < 1e-3
    np.testing.assert_allclose(np.abs(amplitude), 2.0, rtol=2e-3)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("snr_dB", [15.0, 25.0, 45.0])
def test_errors_are_near_the_cramer_rao_bound(window, count, snr_dB):
    """SNR of the cell after the window; without one there is more signal over the noise, so that errors may fall below
    this bound. Tones anywhere; a mean of no more than a hundredth of a cell. A peak of noise, one in a thousand at 15
    dB among 64 cells, is no estimate of the tone."""
    rng, trials = np.random.default_rng(count), 1500
    w = window_samples(window, count=count)
    p = rng.uniform(-0.5, count - 0.5, trials)
    m = np.arange(count) - 0.5 * (count - 1)
    snr = 10.0 ** (snr_dB / 10.0)
    sigma = w.sum() / np.sqrt(2.0 * snr * np.sum(w**2))
    noise = rng.standard_normal((trials, count)) + 1j * rng.standard_normal((trials, count))
    samples = np.exp(2j * np.pi * p[:, None] * m / count) + sigma * noise
    found, _ = estimates(samples, window, peak_cells(samples, window))
    error = np.mod(found - p + 0.5 * count, count) - 0.5 * count
    error = error[np.abs(error) < 2.0] if count > CELLS else error
    assert len(error) >= 0.998 * trials
    bound = np.sqrt(6.0 / (snr * (count**2 - 1))) * count / (2.0 * np.pi)
    assert np.sqrt(np.mean(error**2)) < 1.5 * bound
    assert np.abs(error).max() < 8.0 * bound  # no step of the table of places is taken twice, or left out
    assert abs(error.mean()) < max(0.01, 4.0 * 1.5 * bound / np.sqrt(trials))
    assert abs(error.mean()) < 0.01 or snr_dB < 20.0


def test_two_antennas_are_their_phase_difference():
    rng = np.random.default_rng(1)
    samples = rng.uniform(0.8, 1.2, (50, 2)) * np.exp(2j * np.pi * rng.uniform(size=(50, 2)))
    found, _ = estimates(samples, "rectangular", peak_cells(samples, "rectangular"))
    turn = np.angle(samples[:, 1] * np.conj(samples[:, 0])) / np.pi
    np.testing.assert_allclose(np.mod(found - turn + 1.0, 2.0) - 1.0, 0.0, atol=2e-3)
