"""Properties of a sensor that differ between worlds: its mount and, for a depth camera, its optics."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict, Field, model_validator

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.patterns import Fisheye, Pinhole, fisheye, pinhole

Triple = tuple[float, float, float]
Projection = Annotated[Pinhole | Fisheye, Field(discriminator="kind")]


class Placement(Spec):
    """A pose N to S drawn evenly between limits, added to the nominal pose on the body: X_BS = X_BN X_NS.

    X_NS moves along the axes of the nominal frame N (x forward, y left, z up), then turns: R = Rz(yaw) Ry(pitch)
    Rx(roll), the convention of `Pose.from_euler_deg`; positive pitch looks down.
    """

    model_config = ConfigDict(frozen=True)

    min_translation_m: Triple = (0.0, 0.0, 0.0)
    """Least along x, y and z [m]."""
    max_translation_m: Triple = (0.0, 0.0, 0.0)
    """Greatest [m]."""
    min_rotation_deg: Triple = (0.0, 0.0, 0.0)
    """Least roll, pitch and yaw [deg]."""
    max_rotation_deg: Triple = (0.0, 0.0, 0.0)
    """Greatest [deg]."""

    @model_validator(mode="after")
    def _ordered(self) -> "Placement":
        for name in ("translation_m", "rotation_deg"):
            least, most = getattr(self, f"min_{name}"), getattr(self, f"max_{name}")
            if any(a > b for a, b in zip(least, most, strict=True)):
                raise ValueError(f"min_{name} is {least} and max_{name} {most}; the first must not be the greater")
        return self


class Intrinsics(Spec):
    """Field of view and principal point drawn evenly between limits."""

    model_config = ConfigDict(frozen=True)

    fov_deg: tuple[float, float] | None = None
    """Least and greatest horizontal field of view, from edge to edge [deg]; None is that of the pattern. fy follows fx
    in proportion."""
    min_shift_px: tuple[float, float] = (0.0, 0.0)
    """Least shift of the principal point to the right and down [px]."""
    max_shift_px: tuple[float, float] = (0.0, 0.0)
    """Greatest [px]."""

    @model_validator(mode="after")
    def _ordered(self) -> "Intrinsics":
        if self.fov_deg is not None and not 0.0 < self.fov_deg[0] <= self.fov_deg[1] < 360.0:
            raise ValueError(f"fov_deg is {self.fov_deg}; it must rise, between 0 and 360")
        if any(a > b for a, b in zip(self.min_shift_px, self.max_shift_px, strict=True)):
            raise ValueError(
                f"min_shift_px is {self.min_shift_px} and max_shift_px {self.max_shift_px}; "
                "the first must not be the greater"
            )
        return self


class Randomization(Spec):
    """Distributions that are drawn separately for each sensor of each world, and the times of drawing.

    A depth camera draws any of these; a lidar has no lens and draws its placement.
    """

    model_config = ConfigDict(frozen=True)

    when: Literal["reset", "step"] = "reset"
    """At the start and at resets of a world, or at every image or sweep."""
    placement: Placement | None = None
    intrinsics: Intrinsics | None = None
    projections: tuple[Projection, ...] = ()
    """Lenses to choose from with equal chances, in place of the camera's pattern; as many pixels each."""
    ray_jitter_rad: float = Field(default=0.0, ge=0.0, le=0.1)
    """Standard deviation of a turn that each ray has by itself, about any axis across it [rad]."""

    def check_without_lens(self) -> None:
        """Raise ValueError for distributions that a lidar does not support."""
        if self.placement is None:
            raise ValueError("randomize has no placement; a lidar must have one, it draws nothing else")
        if self.ray_jitter_rad:
            raise ValueError(
                f"randomize.ray_jitter_rad is {self.ray_jitter_rad}; rays of a lidar go astray by noise.angle_std_rad"
            )
        if self.intrinsics is not None or self.projections:
            name = "projections" if self.intrinsics is None else "intrinsics"
            raise ValueError(f"randomize.{name} is given; a lidar has no lens, it must draw its placement alone")

    def check(self, pattern: Pinhole | Fisheye) -> None:
        """Raise ValueError where a camera of this pattern could be drawn that does not exist."""
        for lens in self.projections:
            if (lens.width, lens.height) != (pattern.width, pattern.height) or lens.line_time_s != pattern.line_time_s:
                raise ValueError(
                    f"randomize.projections has {lens.width} x {lens.height} pixels, {lens.line_time_s} s a line; "
                    f"it must have those of the pattern, {pattern.width} x {pattern.height}, {pattern.line_time_s} s"
                )
        if self.intrinsics is None:
            return
        # The widest lens shifted the farthest must still have rays for all its pixels
        for lens in self.projections or (pattern,):
            fields = lens.model_dump()
            wide = None if self.intrinsics.fov_deg is None else self.intrinsics.fov_deg[1]
            if wide is not None:
                if isinstance(lens, Pinhole) and wide >= 180.0:
                    raise ValueError(f"randomize.intrinsics.fov_deg reaches {wide}; a pinhole's must stay below 180")
                if isinstance(lens, Fisheye):
                    fisheye.check_turn(wide, lens.distortion)
                focal = float(focal_of_fov(lens, wide))
                fields["focal_px"] = (focal, focal * lens.focal_px[1] / lens.focal_px[0])
            # An image that covers all principal points is larger by their range
            shift = np.array([self.intrinsics.min_shift_px, self.intrinsics.max_shift_px])
            fields["center_px"] = tuple(np.array(lens.center) + shift[0])
            shifted = type(lens).model_validate(fields)
            low_px, high_px = pinhole.image_edges(shifted)
            low_px = low_px - (shift[1] - shift[0])
            try:
                if isinstance(shifted, Fisheye):
                    fisheye.check_field(shifted, low_px, high_px)
                else:
                    pinhole.check_field(shifted, low_px, high_px)
            except SpecError as error:
                raise ValueError(f"randomize.intrinsics: {error}") from None


def focal_of_fov(lens: Pinhole | Fisheye, fov_deg: ArrayLike) -> NDArray[np.float64]:
    """The fx [px] that gives a lens a horizontal field of view [deg], from edge to edge, any shape."""
    if isinstance(lens, Pinhole):
        return pinhole.focal_of_fov(lens.width, fov_deg)
    return fisheye.focal_of_fov(lens.width, fov_deg, lens.distortion)
