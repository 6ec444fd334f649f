"""Biases of beams on shared walls."""

import numpy as np

from sensorium.recordings.measure.lidar_bias import bias_figures
from tests.unit.recordings.measure.scenes import ELEVATION, room


def test_biases_of_beams_are_found_but_for_mean_and_trend():
    covered = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        bias_m = rng.normal(0.01, 0.006, 16)
        figures, curves = bias_figures(room(rng=rng, turns=2, columns=1200, bias_m=bias_m), 0.008)
        spread, beams = figures[0], figures[1:]
        covered += spread.low <= 0.006 <= spread.high
        truth = bias_m - np.polyval(np.polyfit(ELEVATION, bias_m, 1), ELEVATION)
        error = np.array([each.value for each in beams]) - truth
        assert np.abs(error).max() < 0.0035
        assert np.std(error) < 0.3 * np.std(truth)
        assert len(curves[0].x) == 16
    assert covered >= 20


def test_beams_without_bias_have_a_spread_near_zero():
    for seed in range(5):
        figures, _ = bias_figures(room(rng=np.random.default_rng(seed), turns=2), 0.008)
        assert figures[0].quantity == "bias.spread"
        assert figures[0].low < 3e-4
        assert figures[0].high < 1.5e-3


def test_without_angles_nothing_is_measured():
    recording = room(rng=np.random.default_rng(1), turns=1)._replace(elevation=None)
    assert bias_figures(recording, 0.008) == ([], [])
