"""Reading of a depth camera: the requested images."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import ns_to_seconds
from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.sensors.common.range_values import in_meters


@dataclass(frozen=True, eq=False)
class DepthImage:
    """Images of one instant; row 0 is the top, column 0 the left edge.

    Shapes are (..., rows, columns), or (..., rows, columns, n) for vectors; axes of worlds and sensors come first if
    they were requested. An image that is not among the camera's outputs raises SpecError.
    """

    images: Mapping[str, NDArray[Any]]
    """The outputs by name."""
    near: float
    """Value of depth and range for too near, in their unit."""
    far: float
    """Value of depth and range where nothing is within the limits."""
    dropped: float
    """Value of depth and range where there is no measurement; NaN if the camera drops none."""
    scale_m: float
    """Length of one unit of depth, range and points in the sensor frame [m]: 1, or the greatest range if normalized."""
    frame: str
    """Frame of points, normals and scene flow: "sensor" (x forward, y left, z up) or "world"."""
    focal_px: NDArray[np.float64]
    """fx, fy of every camera [px], shape (..., 2)."""
    center_px: NDArray[np.float64]
    """cx, cy of every camera [px], shape (..., 2); the middle of the first pixel is 0, 0."""
    start_ns: int
    """When the first row was taken [ns]."""
    end_ns: int
    """When the last row was [ns]."""
    time_ns: int
    """Start by the camera's own clock [ns]."""
    X_WS: Pose
    """True poses of the cameras, batch shape (knots, worlds, sensors).

    All three axes are always present, whatever axes the images have: one camera of one world is (1, 1, 1). A camera
    that takes all rows at once has one knot, and `X_WS[0]` are its poses then; one with a rolling shutter has several
    from the first row to the last, unless it is at rest. Without an axis of sensors `X_WS[0][:, 0]` is one pose per
    world.
    """
    projection: NDArray[np.int64] = field(default_factory=lambda: np.zeros((), np.int64))
    """Index into `randomize.projections` of every camera's lens, from 0, shape (...); zeros where none are drawn."""

    @classmethod
    def trusted(cls, fields: dict[str, Any]) -> Self:
        """An image of all these fields, filled directly: the constructor of a frozen dataclass is slow."""
        image = object.__new__(cls)
        image.__dict__.update(fields)
        return image

    def __repr__(self) -> str:
        images = ", ".join(f"{name} {image.shape}" for name, image in self.images.items())
        return f"DepthImage({images}, at {ns_to_seconds(self.time_ns):g} s)"

    @property
    def depth_m(self) -> NDArray[np.float32]:
        """Distance along the camera's axis [m]; `images["depth"]` has fractions of the greatest range if normalized."""
        return self._in_unit("depth")

    @property
    def range_m(self) -> NDArray[np.float32]:
        """Distance along the ray [m]; `images["range"]` has fractions of the greatest range if normalized."""
        return self._in_unit("range")

    @property
    def points(self) -> NDArray[Any]:
        """End points of rays, (..., 3); zeros where nothing was measured.

        In the sensor frame float32, in the unit of the range; in the world float64 [m].
        """
        return self._image("points")

    @property
    def segmentation(self) -> NDArray[np.int32]:
        """Label of the surface in each pixel, 0 unlabeled, -1 nothing."""
        return self._image("segmentation")

    @property
    def normals(self) -> NDArray[np.float32]:
        """Unit normal of the surface in each pixel, on the camera's side, (..., 3); zeros for nothing."""
        return self._image("normals")

    @property
    def object_id(self) -> NDArray[np.int32]:
        """Number of the object in each pixel, in the scene's order from 0, -1 for nothing."""
        return self._image("object_id")

    @property
    def face_id(self) -> NDArray[np.int32]:
        """Triangle of the object's mesh, -1 for nothing."""
        return self._image("face_id")

    @property
    def flow(self) -> NDArray[np.float32]:
        """Image motion of the surface in each pixel since the previous image, to the right and down [px], (..., 2).

        In the previous image the surface was at the pixel minus the flow. Zeros for nothing.
        """
        return self._image("flow")

    @property
    def scene_flow(self) -> NDArray[np.float32]:
        """Velocity of the surface in each pixel [m/s], (..., 3); zeros for nothing.

        In the sensor frame it is relative to the moving camera; in the world it is that of the point itself.
        """
        return self._image("scene_flow")

    @property
    def color(self) -> NDArray[np.uint8]:
        """Red, green and blue of the surface in each pixel under a simple light, (..., 3); black for nothing."""
        return self._image("color")

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Whether a pixel of depth or range has a measurement within the limits."""
        shown = self.images.get("depth", self.images.get("range"))
        if shown is None:
            raise SpecError(f"valid is of depth or range, and the outputs are {', '.join(self.images)}; ask for one")
        no_measurement = [np.float32(value) for value in (self.near, self.far, self.dropped)]
        return ~np.isin(shown, no_measurement)

    def in_meters(self, shown: NDArray[np.float32]) -> NDArray[np.float32]:
        """Depth or range, or a part of it, in meters, with the special values of ROS (REP 118).

        Minus infinity is too near, infinity too far or nothing, NaN no measurement.
        """
        return in_meters(shown, self.scale_m, ((self.far, np.inf), (self.near, -np.inf), (self.dropped, np.nan)))

    def without(self, mask: NDArray[np.bool_]) -> "DepthImage":
        """The same, empty in the masked worlds, shape (worlds,)."""
        nothing = {"depth": self.far, "range": self.far, "segmentation": -1, "object_id": -1, "face_id": -1}
        images = {
            name: np.where(mask.reshape(-1, *(1,) * (image.ndim - 1)), image.dtype.type(nothing.get(name, 0)), image)
            for name, image in self.images.items()
        }
        return replace(self, images=images)

    def _in_unit(self, name: str) -> NDArray[np.float32]:
        if self.scale_m != 1.0:
            shares = f"images[{name!r}] has the shares, and in_meters(images[{name!r}]) the distances"
            raise SpecError(f"{name}_m is asked of an image of shares of {self.scale_m:g} m (`normalize`); {shares}")
        return self._image(name)

    def _image(self, name: str) -> NDArray[Any]:
        if name not in self.images:
            raise SpecError(f"{name} is not among the outputs, {', '.join(self.images)}; ask for it in `outputs`")
        return self.images[name]
