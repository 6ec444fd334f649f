import numpy as np
import pytest

from sensorium.tracing.kernels.geometry.ray_errors import BlockDraws
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.digitize import (
    COUNTED_BELOW_E,
    digitize,
    draw_normals,
    new_draws,
    noise_of,
    plan_draws,
)

KEY = np.array([1, 2], np.uint32)
PADS = 8


def samples_of(power, *, low=None, high=None, background=0.0, pulse=7, **numbers):
    """Digitize one pulse of power [W] in the window; returns samples less their background."""
    number = np.zeros(wt.WAVEFORM_NUMBERS, np.float32)
    number[wt.W_GAIN] = 1.0
    for name, value in numbers.items():
        number[getattr(wt, name)] = value
    length = len(power) + 2 * PADS
    padded = np.zeros((1, length), np.float32)
    padded[0, PADS:-PADS] = power
    samples, (pulse_of, draw_of, normals) = np.zeros(length, np.float32), new_draws(2, length)
    low, high = PADS + (low or 0), PADS + (len(power) if high is None else high)

    # Another pulse comes before it, whose draws are planned first
    _, planned = plan_draws(pulse_of, draw_of, 0, 0, PADS, PADS, PADS + 5)
    at, planned = plan_draws(pulse_of, draw_of, planned, 1, PADS, low, high)
    draw_normals(pulse_of, draw_of, normals, planned, BlockDraws(KEY, 3, pulse - 1, 0))
    digitize(padded, 0, samples, normals, at, number, np.float32(background), PADS, low, high, KEY, pulse, 3, 0)
    return samples[PADS:-PADS]


def test_without_noise_samples_are_power_times_gain():
    power = np.linspace(0.0, 1.0, 50)
    np.testing.assert_allclose(samples_of(power, W_GAIN=3.0), 3.0 * power, rtol=1e-6)


def test_what_is_above_the_full_scale_is_cut_background_included():
    seen = samples_of(np.array([0.1, 0.5, 2.0]), W_FULL_SCALE=1.0, background=0.25)
    np.testing.assert_allclose(seen, [0.1, 0.5, 0.75], atol=1e-6)


def test_each_bin_has_noise_of_its_own_whoever_else_is_filled():
    for counted in (0.0, 1.0):
        numbers = {"W_NOISE_W": 1.0, "W_ELECTRONS_A_WATT": counted, "W_COUNTED": counted, "background": 2.0}
        whole = samples_of(np.zeros(200), **numbers)
        for low, high in ((0, 5), (37, 41), (63, 200)):
            part = samples_of(np.zeros(200), low=low, high=high, **numbers)
            np.testing.assert_array_equal(part[low:high], whole[low:high])
        assert not np.array_equal(whole, samples_of(np.zeros(200), pulse=8, **numbers))


def test_noise_is_normal_with_the_variance_of_shots_and_electronics():
    power, electrons = 4.0, 50.0
    seen = np.concatenate(
        [
            samples_of(np.full(2000, power), W_NOISE_W=0.1, W_ELECTRONS_A_WATT=electrons, background=1.0, pulse=p)
            for p in range(1, 21)
        ]
    )
    expected = np.sqrt(0.1**2 + (power + 1.0) / electrons)
    assert seen.mean() == pytest.approx(power, abs=4 * expected / np.sqrt(seen.size))
    assert seen.std() == pytest.approx(expected, rel=0.02)
    number = np.zeros(wt.WAVEFORM_NUMBERS, np.float32)
    number[wt.W_NOISE_W], number[wt.W_ELECTRONS_A_WATT] = 0.1, electrons
    assert noise_of(number, np.float32(1.0)) == pytest.approx(np.sqrt(0.01 + 1.0 / electrons), rel=1e-6)


def test_a_quiet_receiver_counts_electrons_by_poissons_law():
    """Mean 2.5 electrons a sample: every count as often as the law says, and nothing between whole electrons."""
    from scipy import stats

    electrons, mean = 5.0, 2.5
    numbers = {"W_ELECTRONS_A_WATT": electrons, "W_COUNTED": 1.0}
    seen = np.concatenate([samples_of(np.full(2000, mean / electrons), pulse=p, **numbers) for p in range(1, 21)])
    counts = seen * electrons
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-5)
    expected = len(seen) * stats.poisson.pmf(np.arange(9), mean)
    found = np.bincount(np.rint(counts).astype(int), minlength=9)[:9]
    assert ((found - expected) ** 2 / expected).sum() < stats.chi2.ppf(0.999, 8)
    assert samples_of(np.zeros(100), **numbers).max() == 0.0


def test_from_three_electrons_on_the_sum_is_normal_to_an_eighth_of_skewness():
    n = np.geomspace(0.01, 1e4, 1000)
    assert (n / (n + COUNTED_BELOW_E**2) ** 1.5).max() == pytest.approx(1 / 8, rel=1e-3)
