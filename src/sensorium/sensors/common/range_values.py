"""What images of ranges show: meters or shares, and values for no distance."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class ShowsRanges(Protocol):
    """The specification of a sensor whose images show ranges."""

    min_range_m: float
    max_range_m: float
    near_value_m: float | None
    far_value_m: float | None

    @property
    def normalize(self) -> bool | None:
        """Whether they are shares of the greatest range."""


class RangeValues(NamedTuple):
    """Values for no distance, and the unit."""

    near_m: float
    """Value below the least range [m]; by default minus the greatest range."""
    far_m: float
    """Value without a hit up to the greatest range [m]; by default that range."""
    scale_m: float
    """One unit of an image [m]: 1, or the greatest range if images are normalized."""


def range_values(spec: ShowsRanges) -> RangeValues:
    """Settings of a sensor's images."""
    near_m = -spec.max_range_m if spec.near_value_m is None else spec.near_value_m
    far_m = spec.max_range_m if spec.far_value_m is None else spec.far_value_m
    return RangeValues(near_m, far_m, spec.max_range_m if spec.normalize else 1.0)


def check_range_values(spec: ShowsRanges) -> None:
    """Raise ValueError if a value for no distance could also be a distance."""
    for name, value in (("near_value_m", spec.near_value_m), ("far_value_m", spec.far_value_m)):
        if value is not None and spec.min_range_m < value < spec.max_range_m:
            raise ValueError(
                f"{name} is {value} with ranges from {spec.min_range_m} to {spec.max_range_m}; "
                "between these it could not be told from a distance"
            )


def in_meters(
    shown: NDArray[np.float32], scale_m: float, meanings: Iterable[tuple[float, float]]
) -> NDArray[np.float32]:
    """Ranges of an image in meters.

    Args:
        shown: Ranges or depths as the image has them, any shape.
        scale_m: One unit of the image [m].
        meanings: Values that are no distance, in the unit of the image, and their replacements; later ones win.
    """
    distance_m = np.array(shown * np.float32(scale_m))
    for value, meant in meanings:
        distance_m[shown == np.float32(value)] = meant
    return distance_m
