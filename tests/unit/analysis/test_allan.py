"""The overlapping Allan deviation: its definition, closed forms of signals that are not random, and refusals."""

import numpy as np
import pytest
from scipy import stats

from sensorium.analysis import allan_deviation
from sensorium.analysis.allan import BLOCK, chi_square_interval, sum_squares
from sensorium.core.errors import SpecError
from sensorium.runtime import worker_pool


def by_definition(signal, m):
    """Means over m samples, every start, differences of neighbors: the definition without any sums."""
    means = np.convolve(signal, np.full(m, 1 / m), mode="valid")
    return np.sqrt(0.5 * np.mean((means[m:] - means[:-m]) ** 2))


@pytest.mark.parametrize("samples", [8, 9, 100, 8191, 8193, 20_001])
def test_it_is_what_the_definition_says(samples):
    signal = np.random.default_rng(samples).standard_normal(samples)
    allan = allan_deviation(signal, 50.0)
    expected = [by_definition(signal, m) for m in allan.counts]
    np.testing.assert_allclose(allan.deviation, expected, rtol=1e-10)
    np.testing.assert_array_equal(allan.terms, samples + 1 - 2 * allan.counts)
    np.testing.assert_allclose(allan.tau_s, allan.counts / 50.0, rtol=1e-15)
    assert allan.duration_s == samples / 50.0


def test_another_program_gives_the_same():
    allantools = pytest.importorskip("allantools")
    signal = np.random.default_rng(2).standard_normal(5000).cumsum()
    allan = allan_deviation(signal, 10.0)
    taus, deviation, _, terms = allantools.oadev(signal, rate=10.0, data_type="freq", taus=allan.tau_s)
    np.testing.assert_allclose(taus, allan.tau_s)
    np.testing.assert_allclose(deviation, allan.deviation, rtol=1e-9)
    np.testing.assert_array_equal(terms, allan.terms)


def test_a_ramp_is_a_closed_form():
    slope, rate = 0.3, 200.0
    allan = allan_deviation(slope * np.arange(30_000) / rate, rate)
    np.testing.assert_allclose(allan.deviation, slope * allan.tau_s / np.sqrt(2), rtol=1e-9)


def test_a_sine_is_a_closed_form():
    """sigma = A sin^2(pi f tau) / (pi f tau) for whole periods (IEEE 952)."""
    rate, frequency, amplitude = 1000.0, 1.0, 0.7
    time = np.arange(200_000) / rate
    allan = allan_deviation(amplitude * np.sin(2 * np.pi * frequency * time), rate, taus_s=[0.05, 0.25, 0.4, 0.5, 1.7])
    x = np.pi * frequency * allan.tau_s
    np.testing.assert_allclose(allan.deviation, amplitude * np.sin(x) ** 2 / x, rtol=1e-3)


def test_an_offset_costs_no_digits():
    noise = np.random.default_rng(3).standard_normal(200_000) * 1e-6
    plain, lifted = allan_deviation(noise, 100.0), allan_deviation(noise + 9.80665, 100.0)
    np.testing.assert_allclose(lifted.deviation, plain.deviation, rtol=2e-9)


def test_channels_keep_their_axes_and_do_not_mix():
    signal = np.random.default_rng(4).standard_normal((3000, 2, 3)) * np.arange(1, 7).reshape(2, 3)
    allan = allan_deviation(signal, 1.0)
    for name in ("deviation", "low", "high", "degrees"):
        assert getattr(allan, name).shape == (len(allan.tau_s), 2, 3)
    for i in np.ndindex(2, 3):
        alone = allan_deviation(signal[:, *i], 1.0)
        np.testing.assert_array_equal(allan.deviation[:, *i], alone.deviation)
        np.testing.assert_allclose(allan.high[:, *i], alone.high, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8])
def test_numbers_of_any_real_type(dtype):
    signal = (np.random.default_rng(5).standard_normal(4000) * 20 + 100).astype(dtype)
    wide = allan_deviation(signal.astype(np.float64), 1.0)
    np.testing.assert_allclose(allan_deviation(signal, 1.0).deviation, wide.deviation, rtol=1e-12)


def test_the_same_bytes_on_any_number_of_threads():
    signal = np.random.default_rng(6).standard_normal((100_000, 2))
    before = worker_pool.get_threads()
    try:
        results = []
        for count in (1, 2, 5):
            worker_pool.set_threads(count)
            results.append(allan_deviation(signal, 1.0).deviation.tobytes())
    finally:
        worker_pool.set_threads(before)
    assert len(set(results)) == 1


def test_averaging_times_are_spaced_as_asked():
    signal = np.random.default_rng(7).standard_normal(300_000)
    allan = allan_deviation(signal, 100.0, points_per_decade=4)
    np.testing.assert_array_equal(allan.counts[:9], [1, 2, 3, 6, 10, 18, 32, 56, 100])
    assert allan.counts[-1] <= 100_000
    given = allan_deviation(signal, 100.0, taus_s=[1.004, 0.0101, 1.0, 1500.0])
    np.testing.assert_array_equal(given.counts, [1, 100, 150_000])


