"""Arrays that are used again once nobody holds them: those of readings, and whatever is made of arrays.

A fresh array of megabytes costs the operating system's page faults, which for a lidar are an eighth of the sweep. Here
arrays are kept; Python's reference count tells when nobody else has one, or a view of it.
"""

import sys
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

# More than a few of a kind would be hoarding: a user who keeps every reading gets new arrays
_MOST_KEPT = 4


class _Kept(NamedTuple, Generic[T]):
    """A thing, and the arrays that it is made of."""

    arrays: tuple[NDArray[Any], ...]
    thing: T


class Pool(Generic[T]):
    """A few things that are made of arrays, used in turn.

    What is left in their arrays is of earlier use: every element must be written.
    """

    def __init__(self, *, holders: int) -> None:
        """Keep none yet.

        Args:
            holders: References to each array that a thing itself is the reason for, such as its own attribute.
        """
        self._holders = holders + 1  # the tuple of its arrays
        self._kept: list[_Kept[T]] = []

    @property
    def is_full(self) -> bool:
        """Whether no more will be kept."""
        return len(self._kept) >= _MOST_KEPT

    @property
    def things(self) -> list[T]:
        """All that are kept, held or not."""
        return [kept.thing for kept in self._kept]

    def free(self) -> T | None:
        """A thing whose arrays nobody holds, if there is one."""
        for kept in self._kept:
            if not held_elsewhere(kept.arrays, holders=self._holders):
                return kept.thing
        return None

    def take_in(self, thing: T, arrays: tuple[NDArray[Any], ...]) -> T:
        """Keep a new thing, if there is room; the same thing."""
        if not self.is_full:
            self._kept.append(_Kept(arrays, thing))
        return thing


class Recycler:
    """Hands out arrays whose content is left over from earlier ones: every element must be written."""

    def __init__(self) -> None:
        self._pools: dict[tuple[tuple[int, ...], type[np.generic]], Pool[NDArray[Any]]] = {}

    def array(self, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
        """An array that nobody else sees any more, or a new one."""
        pool = self._pools.get((shape, dtype))
        if pool is None:
            pool = self._pools[shape, dtype] = Pool(holders=1)
        array = pool.free()
        if array is None:
            array = np.empty(shape, dtype)
            pool.take_in(array, (array,))
        return array


def held_elsewhere(arrays: tuple[NDArray[Any], ...], *, holders: int) -> bool:
    """Whether anybody refers to any of these arrays, or has a view of it, but so many holders that the caller knows.

    Args:
        arrays: The arrays.
        holders: References to each that are the caller's own, that of this tuple included. Only those of containers
            count: a later Python may hold variables of functions without a reference.
    """
    return max(map(sys.getrefcount, arrays)) >= _ONE_HOLDER + holders


# References that are counted where there is one holder; differs between versions of Python, so it is not assumed
_ONE_HOLDER = max(map(sys.getrefcount, (np.zeros(1),)))
