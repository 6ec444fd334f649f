"""Numbers with heavier tails than normal ones: Johnson's S_U law of zero mean, unit variance and given kurtosis."""

import math

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.random.fastmath import exp_f32
from sensorium.runtime import jit


def johnson_numbers(excess_kurtosis: float) -> tuple[float, float]:
    """Shape d and scale s of y = s sinh(d z), which is of unit variance and of this excess kurtosis for a normal z.

    With w = exp(d^2) the law y / s has the variance (w^2 - 1) / 2 and the kurtosis (w^4 + 2 w^2 + 3) / 2 (Johnson,
    Biometrika 36, 1949, S_U without skew), so that w^2 = sqrt(4 + 2 excess) - 1. The map rises with z: one normal
    number gives one number of the law, and order is kept.

    Args:
        excess_kurtosis: Kurtosis less the 3 of a normal law [1]; 0 is the normal law, returned as (0, 0).
    """
    if not 0.0 <= excess_kurtosis < math.inf:
        raise SpecError(f"excess_kurtosis is {excess_kurtosis}; it must be finite and not negative")
    if excess_kurtosis == 0.0:
        return 0.0, 0.0
    squared = math.sqrt(4.0 + 2.0 * excess_kurtosis) - 1.0
    return math.sqrt(0.5 * math.log(squared)), math.sqrt(2.0 / (squared - 1.0))


@jit.inlined
def johnson_f32(z: np.float32, shape: np.float32, scale: np.float32) -> np.float32:
    """A number of the law, scale sinh(shape z), in float32."""
    grown = exp_f32(shape * z)
    return np.float32(0.5) * scale * (grown - np.float32(1.0) / grown)
