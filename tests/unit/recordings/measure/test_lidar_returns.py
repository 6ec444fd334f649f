"""Quantum, separation and dropout of synthetic recordings."""

import numpy as np
import pytest

from sensorium.recordings.measure.lidar import measure_lidar
from sensorium.recordings.measure.lidar_returns import least_separation, quantum_figure
from tests.unit.recordings.measure.scenes import room


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 6, 8, 10])
def test_the_quantum_is_found_in_counts(steps):
    recording = room(rng=np.random.default_rng(steps), turns=1, columns=300, quantum_m=0.001 * steps)
    found = quantum_figure(recording._replace(range_unit_m=0.001))
    assert found.value == pytest.approx(0.001 * steps, rel=1e-9)
    assert found.low == found.high == found.value


@pytest.mark.parametrize(
    ("of_share", "least"),
    [
        (lambda u: 0.8 + 3.0 * u, 0.93),
        (lambda u: 0.8 + 2.0 * np.sqrt(u), 0.90),
        (lambda u: 2.0 + 0.08 * np.log(u), 0.83),
    ],
    ids=["sharp", "rising", "fading"],
)
@pytest.mark.parametrize("count", [400, 4000])
def test_the_least_separation_is_the_quantile_of_one_and_is_covered(of_share, least, count):
    truth, found = of_share(1.0 / count), []
    for seed in range(200):
        found.append(least_separation(of_share(np.random.default_rng(seed).random(count))))
    assert np.mean([each.low <= truth <= each.high for each in found]) >= least
    assert np.mean([each.value for each in found]) == pytest.approx(truth, rel=0.02)


def test_separations_of_a_recording_are_measured():
    rng = np.random.default_rng(7)
    second_m = 0.8 + rng.uniform(0.0, 3.0, 1500)
    recording = room(rng=rng, turns=2, columns=600, second_m=second_m)
    found = measure_lidar(recording)
    least, common = found.figure("separation.least"), found.figure("separation.percentile_1")
    assert least.low <= 0.802 <= least.high < 0.82
    assert common.low <= 0.83 <= common.high
    two = found.figure("returns.two")
    assert two.low <= 1500 / (1200 * 16) <= two.high
    assert found.curve("separation").y.sum() == pytest.approx(1.0, abs=0.01)


def test_a_single_return_has_no_separation():
    found = measure_lidar(room(rng=np.random.default_rng(8), turns=2, columns=600))
    assert not found.of("separation.least")


@pytest.mark.parametrize("shift_m", [(0.0, 0.0), (0.03, 0.0)], ids=["still", "moving"])
def test_dropout_is_covered(shift_m):
    covered = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found = measure_lidar(room(rng=rng, turns=3, columns=600, drop=0.01, shift_m=shift_m)).figure("dropout")
        covered += found.low <= 0.01 <= found.high
    assert covered >= 16
