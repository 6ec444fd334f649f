"""Firing period, jitter and azimuth grid of synthetic columns."""

import numpy as np
import pytest

from sensorium.recordings.measure.lidar_timing import azimuth_offsets, nearest, timing_figures
from tests.unit.recordings.measure.scenes import room


def figure(figures, quantity):
    return next(each for each in figures if each.quantity == quantity)


def test_the_period_is_covered_and_the_jitter_too():
    covered, jitters = 0, 0
    for seed in range(60):
        recording = room(rng=np.random.default_rng(seed), turns=1, columns=600, jitter_s=1.5e-6)
        found = timing_figures(recording)
        period, jitter = figure(found, "firing_period"), figure(found, "column_jitter")
        covered += period.low <= 0.1 / 600 <= period.high
        assert period.high - period.low < 2e-8
        jitters += jitter.low <= np.sqrt(2.0) * 1.5e-6 <= jitter.high
    assert covered >= 51  # of 57 expected
    assert jitters >= 51


def test_the_period_of_a_head_whose_speed_wanders_is_covered():
    covered = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        recording = room(rng=rng, turns=8, columns=600, is_locked=True)
        periods_ns = 1e9 * 0.1 / 600 * (1.0 + np.repeat(rng.normal(0.0, 3e-4, 8), 600))
        stamps = np.cumsum(periods_ns) + rng.normal(0.0, 1000.0, len(periods_ns))
        found = figure(timing_figures(recording._replace(time_ns=np.rint(stamps).astype(np.int64))), "firing_period")
        covered += found.low <= 0.1 / 600 <= found.high
    assert covered >= 48  # eight turns tell their scatter to a quarter


def test_lost_columns_do_not_count():
    recording = room(rng=np.random.default_rng(1), turns=2, columns=600)
    kept = np.ones(1200, np.bool_)
    kept[100:160] = kept[700:705] = False
    found = timing_figures(recording.of_columns(kept))
    assert figure(found, "firing_period").value == pytest.approx(0.1 / 600, rel=1e-6)
    assert figure(found, "azimuth.step").value == pytest.approx(2.0 * np.pi / 600 * 1.0003, rel=1e-6)


def test_stamps_of_packets_are_divided_by_their_columns():
    recording = room(rng=np.random.default_rng(2), turns=2, columns=600)
    stamped = np.arange(1200) % 12 == 0
    found = timing_figures(recording._replace(is_stamped=stamped))
    assert figure(found, "firing_period").value == pytest.approx(0.1 / 600, rel=1e-6)
    assert figure(found, "firing_period").samples == 99


def test_fixed_columns_repeat_and_free_ones_do_not():
    fixed = timing_figures(room(rng=np.random.default_rng(3), turns=3, columns=600, is_locked=True))
    assert figure(fixed, "azimuth.repeat").value == 0.0
    assert figure(fixed, "azimuth.step_jitter").value == 0.0
    free = room(rng=np.random.default_rng(3), turns=3, columns=600)
    offsets = azimuth_offsets(free)
    # 600 columns of 1.0003 steps: the next turn begins 0.18 steps further
    assert np.median(offsets) == pytest.approx(0.18 * 2.0 * np.pi / 600, rel=0.01)
    rate = figure(timing_figures(free), "rotation_rate")
    assert rate.value == pytest.approx(10.003, rel=1e-5)


def test_nearest_is_the_nearest():
    rng = np.random.default_rng(4)
    ordered, wanted = np.sort(rng.random(50)), rng.random(200) * 1.4 - 0.2
    expected = np.abs(ordered[None] - wanted[:, None]).argmin(axis=1)
    np.testing.assert_allclose(ordered[nearest(ordered, wanted)], ordered[expected])


def test_a_few_columns_have_no_figures():
    recording = room(rng=np.random.default_rng(5), turns=1, columns=600)
    assert timing_figures(recording.of_columns(np.arange(600) < 2)) == []
