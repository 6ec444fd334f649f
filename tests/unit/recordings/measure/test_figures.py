"""Figures: their intervals cover the truth in the stated share."""

import numpy as np
import pytest

from sensorium.recordings.measure.figures import deviation_figure, leave_one_out, student_figure


def test_student_and_leaving_out_agree_for_a_mean():
    rng = np.random.default_rng(1)
    x = rng.normal(3.0, 2.0, 17)
    found = leave_one_out(lambda kept: np.array([x[kept].mean()]), len(x))
    assert found.value[0] == pytest.approx(x.mean())
    assert found.error[0] == pytest.approx(x.std(ddof=1) / np.sqrt(17), rel=1e-12)
    figure = found.figure(0, "mean", "m", 17)
    plain = student_figure("mean", x.mean(), "m", x.std(ddof=1) / np.sqrt(17), 16, 17)
    np.testing.assert_allclose(figure[1:2] + figure[3:5], plain[1:2] + plain[3:5], rtol=1e-12)


def test_intervals_cover_the_truth_in_95_percent():
    rng = np.random.default_rng(2)
    covered = {"mean": 0, "deviation": 0}
    trials = 2000
    for _ in range(trials):
        x = rng.normal(1.0, 0.5, 8)
        mean = leave_one_out(lambda kept, x=x: np.array([x[kept].mean()]), len(x)).figure(0, "mean", "m", 8)
        spread = deviation_figure("deviation", x.std(ddof=1), "m", 7, 8)
        covered["mean"] += mean.low <= 1.0 <= mean.high
        covered["deviation"] += spread.low <= 0.5 <= spread.high
    for share in covered.values():
        assert 0.93 < share / trials < 0.97
