"""Arrays that a depth camera's kernel fills, and the images that they form."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.runtime import worker_pool
from sensorium.runtime.recycling import Pool
from sensorium.runtime.worker_pool import Prepared
from sensorium.sensors.depth_camera.stage import Stage
from sensorium.tracing.kernels.depth.kernel import DepthOutputs, depth_images
from sensorium.tracing.placement.instant import Cameras

if TYPE_CHECKING:
    from sensorium.sensors.depth_camera.depth_camera import DepthCamera


# Arrays of the kernel's outputs: type, and how many numbers a pixel has (0: one, without an axis)
_ARRAYS: dict[str, tuple[type[np.generic], int]] = {
    "range_m": (np.float32, 0),
    "depth": (np.float32, 0),
    "points_S": (np.float32, 3),
    "points_W": (np.float64, 3),
    "label": (np.int32, 0),
    "face_id": (np.int32, 0),
    "object_id": (np.int32, 0),
    "normals": (np.float32, 3),
    "flow": (np.float32, 2),
    "scene_flow": (np.float32, 3),
    "color": (np.uint8, 3),
    "cosine": (np.float32, 0),
    "true_m": (np.float32, 0),
}
_MEASURED = frozenset({"range_m", "depth", "points_S", "points_W"})

_Field = tuple[int, tuple[int, ...], type[np.generic]]
"""One of the kernel's arrays: its place among them, its shape and its type."""

Make = Callable[[tuple[int, ...], type[np.generic]], NDArray[Any]]
"""Allocates an array of a shape and a type; the kernel writes every element."""


class DepthArrays:
    """The arrays of one camera's images, for all its heads."""

    def __init__(
        self, spec: "DepthCamera", axes: tuple[int, ...], heads: int, stages: Sequence[Stage], *, faulty: bool = False
    ) -> None:
        """Determine the arrays of a camera.

        Args:
            spec: The camera.
            axes: Lengths of the axes of worlds and of sensors that readings have.
            heads: Cameras of all worlds.
            stages: Of its errors.
            faulty: Whether faults may change what is measured.
        """
        pattern, self._frame = spec.pattern, spec.frame
        self._heads, self._pixels = heads, pattern.width * pattern.height
        wanted = {self._array_of(output) for output in spec.outputs}.union(*(stage.needs for stage in stages))
        differ = bool(stages or faulty or spec.noise.multiplier or spec.noise.dropout)
        self.need_truth = differ and bool(wanted & _MEASURED)
        """Whether measured values differ from the truth, so that true ranges are kept."""
        if self.need_truth:
            wanted.add("true_m")
        self._empty = DepthOutputs(
            **{name: np.zeros((heads, 0, *self._numbers(name)), dtype) for name, (dtype, _) in _ARRAYS.items()}
        )
        self._all, self._measured = self._fields(wanted), self._fields(wanted & _MEASURED)
        self._ranges, self._depths = self._fields({"range_m"}), self._fields({"depth"})
        shape = (*axes, pattern.height, pattern.width)
        self._shown = [
            (output, DepthOutputs._fields.index(array), (*shape, *self._numbers(array)))
            for output, array in ((output, self._array_of(output)) for output in sorted(spec.outputs))
        ]

    def new(self, make: Make) -> DepthOutputs:
        """All arrays of the requested outputs; the others have no pixels."""
        return self._filled(self._all, make)

    def new_measured(self, make: Make) -> DepthOutputs:
        """Those of them that are measured."""
        return self._filled(self._measured, make)

    def new_ranges(self, make: Make) -> DepthOutputs:
        """Ranges alone, whether they are requested or not."""
        return self._filled(self._ranges, make)

    def new_depths(self, make: Make) -> DepthOutputs:
        """Depths alone."""
        return self._filled(self._depths, make)

    @staticmethod
    def are_measured(outputs: AbstractSet[str]) -> bool:
        """Whether any of these outputs is."""
        return bool(outputs & {"range", "depth", "points"})

    @staticmethod
    def with_measured(outputs: DepthOutputs, measured: DepthOutputs) -> DepthOutputs:
        """The same outputs with other measured values."""
        return outputs._replace(**{name: getattr(measured, name) for name in _MEASURED})

    @staticmethod
    def unmeasured(outputs: DepthOutputs) -> dict[str, NDArray[Any]]:
        """Arrays of pixels beside the measured ones, by name."""
        kept = {name: getattr(outputs, name) for name in _ARRAYS if name not in _MEASURED and name != "true_m"}
        return {name: array for name, array in kept.items() if array.shape[1]}

    def images(self, outputs: DepthOutputs) -> Mapping[str, NDArray[Any]]:
        """Outputs by name, in the shapes of readings."""
        images: dict[str, NDArray[Any]] = {}
        for name, place, shape in self._shown:
            array = outputs[place]
            if array.shape[1]:
                images[name] = array.reshape(shape)
        return images

    def _array_of(self, output: str) -> str:
        """Which of the kernel's arrays holds an output."""
        points = "points_W" if self._frame == "world" else "points_S"
        return {"range": "range_m", "points": points, "segmentation": "label"}.get(output, output)

    def _numbers(self, array: str) -> tuple[int, ...]:
        """The axis of numbers that a pixel of an array has, if it has one."""
        numbers = _ARRAYS[array][1]
        return (numbers,) if numbers else ()

    def _fields(self, wanted: AbstractSet[str]) -> list[_Field]:
        """Mask of the arrays to allocate."""
        return [
            (place, (self._heads, self._pixels, *self._numbers(name)), _ARRAYS[name][0])
            for place, name in enumerate(DepthOutputs._fields)
            if name in wanted
        ]

    def _filled(self, fields: list[_Field], make: Make) -> DepthOutputs:
        """These arrays, and empty ones in place of the others."""
        arrays = list(self._empty)
        for place, shape, dtype in fields:
            arrays[place] = make(shape, dtype)
        return DepthOutputs._make(arrays)


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
