import numpy as np

from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.detect import find_peaks


def peaks_of(samples, threshold, width=2.0, **switches):
    number, switch = np.zeros(wt.DETECTOR_NUMBERS, np.float32), np.zeros(wt.DETECTOR_SWITCHES, np.int32)
    number[wt.D_WIDTH], number[wt.D_CFAR_FACTOR] = width, switches.pop("factor", 0.0)
    for name, value in switches.items():
        switch[getattr(wt, name)] = value
    peaks = np.zeros((wt.MOST_FOUND, 3), np.int32)
    samples = np.asarray(samples, np.float32)
    count = find_peaks(samples, 0, len(samples), np.float32(threshold), number, switch, peaks)
    return peaks[:count].tolist()


def test_peaks_are_parted_by_the_lowest_sample_between_them():
    assert peaks_of([0, 5, 1, 0, 0, 4, 0], 1.0) == [[1, 0, 3], [5, 3, 6]]


def test_a_valley_must_be_as_deep_as_the_threshold():
    shallow, deep = [0, 5, 9, 8, 7, 9, 5, 0], [0, 5, 9, 4, 4, 9, 5, 0]
    assert len(peaks_of(shallow, 3.0)) == 1
    assert len(peaks_of(deep, 3.0)) == 2


def test_noise_on_the_foot_of_a_peak_is_no_peak_of_its_own():
    """It passes the threshold and falls below it again, but not by as much."""
    assert [p[0] for p in peaks_of([0, 0, 36, 31, 120, 480, 900, 480, 120, 0], 34.0)] == [6]


def test_of_two_nearer_than_the_pulse_is_wide_the_higher_stays():
    assert [p[0] for p in peaks_of([0, 3, 0, 5, 0, 0], 1.0, width=3.0)] == [3]
    assert [p[0] for p in peaks_of([0, 3, 0, 5, 0, 0], 1.0, width=1.5)] == [1, 3]


def test_what_is_below_the_threshold_is_nothing_and_what_begins_high_counts():
    assert peaks_of([0, 0.9, 0], 1.0) == []
    assert [p[0] for p in peaks_of([7, 6, 0, 0], 1.0)] == [0]
    assert [p[0] for p in peaks_of([0, 0, 6, 7], 1.0)] == [3]


def test_more_than_fit_leave_the_highest():
    samples = np.zeros(200)
    samples[1::4] = 1.0 + np.arange(50)
    kept = peaks_of(samples, 0.5)
    assert len(kept) == wt.MOST_FOUND
    assert [p[0] for p in kept] == list(range(1 + 4 * 18, 200, 4))


def test_cfar_lets_the_threshold_follow_the_cells():
    rng = np.random.default_rng(0)
    quiet, loud = rng.normal(0, 1, 100), rng.normal(0, 30, 100)
    samples = np.concatenate([quiet, loud])
    samples[50] += 20.0  # far above the quiet noise, lost in the loud
    samples[150] += 20.0
    cfar = {"E_KIND": wt.BY_CFAR, "E_CELLS": 32, "E_GUARD": 3, "factor": 6.0}
    assert [p[0] for p in peaks_of(samples, 1e-9, **cfar)] == [50]
