"""Share of a beam that a rough surface passes on into its mirror ray.

    kappa = R t^2 / (alpha^2 cos(theta) + t^2),    t = tan(delta / 2)

is R times the share of GGX normals that keep the light inside a cone of half angle delta about the mirror direction (a
tilt turns light by twice itself in the plane of incidence, by 2 cos(theta) times itself across). It tends to R for a
mirror and to f_s cos(theta) pi delta^2 for a rough surface; exact at normal incidence, within 6 % of the integral over
the cone at 60 degrees. The AGX Sensor paper's f(l, r) cos(theta) grows without bound as the roughness goes to 0.
"""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked, checked_cosine
from sensorium.physics.optics.surfaces.fresnel import fresnel
from sensorium.physics.optics.surfaces.microfacet import squared_alpha
from sensorium.runtime import jit


@jit.inlined
def mirror_share(cos_theta: float, alpha2: float, cone2: float) -> float:
    """Share kappa / R [1] for cone2 = tan^2(delta / 2); 1 for a perfect mirror and any cone."""
    spread = alpha2 * cos_theta
    return cone2 / (spread + cone2) if spread > jit.like(alpha2, 0.0) else jit.like(alpha2, 1.0)


_mirror_share = jit.elementwise(mirror_share)


def mirror_transfer(cos_theta: ArrayLike, *, n: ArrayLike, roughness: ArrayLike, half_angle_rad: ArrayLike) -> Array:
    """Transfer factor kappa [1] to the mirror ray.

    Args:
        cos_theta: Cosine of the angle of incidence, in [0, 1].
        n: Complex relative index behind the surface, n' + ik.
        roughness: Beckmann rms slope (alpha = sqrt(2) x it).
        half_angle_rad: Half angle delta of the cone that counts as the beam [rad], below pi.
    """
    cone2 = np.square(np.tan(0.5 * checked("half_angle_rad", half_angle_rad, at_least=0.0, at_most=3.0)))
    share = _mirror_share(checked_cosine("cos_theta", cos_theta), squared_alpha(roughness), cone2)
    return fresnel(cos_theta, n=n) * share
