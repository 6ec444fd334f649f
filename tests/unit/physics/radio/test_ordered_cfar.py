"""Ordered-statistic CFAR: its law over 10^5 trials, and a strong neighbor that hides nothing."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import radio
from sensorium.physics.radio.ordered_cfar import rank_of
from sensorium.random import Stream

TRIALS = 100_000
SETTINGS = {"training": 8, "guard": 2, "rank": 0.75}


def inside(hits, trials, chance):
    """Whether a count lies in the binomial interval of 99.9 %."""
    from scipy.stats import binom

    low, high = binom.ppf([0.0005, 0.9995], trials, chance)
    return low <= hits <= high


@pytest.fixture(scope="module")
def noise():
    return Stream(5, "ordered").exponential(0, 0, 0, worlds=TRIALS, elements=23)


def test_false_alarms_and_detections_are_as_often_as_the_law_says(noise):
    limit = radio.ordered_threshold(noise, false_alarm=1e-3, **SETTINGS)
    assert inside((noise[:, 11] > limit[:, 11]).sum(), TRIALS, 1e-3)
    assert inside((noise[:, 1] > limit[:, 1]).sum(), TRIALS, 1e-3)
    chance = radio.ordered_detection_probability(20.0, cells=16, false_alarm=1e-3, rank=0.75)
    assert inside((21.0 * noise[:, 11] > limit[:, 11]).sum(), TRIALS, chance)
    mean = radio.cfar_detection_probability(20.0, cells=16, false_alarm=1e-3)
    assert mean - 0.05 < chance < mean  # knowing noise from one cell costs a little


def test_the_law_of_two_cells_by_hand():
    """The larger of two: P = 2 / (2 + a) x 1 / (1 + a)."""
    alpha = radio.ordered_factors(2, false_alarm=0.1, rank=1.0)[2]
    assert 2.0 / ((2.0 + alpha) * (1.0 + alpha)) == pytest.approx(0.1, rel=1e-12)
    assert radio.false_alarm_rate(alpha, cells=2, rank=1.0) == pytest.approx(0.1, rel=1e-12)


def test_three_strong_echoes_around_raise_the_threshold_little():
    row = np.ones(23)
    level = radio.ordered_threshold(row, false_alarm=1e-3, **SETTINGS)[11]
    row[[4, 5, 17]] = 1e6
    assert radio.ordered_threshold(row, false_alarm=1e-3, **SETTINGS)[11] == level
    assert radio.cell_average_threshold(row, training=8, guard=2, false_alarm=1e-3)[11] > 1e5


def test_bad_settings_are_refused():
    assert [rank_of(n, rank=0.75) for n in (1, 4, 16)] == [1, 3, 12]
    with pytest.raises(SpecError, match="rank is 0"):
        rank_of(16, rank=0.0)
    with pytest.raises(SpecError, match="training is 1"):
        radio.ordered_factors(1, false_alarm=1e-3, rank=0.75)
    with pytest.raises(SpecError, match="guard is -1"):
        radio.ordered_threshold(np.ones(9), training=2, guard=-1, false_alarm=1e-3, rank=0.5)
