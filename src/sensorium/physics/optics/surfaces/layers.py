"""A rough clear coat over a diffuse base: f = f_s + layer f_d, and three readings of the layer.

    two_way   T(n.l) T(n.v)                            the default: light crosses the coat twice; reciprocal
    plastic   T(n.l) T(n.v) / (n^2 (1 - C F_i))        and what comes back to the base counts as well
    agx       T(l.h)                                   eq. (12) of the AGX Sensor paper

T = 1 - R is Fresnel's transmittance, F_i the internal diffuse reflectance. `agx` creates energy at grazing incidence:
albedo 1.164 at 80 degrees for n = 1.5, alpha = 0.1, C = 0.97 (E-11). `plastic` under a slightly rough coat takes T at
the wrong facets, which over a perfectly white base (C = 1) makes the albedo 1.0007 at most; `two_way` stays below 1.
In a metal T is absorbed: there is no base (E-12).
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked, checked_cosine, checked_index, directions
from sensorium.physics.optics.surfaces.diffuse import oren_nayar_brdf, oren_nayar_coefficients
from sensorium.physics.optics.surfaces.fresnel import (
    internal_diffuse_reflectance,
    normal_reflectance,
    relative_reflectance,
)
from sensorium.physics.optics.surfaces.microfacet import lobe, lobe_monostatic, squared_alpha
from sensorium.physics.optics.surfaces.mirror_transfer import mirror_share
from sensorium.runtime import jit

Layering = Literal["two_way", "agx", "plastic"]

# As kernels see them, in a float field of a material's row
TWO_WAY, AGX, PLASTIC = 0.0, 1.0, 2.0
LAYERINGS: dict[str, float] = {"two_way": TWO_WAY, "agx": AGX, "plastic": PLASTIC}

# Light enters less than a micrometer into a material that absorbs more than this (depth lambda / 4 pi k)
OPAQUE_EXTINCTION = 0.1


@jit.inlined
def monostatic_and_mirror(
    cos_theta: float,
    n: float,
    k: float,
    R0: float,
    alpha2: float,
    diffuse_a: float,
    diffuse_b: float,
    one_way: float,
    fixed_r: float,
    cone2: float,
) -> tuple[float, float, float]:
    """Returns of a surface to the source and to its mirror ray, from one evaluation of Fresnel's law.

    Args:
        cos_theta: Cosine of the angle of incidence, in [0, 1].
        n: Relative index of the coat; n = 1, k = 0 is no coat.
        k: Its extinction.
        R0: Its reflectance at normal incidence.
        alpha2: GGX alpha^2.
        diffuse_a, diffuse_b: The base under its coat, by `diffuse_terms`.
        one_way: 1 for AGX, where light passes the coat once; else 0.
        fixed_r: Reflectance of a mirror at every angle; -1 for Fresnel's law.
        cone2: tan^2 of half the beam's half angle, see `mirror_share`.

    Returns:
        f cos(theta) [1/sr] back to the source, the reflectance R, and the share kappa / R of the mirror ray.
    """
    zero, one = jit.like(R0, 0.0), jit.like(R0, 1.0)
    # Both sides of each choice are computed, so that loops over rays vectorize
    fresnel = relative_reflectance(cos_theta, n, k)
    R = fixed_r if fixed_r >= zero else fresnel
    layer = one - R0 if one_way > zero else (one - R) * (one - R)
    sin2 = (one - cos_theta) * (one + cos_theta)
    back = R0 * lobe_monostatic(cos_theta, alpha2) + layer * (diffuse_a * cos_theta + diffuse_b * sin2)
    return back, R, mirror_share(cos_theta, alpha2, cone2)


@jit.inlined
def diffuse_terms(
    C: float, A0: float, A1: float, B: float, plastic_n2: float, plastic_fi: float
) -> tuple[float, float]:
    """(a, b) [1/sr] of the base's f_d cos(theta) = a cos + b sin^2 back to the source, without the layer's factor T T.

    Args:
        C: Diffuse reflectance of the base.
        A0, A1, B: Its Oren-Nayar coefficients.
        plastic_n2, plastic_fi: n^2 and F_i for PLASTIC, otherwise 1 and 0.
    """
    one = jit.like(C, 1.0)
    scale = jit.like(C, 1.0 / math.pi) * C / (plastic_n2 * (one - C * plastic_fi))
    return scale * (A0 + A1 * C), scale * B


@jit.inlined
def monostatic(
    cos_theta: float,
    n: float,
    k: float,
    R0: float,
    alpha2: float,
    C: float,
    A0: float,
    A1: float,
    B: float,
    layering: float,
    plastic_n2: float,
    plastic_fi: float,
) -> float:
    """Return f cos(theta) [1/sr] back to the source, for the fields of a material's row.

    Args:
        cos_theta, n, k, R0, alpha2: As in `monostatic_and_mirror`.
        C, A0, A1, B, plastic_n2, plastic_fi: As in `diffuse_terms`.
        layering: TWO_WAY, AGX or PLASTIC.
    """
    zero, one = jit.like(C, 0.0), jit.like(C, 1.0)
    a, b = diffuse_terms(C, A0, A1, B, plastic_n2, plastic_fi)
    one_way = one if layering == jit.like(C, AGX) else zero
    return monostatic_and_mirror(cos_theta, n, k, R0, alpha2, a, b, one_way, -one, one)[0]


@jit.inlined
def brdf(
    cos_l: float,
    cos_v: float,
    cos_h: float,
    cos_lh: float,
    l_dot_v: float,
    n: float,
    k: float,
    alpha2: float,
    C: float,
    A0: float,
    A1: float,
    B: float,
    layering: float,
    plastic_n2: float,
    plastic_fi: float,
) -> float:
    """BRDF f(l, v) [1/sr]; 0 if l or v is below the surface.

    Args:
        cos_l, cos_v, cos_h, cos_lh, l_dot_v: n.l, n.v, n.h, l.h and l.v, h halfway between l and v.
        n, k, alpha2, C, A0, A1, B, layering, plastic_n2, plastic_fi: As in `monostatic`.
    """
    zero, one = jit.like(C, 0.0), jit.like(C, 1.0)
    facets = relative_reflectance(max(cos_lh, zero), n, k)
    out, back = relative_reflectance(max(cos_l, zero), n, k), relative_reflectance(max(cos_v, zero), n, k)
    layer = one - facets if layering == jit.like(C, AGX) else (one - out) * (one - back)
    base = oren_nayar_brdf(cos_l, cos_v, l_dot_v, C, A0, A1, B) / (plastic_n2 * (one - C * plastic_fi))
    return facets * lobe(cos_l, cos_v, cos_h, alpha2) + layer * base


_monostatic = jit.elementwise(monostatic)
_brdf = jit.elementwise(brdf)
_normal_reflectance = jit.elementwise(normal_reflectance)


def two_layer(
    to_source: ArrayLike,
    to_detector: ArrayLike,
    *,
    n: ArrayLike,
    roughness: ArrayLike,
    reflectance: ArrayLike,
    diffuse_roughness: ArrayLike = 0.0,
    layering: Layering = "two_way",
    normal: ArrayLike = (0.0, 0.0, 1.0),
) -> Array:
    """BRDF f(l, v) [1/sr] of a rough coat over a diffuse base; 0 if l or v is below the surface.

    Args:
        to_source: Unit vector l, (*batch, 3).
        to_detector: Unit vector v, (*batch, 3).
        n: Complex index of the coat, relative to the medium outside; n = 1 is no coat. `plastic` needs n >= 1.
        roughness: Beckmann rms slope of the coat (alpha = sqrt(2) x it).
        reflectance: Diffuse reflectance C of the base in [0, 1]; 0 for a metal (k > 0.1).
        diffuse_roughness: Standard deviation of the facet angle of the base [rad].
        layering: How light passes the coat: "two_way", "plastic" or "agx".
        normal: Unit normal on the lit side.
    """
    at = directions(to_source, to_detector, normal)
    index, extinction, alpha2, C, plastic = _material(n, roughness, reflectance, layering)
    base = oren_nayar_coefficients(diffuse_roughness)
    cosines = at.cos_l, at.cos_v, at.cos_h, at.cos_lh, at.l_dot_v
    return _brdf(*cosines, index, extinction, alpha2, C, *base, LAYERINGS[layering], *plastic)


def two_layer_monostatic(
    cos_theta: ArrayLike,
    *,
    n: ArrayLike,
    roughness: ArrayLike,
    reflectance: ArrayLike,
    diffuse_roughness: ArrayLike = 0.0,
    layering: Layering = "two_way",
) -> Array:
    """Return f cos(theta) [1/sr] back to the source, at the cosine of the angle of incidence; see `two_layer`."""
    c = checked_cosine("cos_theta", cos_theta)
    index, extinction, alpha2, C, plastic = _material(n, roughness, reflectance, layering)
    base = oren_nayar_coefficients(diffuse_roughness)
    R0 = _normal_reflectance(index, extinction)
    return _monostatic(c, index, extinction, R0, alpha2, C, *base, LAYERINGS[layering], *plastic)


def _material(
    n: ArrayLike, roughness: ArrayLike, reflectance: ArrayLike, layering: str
) -> tuple[Array, Array, Array, Array, tuple[Array, Array]]:
    """Index, extinction, alpha^2, base reflectance and (n^2, F_i), all checked."""
    if layering not in LAYERINGS:
        raise SpecError(f"layering is {layering!r}; it must be one of {', '.join(LAYERINGS)}")
    index, extinction = checked_index("n", n)
    C = checked("reflectance", reflectance, at_least=0.0, at_most=1.0)
    if np.any((extinction > OPAQUE_EXTINCTION) & (C > 0)):
        raise SpecError(
            f"reflectance is {C.max():g} under a coat of extinction {extinction.max():g}; "
            f"above {OPAQUE_EXTINCTION:g} no light reaches a base, so it must be 0"
        )
    one = np.ones(())
    plastic = (index**2, internal_diffuse_reflectance(index)) if layering == "plastic" else (one, 0.0 * one)
    return index, extinction, squared_alpha(roughness), C, plastic
