"""A device of NVIDIA Warp: arrays and meshes on it."""

import importlib.util
import sys
import weakref
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.scene.mesh import Mesh


class DeviceMesh(NamedTuple):
    """A mesh on a device, around the middle of its bounds."""

    handle: Any
    center: NDArray[np.float64]
    half_size: NDArray[np.float64]


_built: "weakref.WeakKeyDictionary[Mesh, dict[str, DeviceMesh]]" = weakref.WeakKeyDictionary()


class WarpDevice:
    """Warp, our kernels, and one of Warp's devices."""

    def __init__(self, name: str | None) -> None:
        """Load Warp.

        Args:
            name: Warp's name of the device; None is the first CUDA device, or else the CPU.
        """
        self.warp, self.kernels, self.tables = _loaded()
        self.name = str(_chosen(self.warp, name))

    def array(self, values: NDArray[Any], kind: Any) -> Any:
        """An array on the device, of a type of Warp's such as `warp.vec3f`."""
        return self.warp.array(np.ascontiguousarray(values), dtype=kind, device=self.name)

    def integers(self, values: NDArray[Any]) -> Any:
        """Whole numbers on the device."""
        return self.array(values.astype(np.int32), self.warp.int32)

    def turns(self, quaternions: NDArray[np.float64], kind: Any) -> Any:
        """Quaternions w x y z on the device, where Warp has them x y z w."""
        number = np.float32 if kind is self.warp.quatf else np.float64
        return self.array(np.roll(quaternions, -1, axis=-1).astype(number), kind)

    def zeros(self, count: int, kind: Any) -> Any:
        """Zeros on the device."""
        return self.warp.zeros(count, dtype=kind, device=self.name)

    def empty(self, count: int, kind: Any) -> Any:
        """An uninitialized array on the device, for a kernel to fill."""
        return self.warp.empty(count, dtype=kind, device=self.name)

    def launch(self, kernel: Any, dim: int | tuple[int, int], *inputs: Any) -> None:
        """Run a kernel."""
        self.warp.launch(kernel, dim=dim, inputs=list(inputs), device=self.name)

    def mesh(self, mesh: Mesh) -> DeviceMesh:
        """A mesh on the device, copied there on first use and kept as long as the mesh."""
        on_devices = _built.setdefault(mesh, {})
        if self.name not in on_devices:
            low, high = np.asarray(mesh.bounds, np.float64)
            center = 0.5 * (low + high)
            points = self.array((mesh.vertices - center).astype(np.float32), self.warp.vec3f)
            handle = self.warp.Mesh(points=points, indices=self.integers(mesh.faces.reshape(-1)))
            on_devices[self.name] = DeviceMesh(handle, center, 0.5 * (high - low))
        return on_devices[self.name]


def _loaded() -> tuple[Any, Any, Any]:
    """Warp, our kernels, and what they read and write."""
    if importlib.util.find_spec("warp") is None:
        raise MissingExtraError("WarpCaster needs Warp; pip install 'sensorium[gpu]'")
    ours = "warp" not in sys.modules
    import warp

    # The importer of Warp decides what it prints: by default a page about the machine, and each kernel it compiles
    if ours:
        warp.config.quiet = True
        if hasattr(warp, "LOG_WARNING"):
            warp.config.log_level = warp.LOG_WARNING
    warp.init()
    from sensorium.tracing.warp import kernels as warp_kernels
    from sensorium.tracing.warp import tables as warp_tables

    return warp, warp_kernels, warp_tables


def _chosen(warp: Any, device: str | None) -> Any:
    """A device of this machine."""
    if device is None:
        return "cuda:0" if warp.is_cuda_available() else "cpu"
    try:
        return warp.get_device(device)
    except Exception as error:  # a ValueError, or what the CUDA driver says
        known = ", ".join(str(one) for one in warp.get_devices())
        raise SpecError(f"device is {device!r}; it must be one of Warp's devices here: {known}") from error
