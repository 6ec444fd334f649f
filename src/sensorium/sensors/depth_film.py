"""Arrays of drawn images and the kernel that fills them, both used again once nobody holds the images any more."""

import operator
from collections.abc import Callable
from typing import Any

from sensorium import threads
from sensorium.blocks import Prepared
from sensorium.recycling import Pool
from sensorium.trace.depth import DepthOutputs, depth_images


class Film:
    """Arrays for images of all heads."""

    def __init__(self, outputs: DepthOutputs) -> None:
        self.outputs = outputs
        self.cast: Prepared | None = None
        """The kernel that fills them, with all its arguments."""

    def load(self, *arguments: Any) -> Prepared:
        """Prepare the kernel, these outputs among its arguments."""
        self.cast = threads.prepared(depth_images, *arguments)
        return self.cast


class Films:
    """A few films that are used in turn."""

    def __init__(self) -> None:
        self._films: Pool[Film] = Pool(holders=1)
        self._tables: tuple[object, ...] = ()

    def free(self, new_outputs: Callable[[], DepthOutputs]) -> Film:
        """A film whose images nobody holds any more, or a new one."""
        film = self._films.free()
        if film is None:
            film = Film(new_outputs())
            self._films.take_in(film, tuple(array for array in film.outputs if array.shape[1]))
        return film

    def unload_unless(self, *tables: object) -> None:
        """Forget kernels that were prepared for other tables than these very objects, and with them what these hold."""
        if len(tables) != len(self._tables) or not all(map(operator.is_, tables, self._tables)):
            self._tables = tables
            for film in self._films.things:
                film.cast = None
