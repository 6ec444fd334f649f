"""Metering: the part of an image that automatic controls use, and its level."""

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field


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
