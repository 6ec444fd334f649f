import numpy as np
import pytest

from sensorium.tracing.kernels.waveform.timing import SPARE, parabola, take_logarithms

X = np.arange(40)


def gaussian_through(samples, at):
    """Place, height and width by the parabola through a peak; its other two results follow from these."""
    wave, logs = (np.zeros(len(samples) + SPARE, np.float32) for _ in range(2))
    wave[: len(samples)] = samples
    take_logarithms(wave, logs, 0, len(samples))
    place, height, width, log_height, bend = parabola(wave, logs, at, 0, len(samples) - 1, np.float32(np.inf))
    assert log_height == pytest.approx(np.log(height), abs=1e-5)
    assert bend == pytest.approx(-0.5 * (2.35482 / width) ** 2, rel=1e-5)
    return place, height, width


@pytest.mark.parametrize("place", [20.0, 20.3, 20.5, 20.81])
@pytest.mark.parametrize("sigma", [1.0, 2.5, 6.0])
def test_the_parabola_through_logarithms_is_exact_for_a_gaussian(place, sigma):
    samples = (3.0 * np.exp(-0.5 * ((X + 0.5 - place) / sigma) ** 2)).astype(np.float32)
    found = gaussian_through(samples, int(np.argmax(samples)))
    assert found == pytest.approx((place, 3.0, 2.35482 * sigma), rel=1e-4)


def test_where_no_parabola_fits_the_highest_sample_is_the_place():
    flat = np.array([0, 0, 5, 5, 5, 5, 0, 0], np.float32)
    place, height, _ = gaussian_through(flat, 2)
    assert 2.0 <= place <= 6.0
    assert height == pytest.approx(5.0, rel=0.2)
    assert gaussian_through(np.array([0, 2, 0], np.float32), 1) == (1.5, 2.0, 3.0)
