"""Direct return of a specular surface into a beam of finite width.

A GGX lobe narrower than the beam would return more than the beam holds. A flat mirror returns the share that a detector
catches of a beam twice as long: far out 2 R_0 R^2 / w(2 z)^2, times exp(-2 theta^2 / delta^2) when tilted by theta,
where w(2 z) is 2 z delta. In 1/sr and with t = tan(delta / 2) that is a peak of R_0 / (8 pi t^2) that falls as
exp(-theta^2 / (2 t^2)). Between mirror and rough surface the peak is R_0 / (4 pi (alpha^2 + 2 t^2)), and beyond the
beam's width the lobe is unchanged:

    rho = max(min(lobe, peak), peak exp(-sin^2 theta / (2 t^2)))

Our own join of the two limits; the AGX Sensor paper has only the lobe, without bound as the roughness goes to 0.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked, checked_cosine
from sensorium.physics.optics.surfaces.microfacet import lobe_back, squared_alpha
from sensorium.physics.optics.surfaces.transmittance import attenuation
from sensorium.runtime import jit


@jit.inlined
def glint_back(cos2: float, sin2: float, alpha2: float, cone2: float) -> float:
    """Return over R_0 [1/sr] for cone2 = tan^2(delta / 2) > 0."""
    wide = jit.like(alpha2, 2.0) * cone2
    peak = jit.like(alpha2, 0.25 / math.pi) / (alpha2 + wide)
    return max(min(lobe_back(cos2, sin2, alpha2), peak), peak * attenuation(sin2 / wide))


_glint_back = jit.elementwise(glint_back)


def mirror_glint(cos_theta: ArrayLike, *, roughness: ArrayLike, half_angle_rad: ArrayLike) -> Array:
    """Return f cos(theta) [1/sr] straight back to the source, for a normal-incidence reflectance R_0 of 1.

    Args:
        cos_theta: Cosine of the angle of incidence, in [0, 1].
        roughness: Beckmann rms slope (alpha = sqrt(2) x it).
        half_angle_rad: Half divergence delta of the beam [rad], above 0.
    """
    c = checked_cosine("cos_theta", cos_theta)
    cone2 = np.square(np.tan(0.5 * checked("half_angle_rad", half_angle_rad, above=0.0, at_most=3.0)))
    return _glint_back(c * c, (1.0 - c) * (1.0 + c), squared_alpha(roughness), cone2)
