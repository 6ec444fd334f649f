"""Diffuse reflection: Oren-Nayar facets in Fujii's form; roughness 0 is Lambert's law.

    f_d = C / pi (A + B s / t)          A = 1 - 0.5 q/(q + 0.33) + 0.17 C q/(q + 0.13)          B = 0.45 q/(q + 0.09)
    s = l.v - (n.l)(n.v)                t = max(n.l, n.v) where s > 0, else 1

with q = sigma^2, sigma [rad] the standard deviation of the facet angle, C the reflectance. Sources: Oren & Nayar 1994,
Fujii's note. Corrects eq. (11) of the AGX Sensor paper, which counts the cosine twice (E-09). The albedo stays below 1
for C <= 0.97 (at most 0.996, at grazing incidence; 1.029 for C = 1).
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked, checked_cosine, directions
from sensorium.runtime import jit

_INVERSE_PI = 1.0 / math.pi


@jit.inlined
def oren_nayar_brdf(cos_l: float, cos_v: float, l_dot_v: float, C: float, A0: float, A1: float, B: float) -> float:
    """f_d [1/sr] with A = A0 + A1 C; 0 below the horizon."""
    zero, one = jit.like(C, 0.0), jit.like(C, 1.0)
    s = l_dot_v - cos_l * cos_v
    t = max(cos_l, cos_v) if s > zero else one
    value = jit.like(C, _INVERSE_PI) * C * (A0 + A1 * C + B * s / max(t, jit.like(C, 1e-30)))
    return value if cos_l > zero and cos_v > zero else zero


@jit.inlined
def oren_nayar_back(cos_theta: float, C: float, A0: float, A1: float, B: float) -> float:
    """f_d cos(theta) [1/sr] back to the source: C / pi (A cos + B sin^2)."""
    one = jit.like(C, 1.0)
    sin2 = (one - cos_theta) * (one + cos_theta)
    return jit.like(C, _INVERSE_PI) * C * ((A0 + A1 * C) * cos_theta + B * sin2)


_brdf = jit.elementwise(oren_nayar_brdf)
_back = jit.elementwise(oren_nayar_back)


def oren_nayar_coefficients(diffuse_roughness: ArrayLike) -> tuple[Array, Array, Array]:
    """(A0, A1, B) of f_d = C / pi (A0 + A1 C + B s / t) for a facet angle deviation [rad]; (1, 0, 0) for 0."""
    square = np.square(checked("diffuse_roughness", diffuse_roughness, at_least=0.0))
    return 1.0 - 0.5 * square / (square + 0.33), 0.17 * square / (square + 0.13), 0.45 * square / (square + 0.09)


def oren_nayar(
    to_source: ArrayLike,
    to_detector: ArrayLike,
    *,
    reflectance: ArrayLike,
    diffuse_roughness: ArrayLike = 0.0,
    normal: ArrayLike = (0.0, 0.0, 1.0),
) -> Array:
    """Diffuse BRDF f_d(l, v) [1/sr]; 0 if l or v is below the surface.

    Args:
        to_source: Unit vector l, (*batch, 3).
        to_detector: Unit vector v, (*batch, 3).
        reflectance: Diffuse reflectance C in [0, 1].
        diffuse_roughness: Standard deviation of the facet angle [rad].
        normal: Unit normal on the lit side.
    """
    at = directions(to_source, to_detector, normal)
    C = checked("reflectance", reflectance, at_least=0.0, at_most=1.0)
    return _brdf(at.cos_l, at.cos_v, at.l_dot_v, C, *oren_nayar_coefficients(diffuse_roughness))


def oren_nayar_monostatic(cos_theta: ArrayLike, *, reflectance: ArrayLike, diffuse_roughness: ArrayLike = 0.0) -> Array:
    """f_d cos(theta) [1/sr] back to the source."""
    C = checked("reflectance", reflectance, at_least=0.0, at_most=1.0)
    return _back(checked_cosine("cos_theta", cos_theta), C, *oren_nayar_coefficients(diffuse_roughness))
