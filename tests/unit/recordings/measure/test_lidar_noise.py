"""Noise of synthetic recordings with known laws: the interval covers the truth in the stated share of cases."""

import numpy as np
import pytest

from sensorium.random import johnson_numbers
from sensorium.recordings.measure.lidar import measure_lidar
from sensorium.recordings.measure.lidar_noise import KNOWN, edges_of, joined_bins, noise, noise_figures
from sensorium.recordings.measure.lidar_rays import Samples, rays_of, windows_of
from sensorium.recordings.measurement import Measurement
from tests.unit.recordings.measure.scenes import room

CASES = 40
LEAST = 33  # of 38 expected: less than one in a hundred for 95 %


def rounded(noise_m, quantum_m=0.002):
    """Noise with that of rounding."""
    return np.sqrt(noise_m**2 + quantum_m**2 / 12.0)


def test_noise_between_turns_is_covered():
    covered = 0
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        noise_m = rng.uniform(0.003, 0.03)
        found = measure_lidar(room(rng=rng, turns=3, columns=600, noise_m=noise_m, is_locked=bool(seed % 2)))
        assert "still" in found.remarks[-1]
        total = found.figure("noise")
        covered += total.low <= rounded(noise_m) <= total.high
        assert total.high - total.low < 0.1 * total.value
        if noise_m < 0.015:  # more looks like a rough surface, of which the smoothest part is taken
            assert found.figure("noise.along_ring").value == pytest.approx(rounded(noise_m), rel=0.06)
    assert covered >= LEAST


def test_noise_by_reflectivity_follows_the_law():
    def law(reflectivity):
        return 0.004 + 0.1 / (reflectivity + 5.0)

    found = measure_lidar(room(rng=np.random.default_rng(1), noise_m=law))
    for low, high, reflectivity in ((8, 15, 10), (15, 30, 20), (30, 60, 45), (60, 100, 80)):
        figure = found.figure("noise.by_reflectivity", f"reflectivity {low} to {high}")
        assert figure.value == pytest.approx(rounded(law(reflectivity)), rel=0.05)
        assert figure.low < figure.value < figure.high
    curve = found.curve("noise.by_reflectivity")
    assert (np.diff(curve.x) > 0.0).all()
    assert len(found.of("noise.by_range_and_reflectivity")) >= 4


def test_noise_in_motion_is_measured_along_rings_and_the_shift_is_stated():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        shift_m = rng.uniform(-0.05, 0.05, 2)
        found = measure_lidar(room(rng=rng, turns=3, columns=1200, noise_m=0.008, shift_m=tuple(shift_m)))
        if np.hypot(*shift_m) > 0.005:
            assert "noise is measured along rings" in found.remarks[-1]
            assert found.figure("motion.shift").value == pytest.approx(np.hypot(*shift_m), rel=0.05, abs=0.0005)
        # Windows over a corner of the room add to the noise
        assert found.figure("noise.along_ring").value == pytest.approx(rounded(0.008), rel=0.02)


def test_the_quartile_of_windows_covers_the_noise_of_flat_surfaces():
    covered = 0
    for seed in range(200):
        windows = np.random.default_rng(seed).normal(0.0, 0.008, (150, 9))
        place = np.arange(9.0)
        left = [each - np.polyval(np.polyfit(place, each, 2), place) for each in windows]
        deviation = np.sqrt(np.sum(np.square(left), axis=1) / 6.0)
        nothing = np.zeros(len(deviation))
        samples = Samples(deviation, nothing, nothing, nothing[:0], nothing.astype(int), nothing.astype(int))
        found = noise(samples, is_temporal=False, unit_m=0.002)
        covered += found.low <= 0.008 <= found.high
    assert 180 <= covered <= 200


@pytest.mark.parametrize(("turns", "columns"), [(3, 1200), (1, 600)])
def test_noise_along_rings_is_covered(turns, columns):
    covered = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        noise_m = rng.uniform(0.003, 0.012)
        recording = room(rng=rng, turns=turns, columns=columns, noise_m=noise_m)
        found = noise(windows_of(recording, rays_of(recording)), is_temporal=False, unit_m=0.002)
        covered += found.low <= rounded(noise_m) <= found.high
        assert found.high - found.low < 0.15 * found.value
    assert covered >= 89  # of 95 expected


@pytest.mark.parametrize("excess", [0.0, 1.0, 3.0])
def test_kurtosis_is_that_of_the_noise(excess):
    rng = np.random.default_rng(3)
    shape, scale = johnson_numbers(excess)

    def heavy(size):
        return scale * np.sinh(shape * rng.standard_normal(size))

    draws = heavy if excess else None
    found = measure_lidar(room(rng=rng, turns=8, noise_m=0.01, normal=draws)).figure("noise.excess_kurtosis")
    assert found.value == pytest.approx(excess, rel=0.15, abs=0.1)
    assert found.low <= excess <= found.high
    assert (found.low > 0.3) == (excess > 0.0)


def test_bins_whose_noise_is_not_known_are_joined():
    rng = np.random.default_rng(7)
    count = 6000
    range_m = np.where(np.arange(count) < 5840, rng.uniform(5.0, 12.0, count), rng.uniform(12.0, 30.0, count))
    noise_m = np.where(range_m < 8.0, 0.005, 0.01)
    zero = np.zeros(count)
    block = np.arange(count) % 200
    given = Samples(noise_m * rng.standard_normal(count) * np.sqrt(2.0), range_m, zero, zero[:0], block, block)
    way = {"is_temporal": True, "unit_m": 0.002}
    assert joined_bins(given, "range_m", known=0.05, **way) == [(5.0, 8.0), (8.0, 30.0)]
    assert joined_bins(given, "range_m", known=0.2, **way) == [(5.0, 8.0), (8.0, 12.0), (12.0, 30.0)]
    assert joined_bins(given, "range_m", known=1e-4, **way) == []
    figures, _ = noise_figures(given, **way)
    by_range = [each for each in figures if each.quantity == "noise.by_range"]
    assert [edges_of(each.where) for each in by_range] == joined_bins(given, "range_m", known=KNOWN, **way)
    for figure, truth in zip(by_range, (0.005, 0.01, 0.01), strict=False):
        assert figure.value == pytest.approx(truth, rel=0.1)
        assert figure.high - figure.low <= 0.2 * figure.value
    # Another recording is measured in the same bins, whatever is known in them
    like = Measurement("lidar", "", "", tuple(figures))
    again, _ = noise_figures(given.where((range_m >= 12.0) | (rng.random(count) < 0.1)), **way, like=like)
    assert [each.where for each in again if each.quantity == "noise.by_range"] == [each.where for each in by_range]


def test_a_mixture_of_normal_noises_has_no_excess():
    found = measure_lidar(room(rng=np.random.default_rng(4), noise_m=lambda reflectivity: 0.3 / (reflectivity + 10.0)))
    excess = found.figure("noise.excess_kurtosis")
    assert excess.low < 0.05 < 0.3
    assert excess.high < 0.4


def test_outliers_are_counted_and_are_no_noise():
    rng = np.random.default_rng(5)

    def draws(shape):
        return np.where(rng.random(shape) < 0.002, 10.0, rng.standard_normal(shape))

    found = measure_lidar(room(rng=rng, normal=draws, noise_m=0.005))
    outliers = found.figure("noise.outliers")
    # A difference has two ranges; some neighborhoods of outliers are not smooth
    assert outliers.value == pytest.approx(0.004, rel=0.25)
    assert found.figure("noise").value == pytest.approx(rounded(0.005), rel=0.03)
