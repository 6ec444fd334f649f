import numba
import numpy as np
import pytest
from scipy import special

from sensorium.random import gamma_quantile, gamma_tails, normal_quantile, poisson_quantile, poisson_weight
from sensorium.random.incomplete_gamma import log1p_minus, temme_coefficients


@numba.njit
def _gamma_quantiles(u, shape, out):
    for i in range(u.size):
        out[i] = gamma_quantile(u[i], shape[i])


@numba.njit
def _poisson_quantiles(u, mean, out):
    for i in range(u.size):
        out[i] = poisson_quantile(u[i], mean[i])


@numba.njit
def _gamma_tails(shape, x, below, above):
    for i in range(x.size):
        below[i], above[i] = gamma_tails(shape[i], x[i])


def _probabilities(rng: np.random.Generator, count: int) -> np.ndarray:
    """A third from the body, a third from each tail down to the last uniform."""
    tail = np.maximum(10 ** rng.uniform(-16, 0, count // 3), 2.0**-53)
    return np.concatenate([rng.uniform(2.0**-53, 1 - 2.0**-53, count // 3), tail, 1 - tail])


def _log_uniform(rng: np.random.Generator, low: float, high: float, count: int) -> np.ndarray:
    return np.exp(rng.uniform(np.log(low), np.log(high), count))


@pytest.mark.parametrize(("low", "high", "error"), [(0.05, 1, 1e-12), (1, 64, 3e-14), (64, 1e4, 3e-14)])
def test_gamma_quantile_matches_scipy_in_body_and_tails(low, high, error):
    rng = np.random.default_rng(3)
    u = _probabilities(rng, 60_000)
    shape = _log_uniform(rng, low, high, u.size)
    x = np.zeros_like(u)
    _gamma_quantiles(u, shape, x)

    expected = np.where(u < 0.5, special.gammaincinv(shape, u), special.gammainccinv(shape, 1 - u))
    normal = expected > 1e-300
    assert np.abs(x[normal] / expected[normal] - 1).max() < error
    assert (x > 0).all()


def test_gamma_quantile_inverts_the_tails_of_large_shapes():
    rng = np.random.default_rng(7)
    u = _probabilities(rng, 3000)
    shape = _log_uniform(rng, 1e4, 1e12, u.size)
    x, below, above = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    _gamma_quantiles(u, shape, x)
    _gamma_tails(shape, x, below, above)

    # A relative error e of x moves ln(tail) by up to 9 sqrt(shape) e, nine deviations out
    moved = np.where(u < 0.5, np.log(below / u), np.log(above / (1 - u)))
    assert np.abs(moved / (9 * np.sqrt(shape))).max() < 3e-14


def test_gamma_quantile_of_physics_section_4():
    # k = 9.5, theta = 0.52: median 4.76779, F(5) = 0.557876
    assert gamma_quantile(0.5, 9.5) * 0.52 == pytest.approx(4.76779, abs=5e-6)
    assert gamma_tails(9.5, 5 / 0.52)[0] == pytest.approx(0.557876, abs=5e-7)


def test_gamma_quantile_of_shape_one_is_exponential():
    for u in (2.0**-53, 1e-9, 0.3, 0.5, 0.9, 1 - 2.0**-53):
        assert gamma_quantile(u, 1.0) == pytest.approx(-np.log1p(-u), rel=1e-13)


def test_gamma_quantile_underflow_is_the_smallest_normal_number():
    assert gamma_quantile(2.0**-53, 0.05) == np.finfo(np.float64).tiny


@pytest.mark.parametrize(
    ("low", "high"), [(1e-3, 1), (1, 16), (16, 64), (64, 1e4), (1e4, 1e6), (1e6, 1e9), (1e9, 1e12)]
)
def test_poisson_quantile_is_the_step_that_holds_u(low, high):
    rng = np.random.default_rng(4)
    # SciPy's distribution function itself is wrong beyond 4.5 deviations of a mean above some 1e4
    u = _probabilities(rng, 60_000) if high <= 1e4 else rng.uniform(1e-5, 1 - 1e-5, 60_000)
    mean = _log_uniform(rng, low, high, u.size)
    k = np.zeros(u.size, np.int64)
    _poisson_quantiles(u, mean, k)

    # P(events <= k) >= u > P(events <= k - 1), up to rounding
    assert (special.pdtr(k, mean) > u - 1e-14).all()
    assert (special.pdtr(k[k > 0] - 1, mean[k > 0]) < u[k > 0] + 1e-14).all()


def test_poisson_quantile_of_mean_zero_is_zero():
    assert [poisson_quantile(u, 0.0) for u in (2.0**-53, 0.5, 1 - 2.0**-53)] == [0, 0, 0]


@pytest.mark.parametrize(("low", "high"), [(0.05, 1), (1, 64), (64, 1e4)])
def test_gamma_tails_match_scipy(low, high):
    rng = np.random.default_rng(5)
    shape = _log_uniform(rng, low, high, 30_000)
    x = shape * np.exp(rng.uniform(-7, 7, shape.size) / np.sqrt(shape))
    below, above = np.zeros_like(x), np.zeros_like(x)
    _gamma_tails(shape, x, below, above)
    for tail, expected in ((below, special.gammainc(shape, x)), (above, special.gammaincc(shape, x))):
        some = expected > 1e-17
        assert np.abs(tail[some] / expected[some] - 1).max() < 2e-12


@pytest.mark.parametrize("mean", [12.0, 70.0, 300.0, 1e3, 1e5, 1e6])
@pytest.mark.parametrize("deviations", [-8, -5, -2, 0, 2, 5, 8])
def test_gamma_tails_are_sums_of_poisson_weights(mean, deviations):
    # Q(k + 1, m) sums the weights to k, P(k + 1, m) those above; neighbors have the ratio k / m or m / k
    k = max(np.floor(mean + deviations * np.sqrt(mean)), 0.0)
    span = int(40 * np.sqrt(mean)) + 200
    if deviations <= 0:
        ratios = np.arange(k, max(k - span, 0), -1, np.longdouble) / np.longdouble(mean)
        first, tail = poisson_weight(k, mean), gamma_tails(k + 1, mean)[1]
    else:
        ratios = np.longdouble(mean) / np.arange(k + 2, k + span, dtype=np.longdouble)
        first, tail = poisson_weight(k + 1, mean), gamma_tails(k + 1, mean)[0]
    assert tail == pytest.approx(float(first * (1 + np.cumprod(ratios).sum())), rel=2e-14)


@pytest.mark.parametrize("mean", [0.01, 3.3, 9.9, 10.5, 40.0, 170.0])
def test_poisson_weights_sum_to_one_and_follow_their_recursion(mean):
    weights = np.array([poisson_weight(float(k), mean) for k in range(500)])
    assert weights.sum() == pytest.approx(1, abs=1e-13)
    k = np.arange(1, 500)
    some = weights[1:] > 1e-290
    np.testing.assert_allclose(weights[1:][some], (weights[:-1] * mean / k)[some], rtol=2e-12)


def test_gamma_tails_without_a_body():
    assert gamma_tails(2.0, 0.0) == gamma_tails(2.0, -1.0) == (0.0, 1.0)


def test_temme_coefficients_begin_with_those_of_the_literature():
    # DLMF 8.12.13: c_0 = -1/3 + eta/12 - 2 eta^2/135 + ..., c_1 = -1/540 - eta/288 + ...
    d = temme_coefficients(orders=2, terms=3)
    np.testing.assert_allclose(d, [[-1 / 3, 1 / 12, -2 / 135], [-1 / 540, -1 / 288, 1 / 378]], rtol=1e-15)


def test_log1p_minus_keeps_its_digits():
    for x in (-0.4, -1e-3, 1e-8, 0.1, 0.4):
        terms = [np.longdouble(-1) ** (n + 1) * np.longdouble(x) ** n / n for n in range(2, 120)]
        assert log1p_minus(x) == pytest.approx(float(np.sum(terms)), rel=1e-15)


def test_normal_quantile_has_its_stated_error():
    u = _probabilities(np.random.default_rng(6), 3000)
    assert np.abs([normal_quantile(v) for v in u] - special.ndtri(u)).max() < 1e-9
