import numpy as np
import pytest

from sensorium.trace.waveform.timing import parabola

X = np.arange(40)


@pytest.mark.parametrize("place", [20.0, 20.3, 20.5, 20.81])
@pytest.mark.parametrize("sigma", [1.0, 2.5, 6.0])
def test_the_parabola_through_logarithms_is_exact_for_a_gaussian(place, sigma):
    samples = (3.0 * np.exp(-0.5 * ((X + 0.5 - place) / sigma) ** 2)).astype(np.float32)
    found = parabola(samples, int(np.argmax(samples)), 0, 39, np.float32(np.inf))
    assert found == pytest.approx((place, 3.0, 2.35482 * sigma), rel=1e-4)


def test_where_no_parabola_fits_the_highest_sample_is_the_place():
    flat = np.array([0, 0, 5, 5, 5, 5, 0, 0], np.float32)
    place, height, _ = parabola(flat, 2, 0, 7, np.float32(np.inf))
    assert 2.0 <= place <= 6.0
    assert height == pytest.approx(5.0, rel=0.2)
    assert parabola(np.array([0, 2, 0], np.float32), 1, 0, 2, np.float32(np.inf)) == (1.5, 2.0, 3.0)
