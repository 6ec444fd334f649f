"""All errors of depth cameras, told apart by their `kind`, and the stage that each becomes."""

from typing import Any

import numpy as np

from sensorium.imaging.depth_quantization import DepthQuantization, quantized
from sensorium.patterns import Fisheye
from sensorium.sensors.depth_stage import DepthFrame, Projection, Stage

AnyDepthError = DepthQuantization
"""Any of them; with the second this becomes Annotated[A | B, Field(discriminator="kind")]."""


def _quantize(error: DepthQuantization, frame: DepthFrame) -> None:
    axial = frame.axial if error.along == "depth" else np.float32(1.0)
    frame.range_m[...] = quantized(frame.range_m * axial, error.step_m) / axial


def _needs_an_axis(error: DepthQuantization, pattern: Projection) -> None:
    if isinstance(pattern, Fisheye) and error.along == "depth":
        raise ValueError("along is 'depth' for a fisheye, whose depth may be 0; it must be 'range'")


STAGES: dict[type[Any], Stage] = {DepthQuantization: Stage(_quantize, check=_needs_an_axis)}
"""What each kind of error does."""
