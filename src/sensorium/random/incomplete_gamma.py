"""The regularized incomplete gamma functions P(a, x) and Q(a, x) = 1 - P, for quantiles inside kernels.

Both tails are returned, each with its own small relative error, so that a quantile far out in either tail keeps its
digits. Series below the shape, continued fraction above it, and near a large shape, where both are slow, Temme's
uniform expansion. Ref: NIST DLMF 8.7.1, 8.9.2, 8.12.
"""

import math
from fractions import Fraction

import numpy as np

from sensorium.random.exact import fma
from sensorium.runtime import jit

_TEMME_LOWEST_SHAPE = 64.0
_TEMME_WIDTH = 0.3
_STIRLING_LOWEST = 10.0
_TINY = 1e-300
_EPSILON = 1e-16


def temme_coefficients(orders: int, terms: int) -> np.ndarray:
    """Taylor coefficients d[k, n] of c_k(eta) = sum_n d[k, n] eta^n in DLMF 8.12.7, shape (orders, terms).

    mu(eta) solves eta^2 / 2 = mu - ln(1 + mu), thus mu mu' = eta (1 + mu). Then c_0 = 1/mu - 1/eta and
    c_k = c_{k-1}' / eta + gamma_k / mu, where gamma_k cancels the pole at zero (DLMF 8.12.9 - 8.12.11).
    """
    length = terms + 2 * orders + 2

    # mu = eta (alpha_0 + alpha_1 eta + ...): equate the coefficients of eta^(n+1) in mu mu' = eta (1 + mu)
    alpha = [Fraction(1)]
    for n in range(1, length):
        products = sum((alpha[i] * alpha[n - i] * (n - i + 1) for i in range(1, n)), Fraction(0))
        alpha.append((alpha[n - 1] - products) / (n + 2))

    # 1/mu = (beta_0 + beta_1 eta + ...) / eta
    beta = [Fraction(1)]
    for n in range(1, length):
        beta.append(-sum((alpha[i] * beta[n - i] for i in range(1, n + 1)), Fraction(0)))

    rows = [beta[1:]]
    for _ in range(1, orders):
        before = rows[-1]
        gamma = -before[1]
        rows.append([(n + 2) * before[n + 2] + gamma * beta[n + 1] for n in range(len(before) - 2)])
    return np.array([[float(value) for value in row[:terms]] for row in rows])


_TEMME = temme_coefficients(orders=8, terms=16)


@jit.function
def gamma_tails(shape: float, x: float) -> tuple[float, float]:
    """P(shape, x) and Q(shape, x): the chances that a gamma variable of scale 1 is below and above x.

    Args:
        shape: The gamma law's shape a, from 0.05 to 1e12 [1].
        x: Where to divide; 0 or less gives (0, 1) [1].

    Relative error of the smaller tail below 2e-13 (shapes to 64) and 2e-14 (above), while it exceeds 1e-17.
    """
    if x <= 0.0:
        return 0.0, 1.0
    if shape >= _TEMME_LOWEST_SHAPE and abs(x - shape) < _TEMME_WIDTH * shape:
        return _tails_near_large_shape(shape, x)
    if x < shape + 1.0:
        below = _tail_by_series(shape, x)
        return below, 1.0 - below
    above = _tail_by_fraction(shape, x)
    return 1.0 - above, above


@jit.function
def poisson_weight(k: float, mean: float) -> float:
    """mean^k e^-mean / Gamma(k + 1) for real k >= 0 and mean > 0; relative error below 1e-13.

    The probability of k events; a weight(a, x) is also the density of a gamma law of shape a over ln x. Large
    k goes through the saddle point, whose exponent has no canceling terms. Ref: Loader, "Fast and accurate
    computation of binomial probabilities", 2000.
    """
    if k < _STIRLING_LOWEST:
        return math.exp(k * math.log(mean) - mean - math.lgamma(k + 1.0))
    excess = mean - k
    exponent = k * log1p_minus(excess / k) if abs(excess) < 0.4 * k else k * math.log(mean / k) - excess
    return math.exp(exponent - _stirling_error(k)) / math.sqrt(2.0 * math.pi * k)


@jit.function
def log1p_minus(x: float) -> float:
    """ln(1 + x) - x without cancellation, for |x| <= 0.4."""
    # ln(1 + x) = 2 atanh(s), s = x / (2 + x); then 2 s - x = -x s
    s = x / (2.0 + x)
    z = s * s
    total = 0.0
    for n in range(14, 0, -1):
        total = fma(total, z, 1.0 / (2 * n + 1))
    return -s * (x - 2.0 * z * total)


@jit.function
def _stirling_error(k: float) -> float:
    """Error of ln Gamma(k + 1) ~ k ln k - k + ln(2 pi k) / 2, for k >= 10, by its series (DLMF 5.11.1)."""
    z = 1.0 / (k * k)
    total = fma(z, 1.0 / 156.0, -691.0 / 360360.0)
    total = fma(z, total, 1.0 / 1188.0)
    total = fma(z, total, -1.0 / 1680.0)
    total = fma(z, total, 1.0 / 1260.0)
    total = fma(z, total, -1.0 / 360.0)
    total = fma(z, total, 1.0 / 12.0)
    return total / k


@jit.function
def _tail_by_series(shape: float, x: float) -> float:
    """P = x^a e^-x / Gamma(a + 1) * (1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...), DLMF 8.7.1."""
    term = 1.0
    total = 1.0
    divisor = shape
    while term > _EPSILON * total:
        divisor += 1.0
        term *= x / divisor
        total += term
    return total * poisson_weight(shape, x)


@jit.function
def _tail_by_fraction(shape: float, x: float) -> float:
    """Q = x^a e^-x / Gamma(a) / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), DLMF 8.9.2, after Lentz."""
    b = x + 1.0 - shape
    c = 1.0 / _TINY
    d = 1.0 / b
    fraction = d
    for n in range(1, 2000):
        numerator = -n * (n - shape)
        b += 2.0
        d = fma(numerator, d, b)
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = b + numerator / c
        c = c if abs(c) > _TINY else _TINY
        change = c * d
        fraction *= change
        if abs(change - 1.0) < 2.0 * _EPSILON:
            break
    return shape * poisson_weight(shape, x) * fraction


@jit.function
def _tails_near_large_shape(shape: float, x: float) -> tuple[float, float]:
    """Both tails for |x / a - 1| < 0.3: a normal tail in eta and a correction, DLMF 8.12.3 to 8.12.7."""
    # eta^2 / 2 = mu - ln(1 + mu), with the sign of mu = x / a - 1
    mu = (x - shape) / shape
    half_square = -log1p_minus(mu)
    eta = math.copysign(math.sqrt(2.0 * half_square), mu)

    correction = 0.0
    for k in range(_TEMME.shape[0] - 1, -1, -1):
        c = 0.0
        for n in range(_TEMME.shape[1] - 1, -1, -1):
            c = fma(c, eta, _TEMME[k, n])
        correction = correction / shape + c
    correction *= math.exp(-shape * half_square) / math.sqrt(2.0 * math.pi * shape)

    argument = math.copysign(math.sqrt(shape * half_square), mu)
    return 0.5 * math.erfc(-argument) - correction, 0.5 * math.erfc(argument) + correction
