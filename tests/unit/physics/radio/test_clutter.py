"""Ground clutter: area of a cell, and Weibull's law."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import radio
from sensorium.random import Stream


def test_a_cell_is_a_piece_of_a_ring_whatever_the_height():
    height, depth, beam = 7.0, 0.5, 0.2
    low, high = (np.sqrt(r**2 - height**2) for r in (29.75, 30.25))
    ring = 0.5 * beam * (high**2 - low**2)
    assert radio.ground_cell_area(30.0, range_resolution_m=depth, beam_rad=beam) == pytest.approx(ring, rel=1e-12)


def test_reflectivity_by_either_law():
    assert radio.ground_reflectivity(0.1, reflectivity=0.01) == 0.01
    assert radio.ground_reflectivity(0.1, reflectivity=0.01, law="gamma") == pytest.approx(0.01 * np.sin(0.1))
    with pytest.raises(SpecError, match="law is 'other'"):
        radio.ground_reflectivity(0.1, reflectivity=0.01, law="other")


@pytest.mark.parametrize("shape", [1.5, 2.0])
def test_amplitudes_follow_weibulls_law_and_have_the_mean_power(shape):
    from scipy.special import gamma
    from scipy.stats import kstest

    uniform = Stream(4, "clutter").uniform(0, 0, 0, elements=100_000)[0]
    found = radio.weibull_amplitude(uniform, mean_power=3.0, shape=shape)
    assert np.mean(found**2) == pytest.approx(3.0, rel=0.03)
    assert kstest(found, "weibull_min", args=(shape, 0, np.sqrt(3.0 / gamma(1 + 2 / shape)))).pvalue > 1e-3
