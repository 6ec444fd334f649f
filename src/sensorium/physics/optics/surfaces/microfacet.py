"""Reflection by a rough interface: GGX facets with height-correlated Smith masking.

    f_s = R(l.h) D G / (4 (n.l) (n.v))        D = alpha^2 / (pi [(alpha^2 - 1)(n.h)^2 + 1]^2)
    G = 1 / (1 + L(l) + L(v))                 L(u) = (sqrt(1 + alpha^2 tan^2) - 1) / 2

alpha = sqrt(2) roughness, where the roughness is the Beckmann rms slope along one axis. GGX itself has no finite slope
variance, so it is a matching parameter. Sources: Walter et al. 2007, Heitz 2014. Corrects eqs. (8) to (10) of the AGX
Sensor paper: Lambda, not the Smith factor, in G (E-05), angles to the macroscopic normal (E-06), a normalized D (E-07).

With S(c) = sqrt(c^2 + alpha^2 (1 - c^2)) the product G / (4 (n.l)(n.v)) is 1 / (2 [(n.v) S(n.l) + (n.l) S(n.v)]): no
tangent, no singularity at grazing. alpha = 0 gives 0: a perfect mirror sends all its light into the mirror ray.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked, checked_cosine, checked_index, directions
from sensorium.physics.optics.surfaces.fresnel import normal_reflectance, relative_reflectance
from sensorium.runtime import jit

_INVERSE_PI = 1.0 / math.pi


@jit.inlined
def distribution(cos_h: float, alpha2: float) -> float:
    """Density D of facet normals [1/sr] per unit area of the surface; int D (n.h) dw = 1."""
    one = jit.like(alpha2, 1.0)
    spread = (one - cos_h) * (one + cos_h) + alpha2 * cos_h * cos_h
    return jit.like(alpha2, _INVERSE_PI) * alpha2 / max(spread * spread, jit.like(alpha2, 1e-30))


@jit.inlined
def slope_root(cos_u: float, alpha2: float) -> float:
    """S = cos(u) sqrt(1 + alpha^2 tan^2(u)) = cos(u) (1 + 2 Lambda(u))."""
    one = jit.like(alpha2, 1.0)
    return math.sqrt(cos_u * cos_u + alpha2 * (one - cos_u) * (one + cos_u))


@jit.inlined
def smith(cos_u: float, alpha2: float) -> float:
    """Smith's Lambda of a direction: hidden over visible facet area; infinite at grazing (cos 0, alpha > 0)."""
    one, two = jit.like(alpha2, 1.0), jit.like(alpha2, 2.0)
    hidden = alpha2 * (one - cos_u) * (one + cos_u)
    return hidden / (two * cos_u * (slope_root(cos_u, alpha2) + cos_u))


@jit.inlined
def masking(cos_l: float, cos_v: float, alpha2: float) -> float:
    """Share G of facets seen from both directions, height-correlated; 0 when one of them is grazing."""
    root_l, root_v = slope_root(cos_l, alpha2), slope_root(cos_v, alpha2)
    total = cos_v * root_l + cos_l * root_v
    return jit.like(alpha2, 2.0) * cos_l * cos_v / max(total, jit.like(alpha2, 1e-30))


@jit.inlined
def lobe(cos_l: float, cos_v: float, cos_h: float, alpha2: float) -> float:
    """D G / (4 (n.l)(n.v)) [1/sr]: the specular BRDF with R = 1; 0 below the horizon."""
    zero, two = jit.like(alpha2, 0.0), jit.like(alpha2, 2.0)
    total = cos_v * slope_root(cos_l, alpha2) + cos_l * slope_root(cos_v, alpha2)
    value = distribution(cos_h, alpha2) / (two * max(total, jit.like(alpha2, 1e-30)))
    return value if cos_l > zero and cos_v > zero else zero


@jit.inlined
def lobe_back(cos2: float, sin2: float, alpha2: float) -> float:
    """The same from cos^2 and sin^2: for lobes too narrow for the resolution of float32's cosine."""
    spread = sin2 + alpha2 * cos2
    below = spread * spread * math.sqrt(cos2 + alpha2 * sin2)
    return jit.like(alpha2, 0.25 * _INVERSE_PI) * alpha2 / max(below, jit.like(alpha2, 1e-30))


@jit.inlined
def lobe_monostatic(cos_theta: float, alpha2: float) -> float:
    """f_s cos(theta) / R_0 [1/sr] back to the source: alpha^2 / (4 pi [(alpha^2 - 1) c^2 + 1]^2 S(c)).

    All facets that answer face the beam, so only the reflectance R_0 at normal incidence enters.
    """
    one = jit.like(alpha2, 1.0)
    return lobe_back(cos_theta * cos_theta, (one - cos_theta) * (one + cos_theta), alpha2)


_distribution = jit.elementwise(distribution)
_smith = jit.elementwise(smith)
_masking = jit.elementwise(masking)
_lobe = jit.elementwise(lobe)
_lobe_monostatic = jit.elementwise(lobe_monostatic)
_reflectance = jit.elementwise(relative_reflectance)
_normal_reflectance = jit.elementwise(normal_reflectance)


def squared_alpha(roughness: ArrayLike) -> Array:
    """alpha^2 = 2 roughness^2, the only form in which kernels need the roughness (Beckmann rms slope, >= 0)."""
    return 2.0 * np.square(checked("roughness", roughness, at_least=0.0))


def ggx_distribution(cos_h: ArrayLike, *, roughness: ArrayLike) -> Array:
    """Density D [1/sr] of facets whose normal makes the cosine n.h with the surface's; 0 for roughness 0."""
    return _distribution(checked_cosine("cos_h", cos_h), squared_alpha(roughness))


def smith_lambda(cos_u: ArrayLike, *, roughness: ArrayLike) -> Array:
    """Smith's Lambda [1] of a direction at the cosine n.u > 0."""
    return _smith(checked("cos_u", checked_cosine("cos_u", cos_u), above=0.0), squared_alpha(roughness))


def smith_masking(cos_l: ArrayLike, cos_v: ArrayLike, *, roughness: ArrayLike) -> Array:
    """Height-correlated masking and shadowing G [1] between two directions."""
    return _masking(checked_cosine("cos_l", cos_l), checked_cosine("cos_v", cos_v), squared_alpha(roughness))


def ggx(
    to_source: ArrayLike,
    to_detector: ArrayLike,
    *,
    n: ArrayLike,
    roughness: ArrayLike,
    normal: ArrayLike = (0.0, 0.0, 1.0),
) -> Array:
    """Specular BRDF f_s(l, v) [1/sr] of a rough interface; 0 if l or v is below it.

    Args:
        to_source: Unit vector l, (*batch, 3).
        to_detector: Unit vector v, (*batch, 3).
        n: Complex relative index behind the interface, n' + ik.
        roughness: Beckmann rms slope (alpha = sqrt(2) x it); 0 gives 0, see above.
        normal: Unit normal on the lit side.
    """
    at = directions(to_source, to_detector, normal)
    index, extinction = checked_index("n", n)
    return _reflectance(at.cos_lh, index, extinction) * _lobe(at.cos_l, at.cos_v, at.cos_h, squared_alpha(roughness))


def ggx_monostatic(cos_theta: ArrayLike, *, n: ArrayLike, roughness: ArrayLike) -> Array:
    """f_s cos(theta) [1/sr] back to the source; R_0 / (4 pi alpha^2) at normal incidence."""
    index, extinction = checked_index("n", n)
    return _normal_reflectance(index, extinction) * _lobe_monostatic(
        checked_cosine("cos_theta", cos_theta), squared_alpha(roughness)
    )
