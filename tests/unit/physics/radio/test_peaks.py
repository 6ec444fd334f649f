"""Peaks against a search over all cells in NumPy."""

import numpy as np
import pytest

from sensorium.physics.radio.peaks import Threshold, find_peaks


def threshold(around, factor, rank, *, folds):
    """The same factor for any number of training cells, so that it is easy to see what was taken."""
    counts = np.arange(len(around) + 1)
    ranks = np.where(counts > 0, np.maximum(1, counts * rank // len(around)), 0)
    return Threshold(around, np.full(len(counts), factor), ranks if rank else np.zeros_like(counts), folds)


def searched(power, limits, is_round):
    """Cells over the threshold and all their neighbors, by rolled copies."""
    ranges, peak = power.shape[3], np.zeros(power.shape, bool)
    for r in range(ranges):
        at = r + limits.around
        at = at % ranges if limits.is_round else at[(at >= 0) & (at < ranges)]
        if len(at) >= 2:
            k = limits.ranks[len(at)]
            level = power[..., at].mean(axis=3) if k == 0 else np.sort(power[..., at], axis=3)[..., k - 1]
            peak[..., r] = power[..., r] > limits.factors[len(at)] * level
    for shift in np.ndindex(3, 3, 3, 3):
        step = np.array(shift) - 1
        other = np.roll(power, step, axis=(0, 1, 2, 3))
        if not is_round and step[1]:
            other[:, 0 if step[1] > 0 else -1] = 0.0
        peak &= power >= other
    return {tuple(int(i) for i in cell) for cell in np.argwhere(peak)}


@pytest.mark.parametrize("shape", [(1, 8, 16, 32), (1, 1, 1, 24), (3, 5, 4, 20), (2, 2, 7, 25)])
@pytest.mark.parametrize("rank", [0, 6])
@pytest.mark.parametrize(("is_round", "folds"), [(True, True), (True, False), (False, True)])
def test_peaks_are_found_round_every_axis(shape, rank, is_round, folds):
    rng = np.random.default_rng(4)
    around = np.array([-6, -5, -4, -3, 3, 4, 5, 6])
    total, limit = 0, threshold(around, 1.5, rank, folds=folds)
    for _ in range(6):
        power = rng.exponential(size=shape).astype(np.float32)
        cells, values, limits = np.empty((4000, 4), np.int64), np.empty(4000, np.float32), np.empty(4000)
        count = find_peaks(power, np.empty_like(power), limit, is_round, cells, values, limits)
        assert {tuple(cell) for cell in cells[:count].tolist()} == searched(power, limit, is_round)
        np.testing.assert_array_equal(values[:count], power[tuple(cells[:count].T)])
        assert (values[:count] > limits[:count] * (1 - 1e-6)).all()
        total += count
    assert total > 5


def test_of_too_many_the_strongest_are_kept():
    power = np.random.default_rng(5).exponential(size=(1, 8, 16, 32)).astype(np.float32)
    around = np.array([-4, -3, 3, 4])

    def peaks(room):
        cells, values, limits = np.empty((room, 4), np.int64), np.empty(room, np.float32), np.empty(room)
        limit = threshold(around, 1.0, 2, folds=False)
        count = find_peaks(power, np.empty_like(power), limit, True, cells, values, limits)
        return np.sort(values[:count])

    every = peaks(4000)
    assert len(every) > 20
    np.testing.assert_array_equal(peaks(10), every[-10:])
