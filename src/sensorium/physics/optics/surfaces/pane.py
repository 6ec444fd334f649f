"""A thin pane of glass as one sheet: both faces and every inner reflection between them, summed as powers.

With R Fresnel's reflectance of a face, a = exp(-tau / cos(theta_t)) the inner passage, tau = absorption x thickness:

    T_p = (1 - R)^2 a / (1 - R^2 a^2)          R_p = R + (1 - R)^2 a^2 R / (1 - R^2 a^2)

Light keeps its direction; its optical path grows by (n - 1) thickness / cos(theta_t), to first order. Assumes natural
light at each face, and a pane thicker than the laser's coherence length, so that powers add.
"""

import math

from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked, checked_cosine
from sensorium.physics.optics.surfaces.fresnel import relative_reflectance
from sensorium.physics.optics.surfaces.transmittance import attenuation
from sensorium.runtime import jit


@jit.inlined
def cos_inside(cos_theta: float, n: float) -> float:
    """Cosine of the angle of refraction inside the pane, for a relative index n >= 1."""
    one = jit.like(n, 1.0)
    return math.sqrt((n - one) * (n + one) + cos_theta * cos_theta) / n


@jit.inlined
def pane_factors(cos_theta: float, n: float, optical_depth: float) -> tuple[float, float, float]:
    """(R_p, T_p, cos(theta_t)) [1] for a relative index n >= 1 and the optical depth tau of a straight passage."""
    one = jit.like(n, 1.0)
    R = relative_reflectance(cos_theta, n, jit.like(n, 0.0))
    inner = cos_inside(cos_theta, n)
    a = attenuation(optical_depth / max(inner, jit.like(n, 1e-30)))
    Ra = R * a
    through = (one - R) * (one - R) * a / max((one - Ra) * (one + Ra), jit.like(n, 1e-30))
    return R + through * Ra, through, inner


@jit.inlined
def _transmitted(cos_theta: float, n: float, optical_depth: float) -> float:
    return pane_factors(cos_theta, n, optical_depth)[1]


@jit.inlined
def _reflected(cos_theta: float, n: float, optical_depth: float) -> float:
    return pane_factors(cos_theta, n, optical_depth)[0]


_transmittance = jit.elementwise(_transmitted)
_reflectance = jit.elementwise(_reflected)
_cos_inside = jit.elementwise(cos_inside)


def pane(cos_theta: ArrayLike, *, n: ArrayLike, optical_depth: ArrayLike = 0.0) -> tuple[Array, Array]:
    """Transmittance T_p and reflectance R_p [1] of a thin pane.

    Args:
        cos_theta: Cosine of the angle of incidence, in [0, 1].
        n: Index of the glass relative to the medium around it, >= 1.
        optical_depth: Absorption coefficient x thickness [1], >= 0.
    """
    arguments = (
        checked_cosine("cos_theta", cos_theta),
        checked("n", n, at_least=1.0),
        checked("optical_depth", optical_depth, at_least=0.0),
    )
    return _transmittance(*arguments), _reflectance(*arguments)


def pane_path(cos_theta: ArrayLike, *, n: ArrayLike, thickness_m: ArrayLike) -> Array:
    """Optical path [m] that a pane adds to a straight line through it, (n - 1) thickness / cos(theta_t)."""
    index = checked("n", n, at_least=1.0)
    thickness = checked("thickness_m", thickness_m, at_least=0.0)
    return (index - 1.0) * thickness / _cos_inside(checked_cosine("cos_theta", cos_theta), index)
