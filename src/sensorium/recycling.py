"""Arrays for readings, used again once nobody holds them.

A fresh array of megabytes costs the operating system's page faults, which for a lidar are an eighth of the sweep. A
reading's arrays, or those they are views of, are kept here; Python's reference count tells when nobody else has them.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_KEPT = 4
"""More than a few of a kind would be hoarding: a user who keeps every reading gets new arrays."""

# Our own references to an array that is looked at: the list of those kept, the loop over it, and the tuple of one
_HOLDERS = 3


class Recycler:
    """Hands out arrays whose content is left over from earlier ones: every element must be written."""

    def __init__(self) -> None:
        self._kept: dict[tuple[tuple[int, ...], type[np.generic]], list[NDArray[Any]]] = {}

    def array(self, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
        """An array that nobody else sees any more, or a new one."""
        kept = self._kept.setdefault((shape, dtype), [])
        for array in kept:
            if not held_elsewhere((array,), holders=_HOLDERS):
                return array
        array = np.empty(shape, dtype)
        if len(kept) < MOST_KEPT:
            kept.append(array)
        return array


def held_elsewhere(arrays: tuple[NDArray[Any], ...], *, holders: int) -> bool:
    """Whether anybody refers to any of these arrays, or has a view of it, but so many holders that the caller knows.

    Args:
        arrays: The arrays.
        holders: References to each that are the caller's own, that of this tuple included.
    """
    return max(map(sys.getrefcount, arrays)) >= _ONE_HOLDER + holders


# References that are counted where there is one holder; differs between versions of Python, so it is not assumed
_ONE_HOLDER = max(map(sys.getrefcount, (np.zeros(1),)))
