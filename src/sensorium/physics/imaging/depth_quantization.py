"""Quantization of distances, as in depth cameras that report millimeters in 16 bits: z' = q round(z / q).

The error is uniform within half a step, of standard deviation q / sqrt(12).
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from sensorium.core.spec import Spec


class DepthQuantization(Spec):
    """Rounds to whole steps."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["quantization"] = "quantization"
    step_m: float = Field(default=1e-3, gt=0.0)
    """q [m]."""
    along: Literal["depth", "range"] = "depth"
    """The rounded quantity: the depth along the axis, or the range along the ray."""


def quantized(distance_m: NDArray[np.float32], step_m: float) -> NDArray[np.float32]:
    """Whole steps, q round(z / q) [m], any shape; infinite values and 0 stay."""
    step = np.float32(step_m)
    return np.rint(distance_m / step) * step