def test_intervals_are_those_of_chi_square():
    low, high = chi_square_interval(np.array([2.0]), np.array([5.5]))
    assert low[0] == pytest.approx(2.0 * np.sqrt(5.5 / stats.chi2(5.5).ppf(0.975)), rel=1e-12)
    assert high[0] == pytest.approx(2.0 * np.sqrt(5.5 / stats.chi2(5.5).ppf(0.025)), rel=1e-12)


def test_a_constant_signal_has_no_deviation_and_no_warning():
    allan = allan_deviation(np.full((1000, 2), 3.0), 10.0)
    assert (allan.deviation == 0.0).all()
    assert (allan.high == 0.0).all()


@pytest.mark.parametrize(
    ("signal", "rate", "options", "message"),
    [
        (np.zeros(7), 1.0, {}, r"signal has shape \(7,\); .* at least 8 samples"),
        (np.zeros((10, 0)), 1.0, {}, r"signal has shape \(10, 0\)"),
        (np.float64(3.0), 1.0, {}, r"signal has shape \(\)"),
        (np.zeros(10, complex), 1.0, {}, "signal has type complex128; it must be real"),
        (np.array(["a"] * 10), 1.0, {}, "it must be real numbers"),
        (np.zeros(10), 0.0, {}, "rate_hz is 0.0; it must be finite and positive"),
        (np.zeros(10), np.nan, {}, "rate_hz is nan"),
        (np.zeros(10), "fast", {}, "rate_hz is 'fast'"),
        (np.zeros(10), 1.0, {"points_per_decade": 0}, "points_per_decade is 0; it must be a whole number"),
        (np.zeros(10), 1.0, {"taus_s": [0.1]}, "taus_s is 0.1; it must be from 1 s to 5 s"),
        (np.zeros(10), 1.0, {"taus_s": [2.0, 6.0]}, "taus_s is 6; .* half the recording"),
        (np.zeros(10), 1.0, {"taus_s": []}, r"taus_s has shape \(0,\)"),
        (np.zeros(10), 1.0, {"taus_s": [[1.0]]}, r"taus_s has shape \(1, 1\)"),
    ],
)
def test_what_cannot_be_is_refused(signal, rate, options, message):
    with pytest.raises(SpecError, match=message):
        allan_deviation(signal, rate, **options)


def test_a_value_that_is_no_number_is_named_with_its_place():
    signal = np.zeros((100, 3))
    signal[41, 2] = np.nan
    with pytest.raises(SpecError, match=r"signal reaches 1e\+200; it must be within 1e\+100"):
        allan_deviation(np.array([1e200, -1e200] * 50), rate_hz=1.0)
    with pytest.raises(SpecError, match=r"signal is nan at \(41, 2\); it must be finite"):
        allan_deviation(signal, 1.0)


SAMPLES = 2 * BLOCK + 13


@pytest.fixture(scope="module")
def theta():
    total = np.zeros((2, SAMPLES + 1))
    total[:, 1:] = np.random.default_rng(1).standard_normal((2, SAMPLES)).cumsum(axis=1)
    return total


def sums_of(theta, counts, threads):
    """Every share of the blocks in turn, as threads would do them."""
    blocks = -(-SAMPLES // BLOCK)
    sums = np.full((len(theta), len(counts), blocks), np.nan)
    for first in range(threads):
        sum_squares(first, threads, len(theta) * blocks, theta, counts, sums)
    return sums


# One sample; a count that is no multiple of eight terms; one whose terms end in the first block; the longest
COUNTS = np.array([1, 5, 5000, SAMPLES // 2])


def test_sums_are_those_of_all_terms(theta):
    sums = sums_of(theta, COUNTS, 1)
    for i, m in enumerate(COUNTS):
        second = theta[:, 2 * m :] - 2.0 * theta[:, m:-m] + theta[:, : -2 * m]
        np.testing.assert_allclose(sums[:, i].sum(axis=-1), (second**2).sum(axis=-1), rtol=1e-12)
    assert (sums[:, 3, 1:] == 0.0).all()  # two terms, both in the first block


def test_the_bytes_do_not_depend_on_the_number_of_threads(theta):
    assert sums_of(theta, COUNTS, 1).tobytes() == sums_of(theta, COUNTS, 4).tobytes()


def test_an_offset_and_a_drift_of_the_signal_are_exact():
    """A constant signal has no second difference, and one that grows by c a sample has c m^2 everywhere."""
    time = np.arange(SAMPLES + 1.0)
    theta = np.stack([3.0 * time, 0.5 * time * (time - 1.0) / 2.0])
    sums = sums_of(theta, COUNTS, 1).sum(axis=-1)
    assert (sums[0] == 0.0).all()
    terms = SAMPLES + 1 - 2 * COUNTS
    np.testing.assert_allclose(sums[1], terms * (0.5 * COUNTS.astype(float) ** 2) ** 2, rtol=1e-12)
