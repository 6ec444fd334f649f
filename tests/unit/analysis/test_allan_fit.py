"""The fit on curves whose coefficients are known, and refusals. Coverage is in tests/statistics."""

import numpy as np
import pytest

from sensorium.analysis import allan_deviation, fit_allan
from sensorium.analysis.allan import Allan
from sensorium.analysis.allan_regression import Regression, _crossing, design
from sensorium.core.errors import SpecError

RATE = 100.0
TRUE = {"Q": 3e-6, "N": 6e-5, "B": 4e-5, "K": 3e-6, "R": 2e-7}


def perfect(terms="NBK", samples=1_000_000, channels=()):
    """A recording without luck: its curve is the model's own."""
    counts = np.unique(np.round(10 ** np.arange(0, np.log10(samples / 3), 0.1)).astype(int))
    tau = counts / RATE
    squares = np.array([TRUE[term] ** 2 for term in terms])
    deviation = np.sqrt(design(tau, terms) @ squares)
    deviation = np.multiply.outer(deviation, np.ones(channels))
    return Allan(tau, deviation, deviation, deviation, deviation, samples + 1 - 2 * counts, RATE, samples)


def random_signal(samples=60_000, channels=(2,), seed=1):
    rng = np.random.default_rng(seed)
    walk = 3e-6 / np.sqrt(RATE) * rng.standard_normal((samples, *channels)).cumsum(axis=0)
    return 6e-5 * np.sqrt(RATE) * rng.standard_normal((samples, *channels)) + walk


@pytest.mark.parametrize("terms", ["N", "NK", "NBK", "QNBK", "NBKR", "QNBKR"])
def test_a_curve_without_luck_gives_its_coefficients_back(terms):
    fit = fit_allan(perfect(terms, samples=10_000_000), terms=terms)
    assert fit.terms == terms
    assert fit.model_error == 0.002
    for term in terms:
        low, high = fit.intervals[term]
        assert low <= TRUE[term] <= high
        assert low <= fit.coefficients[term] <= high
    # how sure: thousands of degrees of freedom for N, hundreds for B, few for K
    assert pytest.approx(TRUE["N"], rel=2e-3) == fit.N
    if "B" in terms and "R" not in terms:
        assert pytest.approx(TRUE["B"], rel=0.01) == fit.B
        assert pytest.approx(TRUE["K"], rel=0.06) == fit.K


def test_the_curve_of_a_fit_is_the_sum_of_the_textbooks_parts():
    fit = fit_allan(perfect("QNBKR"), terms="QNBKR")
    tau = np.array([0.1, 1.0, 3.0, 50.0])
    parts = fit.parts(tau)
    np.testing.assert_allclose(parts["Q"], np.sqrt(3) * fit.Q / tau)
    np.testing.assert_allclose(parts["N"], fit.N / np.sqrt(tau))
    np.testing.assert_allclose(parts["B"], np.full(4, 0.664282 * fit.B), rtol=1e-6)
    np.testing.assert_allclose(parts["K"], fit.K * np.sqrt(tau / 3))
    np.testing.assert_allclose(parts["R"], fit.R * tau / np.sqrt(2))
    np.testing.assert_allclose(fit.deviation(tau) ** 2, sum(part**2 for part in parts.values()))


def test_reference_values_at_one_second():
    """N = 0.01 gives 0.0100 and K = 0.003 gives 0.00173 at a tau of 1 s."""
    assert 0.01 * np.sqrt(design(np.array([1.0]), "N"))[0, 0] == pytest.approx(0.0100, abs=5e-5)
    assert 0.003 * np.sqrt(design(np.array([1.0]), "K"))[0, 0] == pytest.approx(0.00173, abs=5e-6)


def test_the_correlation_time_is_where_the_curve_is_lowest():
    fit = fit_allan(perfect("NBK"))
    assert fit.correlation_time_s == pytest.approx(np.sqrt(3) * fit.N / fit.K, rel=0.02)
    # no walk in sight: the end of the curve
    white = fit_allan(perfect("N"), terms="N")
    assert white.correlation_time_s == pytest.approx(perfect("N").tau_s[-1])


def test_units_of_time_are_right():
    """The same curve at another rate: N^2 goes with dt, K^2 with 1 / dt, Q^2 with dt^2, R^2 with 1 / dt^2."""
    allan = perfect("QNBKR")
    slow = Allan(**{**vars(allan), "tau_s": allan.tau_s * 10, "rate_hz": RATE / 10})
    fast_fit, slow_fit = fit_allan(allan, terms="QNBKR"), fit_allan(slow, terms="QNBKR")
    for term, power in (("Q", 1), ("N", 0.5), ("B", 0), ("K", -0.5), ("R", -1)):
        np.testing.assert_allclose(slow_fit.intervals[term], fast_fit.intervals[term] * 10.0**power, rtol=1e-6)


def test_what_is_not_there_has_a_limit():
    signal = np.random.default_rng(5).standard_normal(200_000)
    fit = fit_allan(allan_deviation(signal, 1.0))
    assert pytest.approx(1.0, rel=0.01) == fit.N
    assert fit.intervals["B"][0] == 0.0
    assert fit.intervals["K"][0] == 0.0
    assert 0.0 < fit.intervals["B"][1] < 0.05
    assert 0.0 < fit.intervals["K"][1] < 1e-3


@pytest.mark.slow
def test_terms_that_are_hard_to_tell_apart_keep_honest_limits():
    """A walk that happens to look like a ramp must not have its K refused: both are possible."""
    found = []
    for seed in range(20):
        fit = fit_allan(allan_deviation(random_signal(40_000, (), seed), RATE), terms="NKR")
        found.append(fit.intervals["K"][0] <= 3e-6 <= fit.intervals["K"][1])
    assert sum(found) >= 17


