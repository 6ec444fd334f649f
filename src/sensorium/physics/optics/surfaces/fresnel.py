"""Fresnel reflection at a smooth interface, from a clear medium into a clear or absorbing one.

With c = cos(theta), s = sin(theta) and the relative index N = n + ik = n2 / n1, and a + ib = sqrt(N^2 - s^2), b >= 0:

    R_s = |(c - a - ib) / (c + a + ib)|^2          R_p = R_s |(s^2 - c (a + ib)) / (s^2 + c (a + ib))|^2

Natural light: R = (R_s + R_p) / 2. Real n1 gives T = 1 - R exactly. Sources: Born & Wolf, Principles of Optics,
sections 1.5 and 14.2. Corrects eqs. (5) and (6) of the AGX Sensor paper, which call the amplitude ratios powers (E-02)
and share one factor between both polarizations of T (E-03).
"""

import math

from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked, checked_cosine, checked_index
from sensorium.physics.optics.quadrature import gauss_legendre
from sensorium.runtime import jit


@jit.inlined
def polarized_reflectance(cos_theta: float, n: float, k: float) -> tuple[float, float]:
    """Power reflectance (R_s, R_p) for the relative index n + ik; (0, 0) for n = 1, k = 0 at any angle.

    Total reflection (k = 0, s > n) gives exactly 1.
    """
    zero, one, half = jit.like(n, 0.0), jit.like(n, 1.0), jit.like(n, 0.5)
    tiny = jit.like(n, 1e-30)
    c, sin2 = cos_theta, (one - cos_theta) * (one + cos_theta)

    # Square root of p + 2ink: the larger part first, the smaller by division, so that neither is a small difference
    excess = (n - one) * (n + one) - k * k
    p = excess + c * c
    product = n * k
    large = math.sqrt(half * (math.sqrt(p * p + jit.like(n, 4.0) * product * product) + abs(p)))
    small = product / max(large, tiny)
    a, b = (large, small) if p >= zero else (small, large)
    b2 = b * b

    # a - c through a^2 - c^2 = n^2 - 1 - k^2 + b^2, since both are nearly equal for an index near 1
    difference = (excess + b2) / max(a + c, tiny) if p >= zero else a - c
    r_s = (difference * difference + b2) / max((a + c) * (a + c) + b2, tiny)
    minus, plus, across = a * c - sin2, a * c + sin2, b2 * c * c
    return r_s, r_s * (minus * minus + across) / max(plus * plus + across, tiny)


@jit.inlined
def relative_reflectance(cos_theta: float, n: float, k: float) -> float:
    """Power reflectance of natural light for the relative index n + ik, at most 1 despite rounding."""
    r_s, r_p = polarized_reflectance(cos_theta, n, k)
    return min(jit.like(n, 0.5) * (r_s + r_p), jit.like(n, 1.0))


@jit.inlined
def reflectance(cos_theta: float, n1: float, n2: float, k2: float) -> float:
    """Power reflectance of natural light from the clear medium n1 at the medium n2 + i k2."""
    return relative_reflectance(cos_theta, n2 / n1, k2 / n1)


@jit.inlined
def normal_reflectance(n: float, k: float) -> float:
    """Power reflectance at normal incidence, ((n - 1)^2 + k^2) / ((n + 1)^2 + k^2)."""
    below, above = n - jit.like(n, 1.0), n + jit.like(n, 1.0)
    return (below * below + k * k) / (above * above + k * k)


@jit.inlined
def _r_s(cos_theta: float, n: float, k: float) -> float:
    return polarized_reflectance(cos_theta, n, k)[0]


@jit.inlined
def _r_p(cos_theta: float, n: float, k: float) -> float:
    return polarized_reflectance(cos_theta, n, k)[1]


_reflectance = jit.elementwise(relative_reflectance)
_s_polarized = jit.elementwise(_r_s)
_p_polarized = jit.elementwise(_r_p)


def fresnel(cos_theta: ArrayLike, *, n: ArrayLike, n_outside: ArrayLike = 1.0) -> Array:
    """Power reflectance R of natural light at a smooth interface.

    Args:
        cos_theta: Cosine of the angle of incidence, in [0, 1].
        n: Index of the medium behind the interface, n' + ik with n' > 0, k >= 0 (real: k = 0).
        n_outside: Real index of the medium the light comes from.

    Returns:
        R [1] in the shape the arguments broadcast to; 1 - R is transmitted (and in a metal absorbed).

    >>> sn.optics.fresnel(1.0, n=1.5).round(6).item()  # straight onto glass
    0.04
    """
    return _reflectance(checked_cosine("cos_theta", cos_theta), *_relative_index(n, n_outside))


def fresnel_polarized(cos_theta: ArrayLike, *, n: ArrayLike, n_outside: ArrayLike = 1.0) -> tuple[Array, Array]:
    """Power reflectances R_s and R_p of light polarized across and along the plane of incidence; see `fresnel`."""
    arguments = checked_cosine("cos_theta", cos_theta), *_relative_index(n, n_outside)
    return _s_polarized(*arguments), _p_polarized(*arguments)


def fresnel_transmittance(cos_theta: ArrayLike, *, n: ArrayLike, n_outside: ArrayLike = 1.0) -> Array:
    """Power T = 1 - R that enters the medium behind the interface; see `fresnel`."""
    return 1.0 - fresnel(cos_theta, n=n, n_outside=n_outside)


def internal_diffuse_reflectance(n: ArrayLike) -> Array:
    """Share F_i of diffuse light inside a clear body that its surface sends back inside; 0.596346 for n = 1.5.

    F_i = 1 - (1 - F_e) / n^2 with F_e = 2 int_0^1 R(c) c dc for light from outside. By reciprocity this equals the
    integral of the inner reflectance, total reflection included; from outside R has no kink, and 64 nodes suffice.

    Args:
        n: Relative index of the body, at least 1.
    """
    index = checked("n", n, at_least=1.0)
    node, weight = gauss_legendre(64)
    c = 0.5 * (node + 1.0)
    external = (_reflectance(c, index[..., None], 0.0) * c) @ weight
    return 1.0 - (1.0 - external) / index**2


def _relative_index(n: ArrayLike, n_outside: ArrayLike) -> tuple[Array, Array]:
    """Index and extinction relative to the medium outside."""
    inside, extinction = checked_index("n", n)
    outside = checked("n_outside", n_outside, above=0.0)
    return inside / outside, extinction / outside
