"""Noise of synthetic recordings with known laws: the interval covers the truth in the stated share of cases."""

import numpy as np
import pytest

from sensorium.recordings.measure.lidar import measure_lidar
from sensorium.recordings.measure.lidar_noise import noise
from sensorium.recordings.measure.lidar_rays import Samples
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


@pytest.mark.parametrize(("degrees", "excess"), [(None, 0.0), (10, 1.0)])
def test_kurtosis_is_that_of_the_noise(degrees, excess):
    rng = np.random.default_rng(3)

    def heavy(shape):
        return rng.standard_t(degrees, shape) / np.sqrt(degrees / (degrees - 2.0))

    draws = None if degrees is None else heavy
    found = measure_lidar(room(rng=rng, turns=8, noise_m=0.02, normal=draws)).figure("noise.excess_kurtosis")
    assert found.value == pytest.approx(excess, abs=0.2)
    assert (found.low > 0.3) == (excess > 0.0)


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


def test_signal_of_counted_photons_has_the_variance_of_its_mean():
    found = measure_lidar(room(rng=np.random.default_rng(6), signal=True))
    for name in ("signal", "background"):
        figures = found.of(f"{name}.variance_over_mean")
        assert len(figures) >= 2
        assert all(each.value == pytest.approx(1.0, abs=0.06) for each in figures)
        assert sum(each.low <= 1.0 <= each.high for each in figures) >= len(figures) - 1
    assert found.of("noise.by_signal")
