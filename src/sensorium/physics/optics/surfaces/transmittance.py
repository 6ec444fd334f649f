"""Beer-Lambert: power that passes a medium, exp(-tau), where tau is the sum of extinction x geometric length.

The length is geometric, not optical as in the AGX Sensor paper (E-01): extinction coefficients are per meter of path.
"""

import math
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload
from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked
from sensorium.random import exp_f32
from sensorium.runtime import jit


@jit.inlined
def attenuation(optical_depth: float) -> float:
    """exp(-tau) [1] for an optical depth tau >= 0; in float32 by a polynomial that vectorizes, 0 above 87.3."""
    return _exponential(-optical_depth)


def transmittance(distance_m: ArrayLike, *, extinction_per_m: ArrayLike) -> Array:
    """Fraction of power that survives one way through a uniform medium.

    Args:
        distance_m: Geometric path length [m], >= 0.
        extinction_per_m: Absorption plus scattering [1/m], >= 0.

    Returns:
        exp(-extinction x distance) [1].
    """
    distance = checked("distance_m", distance_m, at_least=0.0)
    return np.exp(-checked("extinction_per_m", extinction_per_m, at_least=0.0) * distance)


def two_way_transmittance(distance_m: ArrayLike, *, extinction_per_m: ArrayLike) -> Array:
    """Fraction of power that survives out and back, exp(-2 extinction x distance); see `transmittance`."""
    return np.square(transmittance(distance_m, extinction_per_m=extinction_per_m))


def _exponential(x: float) -> float:
    """e^x; compiled for float32 or float64 below."""
    return math.exp(x)


@overload(_exponential, strict=False)
def _compiled_exponential(x: Any) -> Any:
    if x == types.float32:
        return lambda x: exp_f32(x)
    return lambda x: math.exp(x)
