"""A rough clear coat over a diffuse base: f = f_s + layer f_d, and three readings of the layer.

    two_way   T(n.l) T(n.v)                            the default: light crosses the coat twice; reciprocal
    plastic   T(n.l) T(n.v) / (n^2 (1 - C F_i))        and what comes back to the base counts as well
    agx       T(l.h)                                   eq. (12) of the AGX Sensor paper

T = 1 - R is Fresnel's transmittance, F_i the internal diffuse reflectance. `agx` creates energy at grazing incidence:
albedo 1.165 at 80 degrees for n = 1.5, alpha = 0.1, C = 0.97 (E-11). In a metal T is absorbed: there is no base (E-12).
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sensorium import jit
from sensorium.errors import SpecError
from sensorium.optics.checks import Array, checked, checked_cosine, checked_index
from sensorium.optics.diffuse import oren_nayar_back, oren_nayar_brdf, oren_nayar_coefficients
from sensorium.optics.directions import directions
from sensorium.optics.fresnel import internal_diffuse_reflectance, normal_reflectance, reflectance
from sensorium.optics.microfacet import lobe, lobe_monostatic, squared_alpha

Layering = Literal["two_way", "agx", "plastic"]

# As kernels see them, in a float field of a material's row
TWO_WAY, AGX, PLASTIC = 0.0, 1.0, 2.0
LAYERINGS: dict[str, float] = {"two_way": TWO_WAY, "agx": AGX, "plastic": PLASTIC}

# Light enters less than a micrometre into what absorbs more than this (depth lambda / 4 pi k)
OPAQUE_EXTINCTION = 0.1


@jit.function
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
        cos_theta: Cosine of the angle of incidence, in [0, 1].
        n: Relative index of the coat; n = 1, k = 0 is no coat.
        k: Its extinction.
        R0: Its reflectance at normal incidence.
        alpha2: GGX alpha^2.
        C: Diffuse reflectance of the base.
        A0, A1, B: Oren-Nayar coefficients of the base.
        layering: TWO_WAY, AGX or PLASTIC.
        plastic_n2, plastic_fi: n^2 and F_i; read for PLASTIC alone.
    """
    one = jit.like(C, 1.0)
    through = one - reflectance(cos_theta, n, k)
    layer = through * through
    if layering == jit.like(C, PLASTIC):
        layer = layer / (plastic_n2 * (one - C * plastic_fi))
    if layering == jit.like(C, AGX):
        layer = one - R0
    return R0 * lobe_monostatic(cos_theta, alpha2) + layer * oren_nayar_back(cos_theta, C, A0, A1, B)


@jit.function
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
    """f(l, v) [1/sr]; 0 where l or v lies below the surface.

    Args:
        cos_l, cos_v, cos_h, cos_lh, l_dot_v: n.l, n.v, n.h, l.h and l.v, h halfway between l and v.
        n, k, alpha2, C, A0, A1, B, layering, plastic_n2, plastic_fi: As in `monostatic`.
    """
    zero, one = jit.like(C, 0.0), jit.like(C, 1.0)
    facets = reflectance(max(cos_lh, zero), n, k)
    layer = (one - reflectance(max(cos_l, zero), n, k)) * (one - reflectance(max(cos_v, zero), n, k))
    if layering == jit.like(C, PLASTIC):
        layer = layer / (plastic_n2 * (one - C * plastic_fi))
    if layering == jit.like(C, AGX):
        layer = one - facets
    base = oren_nayar_brdf(cos_l, cos_v, l_dot_v, C, A0, A1, B)
    return facets * lobe(cos_l, cos_v, cos_h, alpha2) + layer * base


@jit.function
def brdf_cos(
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
    """f(l, v) (n.l) [1/sr]: radiance towards v per irradiance of a beam from l; arguments as in `brdf`."""
    value = brdf(cos_l, cos_v, cos_h, cos_lh, l_dot_v, n, k, alpha2, C, A0, A1, B, layering, plastic_n2, plastic_fi)
    return value * max(cos_l, jit.like(C, 0.0))


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
    """BRDF f(l, v) [1/sr] of a rough coat over a diffuse base; 0 where l or v lies below the surface.

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
    inner = internal_diffuse_reflectance(index) if layering == "plastic" else np.zeros_like(index)
    return index, extinction, squared_alpha(roughness), C, (index**2, inner)