def test_a_curve_that_is_no_such_noise_says_so_and_widens_its_intervals():
    rng = np.random.default_rng(6)
    noise = rng.standard_normal(100_000)
    plain = fit_allan(allan_deviation(noise, RATE))
    hum = fit_allan(allan_deviation(noise + 2.0 * np.sin(2 * np.pi * 0.3 * np.arange(100_000) / RATE), RATE))
    assert plain.model_error < 0.01
    assert hum.model_error > 0.1
    assert np.ptp(hum.intervals["N"]) > 10 * np.ptp(plain.intervals["N"])


def test_the_range_of_the_fit_leaves_out_what_a_filter_shapes():
    rng = np.random.default_rng(7)
    raw = rng.standard_normal(400_000)
    filtered = np.convolve(raw, np.full(8, 1 / 8), mode="valid")
    allan = allan_deviation(filtered, RATE)
    fit = fit_allan(allan, fit_range_s=(1.0, np.inf))
    assert fit.fit_range_s[0] == 1.0
    assert pytest.approx(0.1, rel=0.02) == fit.N
    assert fit.model_error <= 0.008 < fit_allan(allan).model_error


def test_channels_are_fitted_one_by_one():
    signal = random_signal(channels=(2, 2)) * np.array([[1.0, 2.0], [3.0, 4.0]])
    done = []
    fit = fit_allan(allan_deviation(signal, RATE), progress=done.append)
    assert done == [1, 2, 3, 4]
    assert fit.N.shape == fit.B.shape == fit.K.shape == fit.Q.shape == fit.R.shape == (2, 2)
    assert fit.intervals["N"].shape == (2, 2, 2)
    assert fit.channels == ("0,0", "0,1", "1,0", "1,1")
    assert fit.deviation([1.0, 2.0, 3.0]).shape == (3, 2, 2)
    alone = fit_allan(allan_deviation(signal[:, 1, 0], RATE))
    assert alone.channels == ("signal",)
    assert pytest.approx(fit.N[1, 0], rel=1e-9) == alone.N
    assert pytest.approx(fit.K[1, 0], rel=1e-6, abs=1e-12) == alone.K


def test_the_same_recording_gives_the_same_fit():
    allan = allan_deviation(random_signal(), RATE)
    first, second = fit_allan(allan), fit_allan(allan)
    for term in "NBK":
        np.testing.assert_array_equal(first.intervals[term], second.intervals[term])


@pytest.mark.parametrize(
    ("root", "start", "step"), [(5.0, 5.1, 0.1), (5.0, 0.0, 1.0), (0.01, 3.0, 1.0), (90.0, 1.0, 0.5)]
)
def test_crossings_are_found_from_any_start(root, start, step):
    assert _crossing(lambda x: np.log1p(root) - np.log1p(x), start, step) == pytest.approx(root, abs=0.01 * step)


def test_crossings_at_the_ends():
    assert _crossing(lambda x: -1.0 - x, 2.0, 1.0) == 0.0
    assert _crossing(lambda x: 1.0 / (1.0 + x), 2.0, 1.0) == np.inf


def test_least_squares_agree_with_the_median_where_much_is_known():
    allan = perfect("NBK", samples=100_000_000)
    picked = [i for i, m in enumerate(allan.counts) if m in 10 ** np.arange(8)]
    counts = tuple(int(m) for m in allan.counts[picked])
    regression = Regression(counts, allan.samples, allan.deviation[picked] ** 2, "NBK")
    x = regression.estimate()
    np.testing.assert_allclose(np.sqrt(x), [TRUE["N"] * 10, TRUE["B"], TRUE["K"] / 10], rtol=1e-6)
    for k in range(2):
        assert regression.interval(k, x)[1] == pytest.approx(x[k], rel=0.01)


# --- refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("terms", ["", "Q", "QR", "X", "NN", "NBKX", "nbk"])
def test_terms_are_letters(terms):
    with pytest.raises(SpecError, match=f"terms is '{terms}'; it must be letters of 'QNBKR'"):
        fit_allan(perfect(), terms=terms)


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(SpecError, match="the fit has 4 averaging times an octave apart; 3 terms need at least 5"):
        fit_allan(allan_deviation(np.random.default_rng(1).standard_normal(40), 1.0))
    with pytest.raises(SpecError, match="the fit has 3 averaging times"):
        fit_allan(perfect(), fit_range_s=(0.1, 0.5))
    with pytest.raises(SpecError, match=r"fit_range_s is \(3, 1\)"):
        fit_allan(perfect(), fit_range_s=(3, 1))
    stuck = random_signal()
    stuck[:, 1] = 4.0
    with pytest.raises(SpecError, match="channel 'y' has an Allan deviation of 0; a signal that is stuck"):
        fit_allan(allan_deviation(stuck, RATE), channels=["x", "y"])
    with pytest.raises(SpecError, match="it must be 2 different names"):
        fit_allan(perfect(channels=(2,)), channels=["x", "x"])
    with pytest.raises(SpecError, match="units has 3 entries; there are 2 channels"):
        fit_allan(perfect(channels=(2,)), units=["a", "b", "c"])


def test_a_pattern_that_repeats_has_no_fit_and_is_told_so():
    """Its Allan deviation falls to rounding at multiples of the period, and coefficients went to infinity."""
    signal = ((np.arange(100_000) * 7919) % 13).astype(np.float64)
    with pytest.raises(SpecError, match=r"channel '0' has no fit of NBK: its coefficients are not finite"):
        fit_allan(allan_deviation(signal[:, None], RATE))
