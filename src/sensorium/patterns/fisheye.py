"""A fisheye camera's rays."""

import functools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from sensorium.core.errors import SpecError
from sensorium.patterns.base import AbstractSteadyPattern, Float64, RayTable, SweepRate, ray_table
from sensorium.patterns.pinhole import (
    Coefficient,
    Pixels,
    Place,
    check_fov,
    check_image,
    image_edges,
    middle,
    pixel_grid,
    row_times_s,
)


class Fisheye(AbstractSteadyPattern):
    """One ray through the middle of each pixel of a lens after Kannala and Brandt, as in OpenCV's fisheye model.

    With x = (u - cx) / fx, y = (v - cy) / fy and r = |(x, y)|, pixel (u, v) looks at the angle t to the axis where
    r = t + k1 t^3 + k2 t^5 + k3 t^7 + k4 t^9. Without coefficients the lens is equidistant. Frames are
    those of `Pinhole`. Every pixel must look at most 180 degrees off the axis.

    >>> pattern = sn.patterns.Fisheye.from_fov(640, 640, 200.0, rate_hz=30)
    >>> round(pattern.focal_px[0], 3)  # pixels a radian
    183.346
    """

    kind: Literal["fisheye"] = "fisheye"
    width: int = Field(gt=0)
    """Columns."""
    height: int = Field(gt=0)
    """Rows."""
    focal_px: tuple[Pixels, Pixels]
    """fx, fy [px]; that of an equidistant lens is pixels a radian."""
    center_px: tuple[Place, Place] | None = None
    """Principal point cx, cy [px]; None is the middle."""
    distortion: tuple[Coefficient, Coefficient, Coefficient, Coefficient] = (0.0, 0.0, 0.0, 0.0)
    """k1, k2, k3, k4 [1]."""
    rate_hz: SweepRate
    """Images per second [Hz]."""
    line_time_s: float = Field(default=0.0, ge=0.0)
    """Time from row to row [s]; 0 fires all at once."""

    @model_validator(mode="after")
    def _check(self) -> "Fisheye":
        check_image(self.width, self.height, self.line_time_s, self.rate_hz)
        try:
            check_field(self, *image_edges(self))
        except SpecError as error:
            raise ValueError(str(error)) from None
        return self

    @classmethod
    def from_fov(cls, width: int, height: int, horizontal_fov_deg: float, **options: Any) -> "Fisheye":
        """Square pixels and a horizontal field of view: f = (width / 2) / r(hfov / 2).

        Args:
            width, height: Pixels.
            horizontal_fov_deg: From edge to edge [deg], between 0 and 360; corners may look 180 degrees off the axis.
            options: Further fields; r is the lens's own where `distortion` is among them.
        """
        check_fov(width, height, horizontal_fov_deg, below_deg=360.0)
        narrow = cls.model_validate({"width": width, "height": height, "focal_px": (1e9, 1e9), **options})
        check_turn(horizontal_fov_deg, narrow.distortion)
        focal = float(focal_of_fov(width, horizontal_fov_deg, narrow.distortion))
        return cls.model_validate({"width": width, "height": height, "focal_px": (focal, focal), **options})

    @property
    def center(self) -> tuple[float, float]:
        """Principal point [px]."""
        return middle(self.width, self.height) if self.center_px is None else self.center_px

    def _table(self) -> RayTable:
        return _rays(self)


def check_turn(horizontal_fov_deg: float, distortion: Sequence[float]) -> None:
    """Raise SpecError where r(t) of a lens has turned back before the edges of a field of view."""
    from sensorium.physics.optics.lenses.kannala_brandt import turning_angle  # as below

    most_deg = 2.0 * float(np.degrees(min(turning_angle(distortion), np.pi)))
    if horizontal_fov_deg > most_deg:
        raise SpecError(
            f"horizontal_fov_deg is {horizontal_fov_deg} with distortion {tuple(distortion)}; "
            f"it must be at most {most_deg:.6g}, where that lens turns back"
        )


def check_field(pattern: Fisheye, low_px: Float64, high_px: Float64) -> None:
    """Raise SpecError where an image between two corners (u, v) [px] has pixels without a ray.

    The radius turns back before a corner, or the middle of a pixel looks farther than 180 degrees off the axis.
    """
    from sensorium.physics.optics.lenses.kannala_brandt import fisheye_angle, fisheye_radius, turning_angle  # as below

    center, focal = np.array(pattern.center), np.array(pattern.focal_px)

    def corner(inside_px: float) -> float:
        off = np.maximum(np.abs(low_px + inside_px - center), np.abs(high_px - inside_px - center)) / focal
        return float(np.hypot(*off))

    fisheye_angle(corner(0.5), pattern.distortion)
    turn = turning_angle(pattern.distortion)
    if turn < np.pi and corner(0.0) > fisheye_radius(turn, pattern.distortion):
        most = float(fisheye_radius(turn, pattern.distortion))
        raise SpecError(
            f"the corner of the image is at the radius {corner(0.0):.4g} f with distortion {pattern.distortion}; "
            f"it must be at most {most:.4g} f, where that lens turns back"
        )


def focal_of_fov(width: int, horizontal_fov_deg: ArrayLike, distortion: Sequence[float]) -> Float64:
    """Focal length [px] of a field of view from edge to edge [deg], any shape, with such coefficients of a lens."""
    # Here, not above: its compiled neighbors are slow to load
    from sensorium.physics.optics.lenses.kannala_brandt import fisheye_radius

    return np.asarray(0.5 * width / fisheye_radius(0.5 * np.radians(horizontal_fov_deg), distortion))


def directions_of(pattern: Fisheye, pixels: Float64) -> Float64:
    """Unit directions in S [1] of pixels (u, v), shape (*batch, 3)."""
    from sensorium.physics.optics.lenses.kannala_brandt import fisheye_angle  # as above

    xy = (pixels - np.array(pattern.center)) / np.array(pattern.focal_px)
    radius = np.hypot(xy[..., 0], xy[..., 1])
    angle = fisheye_angle(radius, pattern.distortion)
    outwards = xy * (np.sin(angle) / np.where(radius > 0.0, radius, 1.0))[..., None]
    return np.concatenate([np.cos(angle)[..., None], -outwards], axis=-1)


@functools.lru_cache(maxsize=16)
def _rays(pattern: Fisheye) -> RayTable:
    direction_S = directions_of(pattern, pixel_grid(pattern.width, pattern.height))
    time_s = row_times_s(pattern.width, pattern.height, pattern.line_time_s)
    return ray_table(direction_S, time_s, rate_hz=pattern.rate_hz)
