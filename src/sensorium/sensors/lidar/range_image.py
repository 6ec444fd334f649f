"""Range image of a lidar scan: one number per ray, also where nothing returned."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.common.range_values import in_meters, range_values
from sensorium.sensors.lidar.range_limits import ABOVE_ZERO

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar
    from sensorium.sensors.lidar.scan import Scan


@dataclass(frozen=True, eq=False)
class RangeImage:
    """Reported ranges, with values for too near and for no return; as in `DepthImage`."""

    values: NDArray[np.float32]
    """Distance along the ray [m], or as a fraction of the greatest range, in the shape of the scan's ranges."""
    near: float
    """Value where a surface is too near, in the unit of the range."""
    far: float
    """Value where nothing returned: no surface, or one that is too far, too weak or dropped out."""
    scale_m: float
    """Length of one unit of the range [m]: 1, or the greatest range if normalized."""

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Whether there is a return."""
        return ~np.isin(self.values, [np.float32(self.near), np.float32(self.far)])

    def in_meters(self) -> NDArray[np.float32]:
        """Ranges in meters, with infinity for no return and minus infinity for too near (REP 118)."""
        return in_meters(self.values, self.scale_m, ((self.far, np.inf), (self.near, -np.inf)))

    def voided(self, at: NDArray[np.bool_]) -> "RangeImage":
        """The same with no return where the mask is true; it broadcasts to the shape of the range."""
        return replace(self, values=np.where(at, np.float32(self.far), self.values))


class RangeImages:
    """Adds range images to the scans of a lidar."""

    def __init__(self, spec: "Lidar") -> None:
        near_m, far_m, self._scale_m = range_values(spec)
        self._near, self._far = near_m / self._scale_m, far_m / self._scale_m
        self._least_m = np.float32(max(spec.min_range_m, ABOVE_ZERO))

    def split(self, scan: "Scan") -> "tuple[Scan, NDArray[np.bool_]]":
        """A scan without returns nearer than the least range, and a mask of those."""
        met = scan.object_id >= 0 if scan.light is None else scan.valid  # noise may make ranges negative
        near = met & (scan.range_m < self._least_m)
        return scan.voided(near) if near.any() else scan, near

    def add(self, scan: "Scan", near: NDArray[np.bool_]) -> "Scan":
        """The scan with its range image.

        Args:
            scan: The scan as reported.
            near: Mask of rays with a surface that is too near, to broadcast to the ranges; returns take precedence.
        """
        scale = np.float32(1.0 / self._scale_m)
        nothing = np.where(near, np.float32(self._near), np.float32(self._far))
        image = np.where(scan.valid, scan.range_m * scale, nothing)
        return replace(scan, range_image=RangeImage(image, self._near, self._far, self._scale_m))
