"""Retroreflecting sheets: light returns to its source, R_A(theta) = R_A(0) cos^q(theta).

The coefficient of retroreflection R_A [cd/(lx m^2) = 1/sr], as data sheets give it, is the intensity sent back per
illuminance and area: it is f cos(theta) itself. The fall-off with the entrance angle is a fit (q = 2).
"""

from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked, checked_cosine
from sensorium.runtime import jit


@jit.inlined
def retro(cos_theta: float, coefficient: float, exponent: float) -> float:
    """R_A cos^q(theta) [1/sr]."""
    return coefficient * cos_theta**exponent


_retro = jit.elementwise(retro)


def retroreflection(cos_theta: ArrayLike, *, coefficient_per_sr: ArrayLike, exponent: ArrayLike = 2.0) -> Array:
    """Return f cos(theta) [1/sr] of a retroreflecting sheet.

    Args:
        cos_theta: Cosine of the entrance angle, in [0, 1].
        coefficient_per_sr: R_A at normal entrance [1/sr], >= 0.
        exponent: q >= 0 of the fall-off.
    """
    return _retro(
        checked_cosine("cos_theta", cos_theta),
        checked("coefficient_per_sr", coefficient_per_sr, at_least=0.0),
        checked("exponent", exponent, at_least=0.0),
    )
