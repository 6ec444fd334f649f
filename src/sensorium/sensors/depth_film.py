"""Arrays of drawn images and the kernel that fills them, both used again once nobody holds the images any more."""

import operator
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from sensorium.blocks import Prepared
from sensorium.recycling import MOST_KEPT, held_elsewhere
from sensorium.trace.depth import DepthOutputs, depth_images

# What refers to the arrays of a film that nobody else has: its outputs, and the tuple of those filled
_HOLDERS = 2


class Film:
    """Arrays for images of all heads."""

    def __init__(self, outputs: DepthOutputs) -> None:
        self.outputs = outputs
        self.filled: tuple[NDArray[Any], ...] = tuple(array for array in outputs if array.shape[1])
        """Those of them that have pixels."""
        self._tables: tuple[object, ...] = ()
        self.cast: Callable[..., None] = _not_loaded
        """The kernel that fills them."""

    def is_loaded(self, tables: tuple[object, ...]) -> bool:
        """Whether the kernel's arguments are those for such tables: as long as these are the very same objects."""
        return len(self._tables) == len(tables) and all(map(operator.is_, tables, self._tables))

    def load(self, tables: tuple[object, ...], arguments: tuple[Any, ...]) -> None:
        """Prepare the kernel.

        Args:
            tables: What decides its arguments.
            arguments: They themselves, these outputs among them.
        """
        self._tables, self.cast = tables, Prepared(depth_images, *arguments)


def _not_loaded(*arguments: Any) -> None:
    raise AssertionError("load() comes first")


class Films:
    """Some films that are used in turn."""

    def __init__(self, new_outputs: Callable[[], DepthOutputs]) -> None:
        self._new_outputs = new_outputs
        self._films: list[Film] = []

    def free(self) -> Film:
        """A film whose images nobody holds any more, or a new one."""
        for film in self._films:
            if not held_elsewhere(film.filled, holders=_HOLDERS):
                return film
        film = Film(self._new_outputs())
        if len(self._films) < MOST_KEPT:
            self._films.append(film)
        return film
