"""Stray light: light that the optics of a lidar scatter aside.

Scatter at lenses and windows, and the wings of beam and detector, spread a return over angle. The law is the ABg form
in which scatter of polished optics is commonly given (Harvey and Shack; A / (B + theta^g)), by its own center:

    L(theta) = strength / (1 + (theta / radius)^slope)

L is the share of a return that a receiver gets when it does not look straight at it; theta is the angle between its
axis and the direction of the return. Beam and receiver together, as one function of this angle, make the blooming
around a retroreflector: Dudzik et al., "Physically-Based Simulation of Automotive LiDAR", arXiv:2512.05932.
"""

from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked
from sensorium.runtime import jit


@jit.inlined
def stray_share(angle: float, strength: float, radius: float, slope: float) -> float:
    """Strength / (1 + (angle / radius)^slope) [1]."""
    return strength / (1.0 + (angle / radius) ** slope)


_stray = jit.elementwise(stray_share)


def stray_light(angle_rad: ArrayLike, *, strength: ArrayLike, radius_rad: ArrayLike, slope: ArrayLike = 2.0) -> Array:
    """Share of a return that a receiver gets which looks past it [1].

    Args:
        angle_rad: Between its direction and that of the return [rad], >= 0.
        strength: The share close by [1], >= 0.
        radius_rad: Angle at which half of that is left [rad], above 0.
        slope: Power by which it falls off far outside, above 0; 1.5 to 3 for polished optics.
    """
    return _stray(
        checked("angle_rad", angle_rad, at_least=0.0),
        checked("strength", strength, at_least=0.0),
        checked("radius_rad", radius_rad, above=0.0),
        checked("slope", slope, above=0.0),
    )
