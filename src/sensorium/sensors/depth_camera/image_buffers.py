"""Arrays of rasterized images and the kernel that fills them, reused once no reading holds the images."""

from collections.abc import Callable
from typing import Any

from sensorium.core.frames import Pose
from sensorium.runtime import worker_pool
from sensorium.runtime.recycling import Pool
from sensorium.runtime.worker_pool import Prepared
from sensorium.tracing.kernels.depth.kernel import DepthOutputs, depth_images
from sensorium.tracing.placement.instant import Cameras


class ImageBuffers:
    """Arrays for images of all heads, and for where their cameras were."""

    def __init__(self, outputs: DepthOutputs, cameras: Cameras) -> None:
        self.outputs, self.cameras = outputs, cameras
        self.kernel: Prepared | None = None
        """The kernel that fills them, bound to all its arguments."""

    @property
    def X_WS(self) -> Pose:
        """Poses of the cameras; the kernel fills them with the images."""
        return Pose._trusted(self.cameras.p_WS.view(), self.cameras.q_WS.view())  # which cannot be written through

    def bind(self, *arguments: Any) -> Prepared:
        """Bind the kernel to its arguments, these arrays among them."""
        self.kernel = worker_pool.Prepared(depth_images, *arguments)
        return self.kernel


class ImageBufferPool:
    """A few buffers that are used in turn."""

    def __init__(self) -> None:
        self._buffers: Pool[ImageBuffers] = Pool(holders=1)
        self._tables: tuple[object, ...] = ()

    def free(self, new: Callable[[], ImageBuffers]) -> ImageBuffers:
        """Buffers whose images no reading holds, or new ones."""
        buffers = self._buffers.free()
        if buffers is None:
            buffers = new()
            arrays = (array for array in buffers.outputs if array.shape[1])
            self._buffers.add(buffers, (*arrays, buffers.cameras.p_WS, buffers.cameras.q_WS))
        return buffers

    def invalidate_unless_bound_to(self, *tables: object) -> None:
        """Drop kernels that are bound to other tables than these very objects, with the arrays they hold."""
        for known, given in zip(self._tables or (None,), tables, strict=False):
            if known is not given:
                for buffers in self._buffers.things:
                    buffers.kernel = None
                self._tables = tables  # last: if a signal raises before, the rest is dropped the next time
                return
