"""Scale on which a lidar reports intensity: raw, counts, or the reflectivity of a calibrated target."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sensorium.core.spec import Spec

# Reflectivity bytes of Ouster and Velodyne: 0 to 100 is diffuse reflectance in per cent, higher values are logarithmic
# and reached by retroreflectors only. The top of the scale is not published; a thousand times white is assumed.
_DIFFUSE_TOP, _BYTE_TOP, _RETRO_TOP = 100.0, 255.0, 1000.0


class IntensityScale(Spec):
    """The number that a device reports for a return's intensity.

    - "raw": float32, unchanged.
    - "counts": whole numbers, intensity over full scale in `bits` bits, saturated at the top.
    - "reflectivity": reflectance in per cent of a diffuse target at normal incidence and the same range: intensity over
      that of a white target. In 8 bits, values above 100 are logarithmic up to 255.
    """

    kind: Literal["raw", "counts", "reflectivity"] = "raw"
    bits: Literal[8, 16] = 8
    full_scale: float = Field(default=1.0, gt=0.0)
    """Intensity of the highest count, in the unit of the lidar's mode; for "counts"."""

    @model_validator(mode="after")
    def _used(self) -> "IntensityScale":
        if self.kind == "raw" and self.bits != 8:
            raise ValueError(f"bits is {self.bits} with kind 'raw'; a raw intensity is no whole number")
        if self.kind != "counts" and self.full_scale != 1.0:
            raise ValueError(f"full_scale is {self.full_scale} with kind {self.kind!r}; it acts with 'counts' alone")
        return self


def scaled(scale: IntensityScale, intensity: NDArray[np.float32], white: NDArray[np.float32]) -> NDArray[Any]:
    """Intensities on the scale of the device.

    Args:
        scale: Scale of the device.
        intensity: Of each return, in the unit of the lidar's mode.
        white: Intensity of a white diffuse target at normal incidence and the same range, for calibration.

    Returns:
        float32 for "raw", else uint8 or uint16, in the same shape.
    """
    if scale.kind == "raw":
        return intensity
    top = 2**scale.bits - 1
    if scale.kind == "counts":
        value = np.rint(intensity * (top / scale.full_scale))
    else:
        percent = 100.0 * np.divide(intensity, white, out=np.zeros_like(intensity), where=white > 0.0)
        above = np.log(np.maximum(percent, _DIFFUSE_TOP) / _DIFFUSE_TOP) / math.log(_RETRO_TOP)
        byte = np.where(percent <= _DIFFUSE_TOP, percent, _DIFFUSE_TOP + (_BYTE_TOP - _DIFFUSE_TOP) * above)
        value = np.rint(byte if scale.bits == 8 else percent * (top / (_RETRO_TOP * _DIFFUSE_TOP)))
    return np.clip(value, 0, top).astype(np.uint8 if scale.bits == 8 else np.uint16)
