"""Fluctuation: powers of the amplitudes, and how often bodies are seen."""

import numpy as np
import pytest

from sensorium.physics import radio
from sensorium.random import Stream


@pytest.fixture(scope="module")
def amplitudes():
    uniform = Stream(1, "swerling").uniform(0, 0, 0, worlds=2, elements=100_000)
    return radio.fluctuating_amplitude(uniform[0], uniform[1]), radio.steady_amplitude(uniform[1])


def test_fluctuating_powers_are_exponential_and_steady_ones_are_one(amplitudes):
    from scipy.stats import kstest

    fluctuating, steady = amplitudes
    assert kstest(np.abs(fluctuating) ** 2, "expon").pvalue > 1e-3
    assert kstest(fluctuating.real * np.sqrt(2.0), "norm").pvalue > 1e-3
    np.testing.assert_allclose(np.abs(steady), 1.0, rtol=1e-12)
    assert abs(steady.mean()) < 0.02


def test_bodies_over_a_fixed_threshold_are_seen_as_often_as_the_law_says(amplitudes):
    uniform = Stream(2, "noise").uniform(0, 0, 0, worlds=2, elements=100_000)
    noise = radio.fluctuating_amplitude(uniform[0], uniform[1])
    seen = np.mean(np.abs(np.sqrt(20.0) * amplitudes[0] + noise) ** 2 > -np.log(1e-4))
    expected = radio.detection_probability(20.0, false_alarm=1e-4)
    assert seen == pytest.approx(expected, abs=4.0 * np.sqrt(expected * (1.0 - expected) / 100_000))
