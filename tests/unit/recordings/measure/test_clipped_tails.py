"""Tails behind a clip: draws of the model's own law, and of another one."""

import numpy as np
import pytest

from sensorium.random import johnson_numbers
from sensorium.recordings.measure.clipped_tails import MOST_EXCESS, kept_variance, true_excess
from sensorium.recordings.measure.intervals import Estimate


def clipped(values):
    """Excess of one number by the clipped differences of pairs, and the part of the variance that is left."""
    difference = values[0] - values[1]
    kept = difference[np.abs(difference) <= 6.0 * 1.4826 * np.median(np.abs(difference))]
    excess = 2.0 * (np.mean(kept**4) / np.mean(kept**2) ** 2 - 3.0)
    return excess, np.mean(kept**2) / np.mean(difference**2)


@pytest.mark.parametrize("excess", [0.0, 0.3, 1.0, 3.0, 6.0])
def test_what_the_clip_took_is_put_back(excess):
    z = np.random.default_rng(1).standard_normal((2, 2_000_000))
    shape, scale = johnson_numbers(excess)
    shown, kept = clipped(scale * np.sinh(shape * z) if excess else z)
    found = true_excess(Estimate(shown, shown - 0.1, shown + 0.1))
    assert found.value == pytest.approx(excess, rel=0.06, abs=0.02)
    assert found.low < found.value < found.high
    assert kept_variance(excess) == pytest.approx(kept, rel=0.01)
    if excess >= 3.0:
        assert shown < 0.85 * excess


def test_tails_without_a_moment_are_bounded_and_light_ones_stay():
    heavy, _ = clipped(np.random.default_rng(2).standard_t(2.5, (2, 200_000)))
    assert true_excess(Estimate(heavy, heavy, heavy)).value == MOST_EXCESS
    assert true_excess(Estimate(-0.4, -0.6, -0.2)) == Estimate(-0.4, -0.6, -0.2)
    assert kept_variance(0.0) == pytest.approx(1.0, abs=1e-6)
