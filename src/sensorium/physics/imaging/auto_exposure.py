"""Automatic exposure: a loop from image to image that brings the metered level to a target.

The image before gives the error of the exposure in stops, log2(target / level). A share of it, the speed, is corrected
in the next image: with levels that follow the exposure the error shrinks by 1 - speed an image. Exposure time changes
first; when it is at its longest, gain is raised, since gain amplifies noise too. A saturated image gives only a lower
bound of its error and a black one none at all, so a change is bounded.
"""

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, ConfigDict, Field, PositiveFloat, model_validator

from sensorium.core.spec import Spec


def _ordered(region: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    left, top, right, bottom = region
    if not (left < right and top < bottom):
        raise ValueError(f"region is {region}; left must be less than right, and top less than bottom")
    return region


Share = Annotated[float, Field(ge=0.0, le=1.0)]
Region = Annotated[tuple[Share, Share, Share, Share], AfterValidator(_ordered)]
"""Left, top, right and bottom as shares of width and height, 0 at the top left."""

WHOLE: Region = (0.0, 0.0, 1.0, 1.0)
"""All of the image."""


def region_of(region: Region, rows: int, columns: int) -> tuple[slice, slice]:
    """Rows and columns of the pixels that a region touches, at least one of each."""
    left, top, right, bottom = region
    return _touched(top, bottom, rows), _touched(left, right, columns)


def _touched(first: float, last: float, count: int) -> slice:
    start = min(math.floor(first * count), count - 1)
    return slice(start, max(math.ceil(last * count), start + 1))


def metered_level(shares: NDArray[np.float32], percentile: float | None) -> float:
    """Level of pixels [1]: their mean, or a percentile.

    Args:
        shares: Pixels as shares of full scale, any shape.
        percentile: 0 to 100; None is the mean.
    """
    if percentile is None:
        return float(shares.mean(dtype=np.float64))
    return float(np.percentile(shares, percentile))


class AutoExposure(Spec):
    """Automatic control of exposure time and gain.

    It starts with the camera's `exposure_s` and gain 1, again at each reset. Levels are shares of full scale before
    white balance and gamma.
    """

    model_config = ConfigDict(frozen=True)

    target: float = Field(default=0.18, gt=0.0, lt=1.0)
    """Target level of metered pixels [1]; 0.18 is a gray card relative to white."""
    percentile: float | None = Field(default=None, gt=0.0, le=100.0)
    """Which percentile of the pixels is the level; None is their mean. 99 with a target of 0.9 spares highlights."""
    region: Region = WHOLE
    """Part of the image that is metered: left, top, right, bottom as shares of it."""
    speed: float = Field(default=0.5, gt=0.0, le=1.0)
    """Share of the error in stops that the next image makes up for [1]."""
    max_step_stops: PositiveFloat = 3.0
    """Most that an image differs from the one before; 1 stop is a factor of 2."""
    min_exposure_s: PositiveFloat = 1e-6
    """Shortest exposure time [s]."""
    max_exposure_s: PositiveFloat
    """Longest exposure time [s]; images arrive when the longest would have ended."""
    max_gain: float = Field(default=1.0, ge=1.0)
    """Most gain, on top of the camera's own [1]."""

    @model_validator(mode="after")
    def _check(self) -> "AutoExposure":
        if self.min_exposure_s > self.max_exposure_s:
            raise ValueError(
                f"min_exposure_s is {self.min_exposure_s} and max_exposure_s {self.max_exposure_s}; "
                "the first must not be the greater"
            )
        return self


def next_exposure(auto: AutoExposure, level: float, *, exposure_s: float, gain: float) -> tuple[float, float]:
    """Exposure time [s] and gain [1] of the next image.

    Args:
        auto: Target, speed and limits.
        level: Of this image [1], see `metered_level`.
        exposure_s: Exposure time of this image [s].
        gain: Its gain [1].
    """
    stops = auto.max_step_stops
    if level > 0.0:
        stops = min(max(auto.speed * math.log2(auto.target / level), -stops), stops)
    wanted_s = exposure_s * gain * 2.0**stops
    time_s = min(max(wanted_s, auto.min_exposure_s), auto.max_exposure_s)
    return time_s, min(max(wanted_s / time_s, 1.0), auto.max_gain)
