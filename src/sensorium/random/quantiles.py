"""Gamma and Poisson numbers by inversion: one uniform in, one value out, so the number of draws never varies.

A value also varies smoothly with the parameters of its law: in a denser fog the same draw stays at the same quantile.
"""

import math

from sensorium.random.incomplete_gamma import gamma_tails, poisson_weight
from sensorium.runtime import jit

_SMALLEST = 2.2250738585072014e-308
_SQRT_TWO_PI = 2.5066282746310002
_SEARCH_BELOW_MEAN = 16.0


@jit.function
def gamma_quantile(u: float, shape: float) -> float:
    """The x with P(shape, x) = u: a gamma number of scale 1, for shapes from 0.05 to 1e12.

    Relative error below 1e-12, and below 3e-14 for shapes above 1, for any u a uniform can take. Values below
    the smallest normal float64 (chance 4e-16 at shape 0.05) become that float, so the result is always
    positive.

    Method: Halley's iteration on the logarithm of the smaller tail over y = ln x. The density of y is
    log-concave, so both tails are too, and Newton's step alone converges from any start: it passes the root
    at most once.
    """
    lower = u < 0.5
    log_target = math.log(u) if lower else math.log1p(-u)

    y = math.log(_gamma_start(u, shape))
    for _ in range(50):
        x = math.exp(y)
        if x < _SMALLEST:
            return _SMALLEST
        below, above = gamma_tails(shape, x)
        tail = below if lower else above

        # Slope of ln tail over y, and its second derivative over its first; y has density x^a e^-x / Gamma(a)
        slope = shape * poisson_weight(shape, x) / tail
        slope = slope if lower else -slope
        bend = (shape - x) - slope
        newton = (math.log(tail) - log_target) / slope
        step = newton / max(1.0 - 0.5 * newton * bend, 0.5)
        y -= step

        # The error left is of the order of step^3 against the width of the law over ln x
        if abs(step) * math.sqrt(shape + 1.0) < 2e-5:
            break
    return max(math.exp(y), _SMALLEST)


@jit.function
def poisson_quantile(u: float, mean: float) -> int:
    """The smallest k with P(events <= k) >= u: a Poisson number, for means from 0 to 1e12.

    Exact except if u is within 1e-15 of a step of the distribution, the rounding of the sums.
    """
    if mean < _SEARCH_BELOW_MEAN:
        return _poisson_search_from_zero(u, mean)

    # Cornish-Fisher to second order is right to about one event, so the walk is short and loses no digits
    z = normal_quantile(u)
    root = math.sqrt(mean)
    k = max(math.floor(mean + root * z + (z * z - 1.0) / 6.0 + z * (1.0 - z * z) / (72.0 * root)), 0.0)
    above, below = gamma_tails(k + 1.0, mean)
    weight = poisson_weight(k, mean)

    # Walk to the step that u falls on, by exact weights in the smaller tail
    if u < 0.5:
        while k > 0.0 and below - weight >= u:
            below -= weight
            weight *= k / mean
            k -= 1.0
        while below < u:
            k += 1.0
            weight *= mean / k
            below += weight
    else:
        while k > 0.0 and above + weight <= 1.0 - u:
            above += weight
            weight *= k / mean
            k -= 1.0
        while above > 1.0 - u:
            k += 1.0
            weight *= mean / k
            above -= weight
    return int(k)


@jit.function
def normal_quantile(u: float) -> float:
    """The z with Phi(z) = u, absolute error below 1e-9: a start for other quantiles.

    A rational start (Abramowitz & Stegun 26.2.23, error 4.5e-4) and one Halley step on the upper tail.
    """
    tail = min(u, 1.0 - u)
    t = math.sqrt(-2.0 * math.log(tail))
    z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
    newton = (0.5 * math.erfc(z * math.sqrt(0.5)) - tail) * _SQRT_TWO_PI * math.exp(0.5 * z * z)
    z += newton / (1.0 - 0.5 * z * newton)
    return z if u > 0.5 else -z


@jit.function
def _gamma_start(u: float, shape: float) -> float:
    """A first guess of the gamma quantile."""
    # Far below the mean the distribution is the power law x^a / Gamma(a + 1) (1 - a x / (a + 1))
    log_power = (math.log(u) + math.lgamma(shape + 1.0)) / shape
    if log_power < math.log(0.1 * (shape + 1.0)):
        power = max(math.exp(log_power), _SMALLEST)
        return power * (1.0 + power / (shape + 1.0))

    # Far above a small shape it is the exponential tail x^(a - 1) e^-x / Gamma(a)
    log_above = math.log1p(-u) + math.lgamma(shape)
    if shape < 1.0 and log_above < -1.0:
        x = -log_above
        return x + (shape - 1.0) * math.log(x)

    # Elsewhere the cube root is nearly normal (Wilson and Hilferty, 1931)
    root = 1.0 - 1.0 / (9.0 * shape) + normal_quantile(u) / (3.0 * math.sqrt(shape))
    return shape * max(root, 0.05) ** 3


@jit.function
def _poisson_search_from_zero(u: float, mean: float) -> int:
    """Add weights from k = 0 until the sum reaches u; `mean` events and a few deviations at most."""
    k = 0
    weight = math.exp(-mean)
    below = weight
    while below < u and weight > 1e-18:
        k += 1
        weight *= mean / k
        below += weight
    return k
