"""Sample points of the pupil."""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError

# Turns from point to point: the golden section of half a turn, as each point has an opposite
_TURN = math.pi * (3.0 - math.sqrt(5.0)) / 2.0


def pupil_points(count: int, sets: int = 1) -> NDArray[np.float64]:
    """Points (x, y) of the unit disc [1], shape (sets, count, 2), each for an equal area.

    All sets together are on a spiral of golden angles; within each set every point has its opposite, so the mean is
    exactly 0, and over all sets the mean square radius is exactly 1/2. A single point is the middle.

    Args:
        count: Points of a set: 1 or an even number.
        sets: How many different sets.
    """
    if count < 1 or sets < 1 or (count > 1 and count % 2):
        raise SpecError(f"count is {count} and sets {sets}; points are 1 or an even number, sets at least 1")
    if count == 1:
        return np.zeros((sets, 1, 2))
    half = sets * count // 2
    number = np.arange(half)
    radius, angle = np.sqrt((number + 0.5) / half), number * _TURN
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    dealt = points.reshape(count // 2, sets, 2).transpose(1, 0, 2)
    return np.concatenate([dealt, -dealt], axis=1)
