"""Pools of arrays, and of objects made of arrays, that are used again once nothing else refers to them.

Page faults of a new array of several megabytes take an eighth of a lidar's sweep. Pools keep arrays; Python's reference
count shows whether other code still holds an array or a view of it.
"""

import sys
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

# Cap on the arrays of one kind: a user who keeps every reading gets new arrays
_CAP = 4


class _Kept(NamedTuple, Generic[T]):
    """An object and its arrays."""

    arrays: tuple[NDArray[Any], ...]
    thing: T


class Pool(Generic[T]):
    """A few objects made of arrays, handed out again when free.

    Their arrays still hold old values: every element must be written.
    """

    def __init__(self, *, holders: int) -> None:
        """Start empty.

        Args:
            holders: References to each array that belong to the object itself, such as its own attribute.
        """
        self._holders = holders + 1  # the tuple of its arrays
        self._kept: list[_Kept[T]] = []

    @property
    def is_full(self) -> bool:
        """Whether the cap is reached."""
        return len(self._kept) >= _CAP

    @property
    def things(self) -> list[T]:
        """All objects in the pool, in use or not."""
        return [kept.thing for kept in self._kept]

    def free(self) -> T | None:
        """An object whose arrays are not referenced elsewhere, or None."""
        for kept in self._kept:
            if not is_referenced_elsewhere(kept.arrays, holders=self._holders):
                return kept.thing
        return None

    def add(self, thing: T, arrays: tuple[NDArray[Any], ...]) -> T:
        """Add a new object unless the cap is reached; returns the object."""
        if not self.is_full:
            self._kept.append(_Kept(arrays, thing))
        return thing


class Recycler:
    """Hands out arrays that may hold old values: every element must be written."""

    def __init__(self) -> None:
        self._pools: dict[tuple[tuple[int, ...], type[np.generic]], Pool[NDArray[Any]]] = {}

    def array(self, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
        """A free array from the pool, or a new one."""
        pool = self._pools.get((shape, dtype))
        if pool is None:
            pool = self._pools[shape, dtype] = Pool(holders=1)
        array = pool.free()
        if array is None:
            array = np.empty(shape, dtype)
            pool.add(array, (array,))
        return array


def is_referenced_elsewhere(arrays: tuple[NDArray[Any], ...], *, holders: int) -> bool:
    """Whether any of these arrays, or a view of it, is referenced beyond the caller's own references.

    Args:
        arrays: The arrays.
        holders: The caller's own references to each array, this tuple included. Count containers only: a later Python
            may hold local variables without a reference.
    """
    return max(map(sys.getrefcount, arrays)) >= _ONE_HOLDER + holders


# Reference count of an object with one holder: it differs between versions of Python, so it is measured
_ONE_HOLDER = max(map(sys.getrefcount, (np.zeros(1),)))
