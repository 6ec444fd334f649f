"""A raster: rays on a regular grid of azimuth and elevation."""

import functools
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from sensorium.patterns import base
from sensorium.patterns.base import AbstractSteadyPattern, RayTable, SweepRate


class Raster(AbstractSteadyPattern):
    """Rays on a grid of equal angles: row 0 is the top, column 0 the left edge.

    Column j looks at azimuth max - (max - min) j / (width - 1), row i likewise at its elevation; over a
    horizontal 360 degrees the divisor is the width, so that no column is fired twice. One row or one column
    takes the middle angle.

    With firing "rows" all rays of row i fire together at i T / height, with "columns" those of column j at
    j T / width, where T is scan_time_s; with "instant" all fire at 0.

    >>> pattern = sn.patterns.Raster(
    ...     height=32, width=64, horizontal_fov_deg=(-30, 30), vertical_fov_deg=(-10, 10), rate_hz=20, firing="rows"
    ... )
    >>> pattern.rays().direction_S.shape
    (32, 64, 3)
    """

    kind: Literal["raster"] = "raster"
    height: int = Field(gt=0)
    """Rows."""
    width: int = Field(gt=0)
    """Columns."""
    horizontal_fov_deg: tuple[float, float]
    """Azimuth (min, max) [deg], positive to the left; at most 360 apart."""
    vertical_fov_deg: tuple[float, float]
    """Elevation (min, max) [deg], positive up; inside [-90, 90]."""
    rate_hz: SweepRate
    """Sweeps per second [Hz]."""
    firing: Literal["instant", "rows", "columns"] = "instant"
    """Rays that fire together."""
    scan_time_s: float | None = Field(default=None, gt=0.0)
    """Time T that the rows or columns share [s], at most 1 / rate_hz; None is all of it."""

    @model_validator(mode="after")
    def _check(self) -> "Raster":
        base.check_ray_count(self.height * self.width)

        # Several rows or columns need a field of view above 0.
        for name, count, axis in (
            ("horizontal_fov_deg", self.width, "width"),
            ("vertical_fov_deg", self.height, "height"),
        ):
            low, high = getattr(self, name)
            if low > high or (low == high and count > 1):
                raise ValueError(f"{name} is ({low}, {high}); min must be less than max when {axis} is {count}")
        low, high = self.horizontal_fov_deg
        if high - low > 360.0 and not base.is_full_turn(high - low):
            raise ValueError(f"horizontal_fov_deg spans {high - low} degrees; at most 360 are allowed")
        low, high = self.vertical_fov_deg
        if low < -90.0 or high > 90.0:
            raise ValueError(f"vertical_fov_deg is ({low}, {high}); it must stay in [-90, 90]")

        # The scan ends before the next one starts.
        if self.scan_time_s is not None:
            if self.firing == "instant":
                raise ValueError(f"scan_time_s is {self.scan_time_s}; leave it out when firing is 'instant'")
            if self.scan_time_s * self.rate_hz > 1.0 + 1e-12:
                raise ValueError(
                    f"scan_time_s is {self.scan_time_s}; it must not exceed one sweep, {1.0 / self.rate_hz} s"
                )
        return self

    def _table(self) -> RayTable:
        return _rays(self)


@functools.lru_cache(maxsize=64)
def _rays(pattern: Raster) -> RayTable:
    # Where: top to bottom, left to right.
    phi = np.radians(base.spread_deg(pattern.horizontal_fov_deg[1], pattern.horizontal_fov_deg[0], pattern.width))
    theta = np.radians(base.spread_deg(pattern.vertical_fov_deg[1], pattern.vertical_fov_deg[0], pattern.height))
    direction_S = base.directions(phi[None, :], theta[:, None])

    # When: each row, each column, or all at once.
    scan_s = 1.0 / pattern.rate_hz if pattern.scan_time_s is None else pattern.scan_time_s
    time_s = np.zeros((pattern.height, pattern.width))
    if pattern.firing == "rows":
        time_s += (scan_s / pattern.height * np.arange(pattern.height))[:, None]
    elif pattern.firing == "columns":
        time_s += (scan_s / pattern.width * np.arange(pattern.width))[None, :]
    return base.ray_table(direction_S, time_s, rate_hz=pattern.rate_hz)
