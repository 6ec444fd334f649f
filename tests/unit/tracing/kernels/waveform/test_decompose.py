import numpy as np
import pytest

from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.decompose import SCRATCH, decompose

X = np.arange(200)
SIGMA = 4.0 / 2.35482


def wave(*gaussians):
    """A sum of (height, place, sigma); sample b stands at b + 1/2."""
    return sum(a * np.exp(-0.5 * ((X + 0.5 - t) / s) ** 2) for a, t, s in gaussians).astype(np.float32)


def fitted(samples, *starts, full=np.inf):
    """Fit from starts (height, place)."""
    found = np.zeros((wt.MOST_FOUND, wt.FOUND_COLUMNS))
    for i, (height, place) in enumerate(starts):
        found[i, [wt.F_HEIGHT, wt.F_PLACE, wt.F_WIDTH, wt.F_PEAK]] = height, place, 4.0, int(place)
    decompose(samples, 0, 200, np.float32(full), 4.0, 0.0, found, len(starts), np.zeros(SCRATCH))
    return found[: len(starts), [wt.F_HEIGHT, wt.F_PLACE, wt.F_WIDTH]]


def test_it_finds_the_gaussians_that_a_wave_was_made_of():
    truth = ((5.0, 60.2, SIGMA), (3.0, 66.0, 1.3 * SIGMA), (1.0, 130.4, SIGMA))
    found = fitted(wave(*truth), (4.0, 59.5), (3.5, 66.5), (0.8, 131.0))
    np.testing.assert_allclose(found[:, 0], [5.0, 3.0, 1.0], rtol=1e-3)
    np.testing.assert_allclose(found[:, 1], [60.2, 66.0, 130.4], atol=1e-3)
    np.testing.assert_allclose(found[:, 2], np.array([1.0, 1.3, 1.0]) * 4.0, rtol=1e-3)


def test_saturated_samples_do_not_count():
    cut = np.minimum(wave((5.0, 60.2, SIGMA)), np.float32(2.0))
    np.testing.assert_allclose(fitted(cut, (2.5, 60.5), full=2.0)[0], [5.0, 60.2, 4.0], rtol=0.02)


def test_what_cannot_be_fitted_stays_as_it_was():
    found = fitted(np.zeros(200, np.float32), (1.0, 60.0))
    assert found[0, 0] == pytest.approx(1.0)
    assert found[0, 1] == pytest.approx(60.0)
