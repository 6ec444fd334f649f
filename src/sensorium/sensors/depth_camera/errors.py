"""All errors of depth cameras, distinguished by their `kind`, and the stage that each becomes."""

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from sensorium.physics.imaging.depth_errors import FlyingPixels, QuadraticError, StereoError, TimeOfFlightError
from sensorium.physics.imaging.depth_quantization import DepthQuantization, quantized
from sensorium.sensors.depth_camera.device_stages import (
    has_an_axis,
    is_rectified,
    measure_by_eyes,
    measure_by_law,
    measure_by_phase,
    mix_pixels,
)
from sensorium.sensors.depth_camera.stage import DepthFrame, Stage

AnyDepthError = Annotated[
    StereoError | TimeOfFlightError | FlyingPixels | QuadraticError | DepthQuantization, Field(discriminator="kind")
]
"""Any of them."""


def _quantize(error: DepthQuantization, frame: DepthFrame) -> None:
    axial = frame.axial if error.along == "depth" else np.float32(1.0)
    frame.range_m[...] = quantized(frame.range_m * axial, error.step_m) / axial


STAGES: dict[type[Any], Stage] = {
    StereoError: Stage(measure_by_eyes, frozenset({"cosine"}), is_rectified),
    TimeOfFlightError: Stage(measure_by_phase, frozenset({"object_id", "cosine"})),
    FlyingPixels: Stage(mix_pixels),
    QuadraticError: Stage(measure_by_law, check=has_an_axis),
    DepthQuantization: Stage(_quantize, check=has_an_axis),
}
"""Stage of each kind of error."""
