import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from sensorium.analysis import gauss_markov_deviation
from sensorium.core.errors import SpecError


def test_its_maximum_is_where_the_textbook_has_it():
    """At 1.893 T: 0.4365 q sqrt(T) = 0.6174 sigma."""
    found = minimize_scalar(
        lambda tau: -gauss_markov_deviation(tau, std=1.0, correlation_time_s=1.0), bounds=(1, 3), method="bounded"
    )
    assert found.x == pytest.approx(1.8926, abs=1e-4)
    assert -found.fun == pytest.approx(0.6174, abs=5e-5)
    assert -found.fun / math.sqrt(2) == pytest.approx(0.4365, abs=5e-5)


def test_it_is_a_walk_at_first_and_white_noise_in_the_end():
    q = math.sqrt(2.0 / 3.0) * 0.1  # std 0.1, T = 3 s
    short, long = np.array([1e-7, 1e-4]), np.array([3e4, 3e6])
    walk = gauss_markov_deviation(short, std=0.1, correlation_time_s=3.0)
    white = gauss_markov_deviation(long, std=0.1, correlation_time_s=3.0)
    np.testing.assert_allclose(walk, q * np.sqrt(short / 3), rtol=1e-4)
    np.testing.assert_allclose(white, q * 3.0 / np.sqrt(long), rtol=1e-4)


def test_series_and_closed_form_meet():
    below, above = gauss_markov_deviation([0.01 - 1e-12, 0.01 + 1e-12], std=1.0, correlation_time_s=1.0)
    assert above == pytest.approx(below, rel=1e-9)


def test_one_a_decade_is_the_floor_of_bias_instability_within_one_percent():
    instability = 0.3
    tau = np.geomspace(1.0, 100.0, 201)
    parts = gauss_markov_deviation(
        tau[:, None], std=instability * math.sqrt(math.log(10) / math.pi), correlation_time_s=10.0 ** np.arange(-8, 11)
    )
    floor = np.sqrt((parts**2).sum(axis=1)) / (math.sqrt(2 * math.log(2) / math.pi) * instability)
    assert np.sqrt(np.mean(floor[:-1] ** 2)) == pytest.approx(1.0, abs=1e-3)
    assert np.abs(floor - 1.0).max() < 0.0105
    assert math.sqrt(math.log(10) / math.pi) == pytest.approx(0.8561, abs=5e-5)


@pytest.mark.parametrize("time", [0.0, -1.0, np.nan])
def test_times_are_positive(time):
    with pytest.raises(SpecError, match=r"correlation_time_s is .* finite and positive"):
        gauss_markov_deviation(1.0, std=1.0, correlation_time_s=time)
    with pytest.raises(SpecError, match=r"tau_s is .* finite and positive"):
        gauss_markov_deviation(time, std=1.0, correlation_time_s=1.0)
