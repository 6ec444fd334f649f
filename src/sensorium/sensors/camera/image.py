"""Reading of a camera: one image, with the ideal image and the distances."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose


@dataclass(frozen=True, eq=False)
class CameraImage:
    """One image; row 0 is the top, column 0 the left edge.

    The requested axes of worlds and sensors come first.
    """

    image: NDArray[Any]
    """As it leaves the camera, uint8 or uint16: shape (..., rows, columns, bands), or (..., rows, columns) for one band
    and for a mosaic that is not turned into colors."""
    raw: NDArray[Any] | None
    """Codes of the converter before gamma, in the shape of its input; None without a converter."""
    ideal: NDArray[np.float32]
    """Radiance that counts in each band [W/m^2/sr] before the lens, at every cell of the virtual grid: shape
    (..., rows m, columns m, bands) with the sample factor m."""
    inverse_depth: NDArray[np.float32]
    """One over the depth of each cell along the axis (for a fisheye along the ray) [1/m], 0 for the sky."""
    axial: NDArray[np.float32]
    """Depth over distance of each cell [1], shape (rows m, columns m)."""
    bands: tuple[str, ...]
    """Names of the bands."""
    start_ns: int
    """When exposure of the first row began [ns]."""
    end_ns: int
    """When that of the last row ended [ns], at the longest exposure that is allowed."""
    time_ns: int
    """Start by the camera's own clock [ns]."""
    X_WS: Pose
    """True poses of the camera at the times it was followed, batch shape (knots, worlds, sensors): x forward, z up."""
    exposure_s: NDArray[np.float64]
    """Time that pixels collected light [s]: a number, in an array with the axes of worlds and sensors."""
    gain: NDArray[np.float64]
    """Of automatic exposure, on top of the camera's own [1]; likewise."""
    balance: NDArray[np.float64]
    """White balance: gain of each band [1], shape (..., bands)."""
    make_stages: Callable[[], list[tuple[str, NDArray[Any]]]]
    """Works the stages out once more; see `stages`."""

    @property
    def distance_m(self) -> NDArray[np.float32]:
        """Distance seen by each cell of the virtual grid, along its ray [m]; infinite for the sky."""
        with np.errstate(divide="ignore"):
            return np.float32(1.0) / (self.inverse_depth * self.axial)

    def stages(self) -> list[tuple[str, NDArray[Any]]]:
        """The image after every stage, with its name, of the first world and camera: for looking at.

        Floats are fractions of full scale, integers are codes; both are computed on request.
        """
        return self.make_stages()

    def without(self, mask: NDArray[np.bool_]) -> "CameraImage":
        """The same, black in the masked worlds, shape (worlds,)."""
        return replace(
            self,
            image=_blackened(self.image, mask),
            raw=None if self.raw is None else _blackened(self.raw, mask),
            ideal=_blackened(self.ideal, mask),
            inverse_depth=_blackened(self.inverse_depth, mask),
        )


def _blackened(array: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
    """Zeros in the masked worlds."""
    return np.where(mask.reshape(-1, *(1,) * (array.ndim - 1)), array.dtype.type(0), array)
