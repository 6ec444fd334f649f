"""Cell-averaging CFAR: its law over 10^5 trials, and at the ends of a row."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import radio
from sensorium.random import Stream

TRIALS = 100_000


def inside(hits, trials, chance):
    """Whether a count lies in the binomial interval of 99.9 %."""
    from scipy.stats import binom

    low, high = binom.ppf([0.0005, 0.9995], trials, chance)
    return low <= hits <= high


@pytest.fixture(scope="module")
def noise():
    return Stream(3, "cfar").exponential(0, 0, 0, worlds=TRIALS, elements=33)


def test_factor_of_the_reference(printed):
    assert radio.threshold_factors(8, false_alarm=1e-4)[16] == printed("12.4525")


@pytest.mark.parametrize("chance", [1e-2, 1e-3])
@pytest.mark.parametrize("cell", [16, 0, 3])
def test_false_alarms_are_as_often_as_asked_for_in_the_middle_and_at_the_ends(noise, chance, cell):
    hits = radio.crossings(noise, training=8, guard=2, false_alarm=chance)[:, cell]
    assert inside(hits.sum(), TRIALS, chance)


@pytest.mark.parametrize("snr_dB", [0.0, 10.0, 20.0])
def test_detections_are_as_often_as_the_law_says(noise, snr_dB):
    snr = float(radio.of_decibels(snr_dB))
    row = noise.copy()
    row[:, 16] *= 1.0 + snr  # a Swerling I body and noise together are exponential of this mean
    hits = radio.crossings(row, training=8, guard=2, false_alarm=1e-3)[:, 16]
    assert inside(hits.sum(), TRIALS, radio.cfar_detection_probability(snr, cells=16, false_alarm=1e-3))


def test_without_signal_the_law_is_the_false_alarm_rate_and_with_many_cells_that_of_known_noise():
    assert radio.cfar_detection_probability(0.0, cells=16, false_alarm=1e-5) == pytest.approx(1e-5)
    many = radio.cfar_detection_probability(30.0, cells=100_000, false_alarm=1e-5)
    assert many == pytest.approx(radio.detection_probability(30.0, false_alarm=1e-5), rel=1e-3)


def test_an_echo_in_the_guard_cells_does_not_raise_the_threshold():
    row = np.ones(33)
    level = radio.cell_average_threshold(row, training=8, guard=2, false_alarm=1e-3)[16]
    row[[14, 15, 17, 18]] = 1e6
    assert radio.cell_average_threshold(row, training=8, guard=2, false_alarm=1e-3)[16] == level
    row[19] = 1e6
    assert radio.cell_average_threshold(row, training=8, guard=2, false_alarm=1e-3)[16] > 1e4 * level


def test_bad_settings_are_refused():
    with pytest.raises(SpecError, match="training is 1"):
        radio.threshold_factors(1, false_alarm=1e-3)
    with pytest.raises(SpecError, match="guard is -1"):
        radio.crossings(np.ones(9), training=2, guard=-1, false_alarm=1e-3)
    with pytest.raises(SpecError, match="false_alarm is 0"):
        radio.threshold_factors(4, false_alarm=0.0)
