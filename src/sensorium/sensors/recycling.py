"""Arrays for readings, used again once nobody holds them.

A fresh array of megabytes costs the operating system's page faults, which for a lidar are an eighth of the sweep. A
reading's arrays, or those they are views of, are kept here; Python's reference count tells when nobody else has them.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

# more than a few of a kind would be hoarding: a user who keeps every reading gets new arrays
_MOST = 4


class Recycler:
    """Hands out arrays whose content is left over from earlier ones: every element must be written."""

    def __init__(self) -> None:
        self._kept: dict[tuple[tuple[int, ...], type[np.generic]], list[NDArray[Any]]] = {}

    def array(self, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
        """An array that nobody else sees any more, or a new one."""
        kept = self._kept.setdefault((shape, dtype), [])
        for array in kept:
            if sys.getrefcount(array) == _ours:
                return array
        array = np.empty(shape, dtype)
        if len(kept) < _MOST:
            kept.append(array)
        return array


def _count_our_own() -> int:
    """References to an array that nobody else holds, counted in a loop over a list like the one above."""
    for array in [np.zeros(1)]:
        return sys.getrefcount(array)
    raise AssertionError


# differs between versions of Python, so it is counted and not assumed
_ours = _count_our_own()
