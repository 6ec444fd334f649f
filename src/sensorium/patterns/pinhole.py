"""A pinhole camera's rays, through a lens that may distort."""

import functools
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from sensorium.core.errors import SpecError
from sensorium.patterns import base
from sensorium.patterns.base import AbstractSteadyPattern, Float64, RayTable, SweepRate

if TYPE_CHECKING:
    from sensorium.patterns.fisheye import Fisheye

# Beyond these no lens is, and powers of image coordinates would overflow
Pixels = Annotated[float, Field(ge=1e-6, le=1e12)]
"""A focal length [px]."""
Place = Annotated[float, Field(ge=-1e9, le=1e9)]
"""A coordinate in the image [px]."""
Coefficient = Annotated[float, Field(ge=-1e6, le=1e6)]
"""Of a polynomial of a lens [1]."""


class Pinhole(AbstractSteadyPattern):
    """One ray through the middle of each pixel: row 0 is the top, column 0 the left edge.

    The sensor frame S looks along x, with y to the left and z up; image coordinates run to the right and down. Pixel
    (u, v) looks along (1, -x, -y) with x = (u - cx) / fx, y = (v - cy) / fy, where the middle of the first pixel is
    0, 0 as in OpenCV and ROS. With `distortion` x, y are those that Brown's polynomial carries to that pixel.

    >>> pattern = sn.patterns.Pinhole.from_fov(640, 480, 90.0, rate_hz=30)
    >>> round(pattern.focal_px[0], 6)
    320.0
    """

    kind: Literal["pinhole"] = "pinhole"
    width: int = Field(gt=0)
    """Columns."""
    height: int = Field(gt=0)
    """Rows."""
    focal_px: tuple[Pixels, Pixels]
    """fx, fy [px]."""
    center_px: tuple[Place, Place] | None = None
    """Principal point cx, cy [px]; None is the middle, ((width - 1) / 2, (height - 1) / 2)."""
    distortion: tuple[Coefficient, Coefficient, Coefficient, Coefficient, Coefficient] = (0.0, 0.0, 0.0, 0.0, 0.0)
    """k1, k2, p1, p2, k3 of Brown's model [1], as OpenCV and ROS' plumb_bob order them."""
    rate_hz: SweepRate
    """Images per second [Hz]."""
    line_time_s: float = Field(default=0.0, ge=0.0)
    """Time from row to row [s]; 0 fires all at once."""

    @model_validator(mode="after")
    def _check(self) -> "Pinhole":
        check_image(self.width, self.height, self.line_time_s, self.rate_hz)
        try:
            check_field(self, *image_edges(self))
        except SpecError as error:
            raise ValueError(str(error)) from None
        return self

    @classmethod
    def from_fov(cls, width: int, height: int, horizontal_fov_deg: float, **options: float) -> "Pinhole":
        """Square pixels and a horizontal field of view: f = (width / 2) / tan(hfov / 2).

        Args:
            width, height: Pixels.
            horizontal_fov_deg: From edge to edge [deg], between 0 and 180.
            options: Further fields.
        """
        check_fov(width, height, horizontal_fov_deg, below_deg=180.0)
        focal = float(focal_of_fov(width, horizontal_fov_deg))
        return cls.model_validate({"width": width, "height": height, "focal_px": (focal, focal), **options})

    @property
    def vertical_fov_deg(self) -> float:
        """From edge to edge without distortion [deg]."""
        return float(np.degrees(2.0 * np.arctan(0.5 * self.height / self.focal_px[1])))

    @property
    def center(self) -> tuple[float, float]:
        """Principal point [px]."""
        return middle(self.width, self.height) if self.center_px is None else self.center_px

    def _table(self) -> RayTable:
        return _rays(self)


def middle(width: int, height: int) -> tuple[float, float]:
    """Principal point in the middle of an image [px]."""
    return 0.5 * (width - 1), 0.5 * (height - 1)


def focal_of_fov(width: int, horizontal_fov_deg: ArrayLike) -> Float64:
    """Focal length [px] of a field of view from edge to edge without distortion [deg], any shape."""
    return np.asarray(0.5 * width / np.tan(0.5 * np.radians(horizontal_fov_deg)))


def check_fov(width: int, height: int, horizontal_fov_deg: float, *, below_deg: float) -> None:
    """Raise SpecError unless these are numbers of an image that can be, with a field of view below a limit [deg]."""
    for name, value in (("width", width), ("height", height), ("horizontal_fov_deg", horizontal_fov_deg)):
        try:
            bool(value > 0)
        except (TypeError, ValueError):
            raise SpecError(f"{name} is {value!r}, a {type(value).__name__}; it must be a number") from None
    for name, pixels in (("width", width), ("height", height)):
        if not pixels > 0:
            raise SpecError(f"{name} is {pixels}; it must be greater than 0")
    if not 0.0 < horizontal_fov_deg < below_deg:
        raise SpecError(f"horizontal_fov_deg is {horizontal_fov_deg}; it must be between 0 and {below_deg:g}")


def check_image(width: int, height: int, line_time_s: float, rate_hz: float) -> None:
    """Rules of every image: not too large, and read out before the next begins."""
    base.check_ray_count(width * height)
    if line_time_s * height * rate_hz > 1.0 + 1e-12:
        raise ValueError(
            f"line_time_s is {line_time_s}; {height} rows must fit into one image, {1.0 / rate_hz / height} s each"
        )


def pixel_grid(width: int, height: int) -> Float64:
    """Pixels (u, v) of an image [px], shape (height, width, 2)."""
    u, v = np.meshgrid(np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64))
    return np.stack([u, v], axis=-1)


def image_edges(pattern: "Pinhole | Fisheye") -> tuple[Float64, Float64]:
    """The outer corners of the first and of the last pixel (u, v) [px]."""
    return np.array([-0.5, -0.5]), np.array([pattern.width - 0.5, pattern.height - 0.5])


def check_field(pattern: Pinhole, low_px: Float64, high_px: Float64) -> None:
    """Raise SpecError where the lens folds an image between two corners (u, v) [px] over itself."""
    if any(pattern.distortion):
        from sensorium.physics.optics.lenses.brown import check_brown_field  # as below

        center, focal = np.array(pattern.center), np.array(pattern.focal_px)
        check_brown_field((low_px - center) / focal, (high_px - center) / focal, pattern.distortion)


def row_times_s(width: int, height: int, line_time_s: float) -> Float64:
    """When each pixel's ray is fired [s], shape (height, width)."""
    return np.broadcast_to(line_time_s * np.arange(height, dtype=np.float64)[:, None], (height, width))


def tangents(pattern: Pinhole, pixels: Float64) -> Float64:
    """Ideal image coordinates x, y (tangents of the angles to the axis) of pixels (u, v), shape (*batch, 2)."""
    seen = (pixels - np.array(pattern.center)) / np.array(pattern.focal_px)
    if not any(pattern.distortion):
        return seen
    # Here, not above: its compiled neighbors are slow to load
    from sensorium.physics.optics.lenses.brown import brown_ideal

    return brown_ideal(seen, pattern.distortion)


@functools.lru_cache(maxsize=16)
def _rays(pattern: Pinhole) -> RayTable:
    xy = tangents(pattern, pixel_grid(pattern.width, pattern.height))
    direction_S = np.concatenate([np.ones((*xy.shape[:2], 1)), -xy], axis=-1)
    direction_S /= np.linalg.norm(direction_S, axis=-1, keepdims=True)
    time_s = row_times_s(pattern.width, pattern.height, pattern.line_time_s)
    return base.ray_table(direction_S, time_s, rate_hz=pattern.rate_hz)
