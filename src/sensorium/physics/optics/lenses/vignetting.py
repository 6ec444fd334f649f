"""Darkening of an image towards its edges."""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked


def vignetting(radius_m: ArrayLike, *, focal_length_m: float, falloff_per_m: float = 0.0) -> Array:
    """V = (1 - alpha r) (f / sqrt(f^2 + r^2))^4 [1], 0 where alpha r > 1.

    The fourth power is that of the cosine between chief ray and axis; alpha accounts for losses in several lenses and
    in the pixels.

    Args:
        radius_m: Distance r from the axis on the image plane [m].
        focal_length_m: f [m].
        falloff_per_m: alpha [1/m].

    Source: VANE paper eq. 6, after Kang & Weiss 2000 without their tilt.
    """
    r = checked("radius_m", radius_m, at_least=0.0)
    f = checked("focal_length_m", focal_length_m, above=0.0)
    alpha = checked("falloff_per_m", falloff_per_m, at_least=0.0)
    return np.maximum(1.0 - alpha * r, 0.0) * (f * f / (f * f + r * r)) ** 2
