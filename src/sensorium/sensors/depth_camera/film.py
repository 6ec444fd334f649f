"""Arrays of drawn images and the kernel that fills them, both used again once nobody holds the images any more."""

from collections.abc import Callable
from typing import Any

from sensorium.core.frames import Pose
from sensorium.runtime import threads
from sensorium.runtime.blocks import Prepared
from sensorium.runtime.recycling import Pool
from sensorium.tracing.kernels.depth.kernel import DepthOutputs, depth_images
from sensorium.tracing.placement.standing import Cameras


class Film:
    """Arrays for images of all heads, and for where their cameras were."""

    def __init__(self, outputs: DepthOutputs, cameras: Cameras) -> None:
        self.outputs, self.cameras = outputs, cameras
        self.cast: Prepared | None = None
        """The kernel that fills them, with all its arguments."""

    @property
    def X_WS(self) -> Pose:
        """Poses of the cameras; not to be looked at before the images are drawn."""
        return Pose._trusted(self.cameras.p_WS.view(), self.cameras.q_WS.view())  # which nobody can write through

    def load(self, *arguments: Any) -> Prepared:
        """Prepare the kernel, these arrays among its arguments."""
        self.cast = threads.prepared(depth_images, *arguments)
        return self.cast


class Films:
    """A few films that are used in turn."""

    def __init__(self) -> None:
        self._films: Pool[Film] = Pool(holders=1)
        self._tables: tuple[object, ...] = ()

    def free(self, new: Callable[[], Film]) -> Film:
        """A film whose images nobody holds any more, or a new one."""
        film = self._films.free()
        if film is None:
            film = new()
            arrays = (array for array in film.outputs if array.shape[1])
            self._films.add(film, (*arrays, film.cameras.p_WS, film.cameras.q_WS))
        return film

    def unload_unless(self, *tables: object) -> None:
        """Forget kernels that were prepared for other tables than these very objects, and with them what these hold."""
        for known, given in zip(self._tables or (None,), tables, strict=False):
            if known is not given:
                for film in self._films.things:
                    film.cast = None
                self._tables = tables  # last: should a signal raise meanwhile, the rest is forgotten the next time
                return
