"""Arrays of glTF files: strided, normalized, sparse, or zeros without any data (glTF 2.0, 3.6.2)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.scene.formats.gltf.container import Container, whole

_TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


class Accessors:
    """Arrays of a file by their numbers, each unpacked once."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._unpacked: dict[int, NDArray[Any]] = {}
        self._bytes = 0

    def count(self, number: Any, asked_by: str) -> int:
        """Items of an array, which is not unpacked for it."""
        return whole(self._container.item("accessors", number, asked_by), "count", f"accessor {number}")

    def raw(self, number: Any, asked_by: str) -> NDArray[Any]:
        """Values as they are stored, shape (count, width)."""
        accessor = self._container.item("accessors", number, asked_by)
        if number not in self._unpacked:
            self._unpacked[number] = self._read(accessor, f"accessor {number}")
        return self._unpacked[number]

    def floats(
        self, number: Any, asked_by: str, width: tuple[int, ...], used: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Values as numbers, shape (count, width), or those used of them; normalized integers run from -1 or 0 to 1."""
        values = self.raw(number, asked_by)
        if values.shape[1] not in width:
            raise SceneError(
                f"{asked_by} uses accessor {number} of {values.shape[1]} numbers an item; it takes {width}"
            )
        if used is not None:
            if len(used) and used[-1] >= len(values):
                raise SceneError(f"{asked_by} uses item {used[-1]} of accessor {number}; there are {len(values)}")
            values = values[used]
        numbers = np.array(values, np.float64)
        if values.dtype.kind in "iu" and self._container.item("accessors", number, asked_by).get("normalized") is True:
            numbers = np.maximum(numbers / np.iinfo(values.dtype).max, -1.0)
        return numbers

    def indices(self, number: Any, asked_by: str) -> NDArray[np.int64]:
        """Whole numbers, shape (count,)."""
        values = self.raw(number, asked_by)
        if values.shape[1] != 1 or values.dtype.kind != "u":
            raise SceneError(f"{asked_by} takes indices from accessor {number}; they must be unsigned and one an item")
        return values[:, 0].astype(np.int64)

    def _read(self, accessor: dict[str, Any], what: str) -> NDArray[Any]:
        kind, width = _TYPES.get(accessor.get("componentType", 0)), _WIDTHS.get(accessor.get("type", ""))
        if kind is None or width is None:
            raise SceneError(f"{what} has an unknown type")
        count = whole(accessor, "count", what)
        dtype = np.dtype(kind)
        if "bufferView" in accessor:
            offset = whole(accessor, "byteOffset", what, 0)
            values = self._strided(accessor["bufferView"], offset, count, dtype, width, what)
            self._take(values.size * dtype.itemsize, what)
        else:
            self._take(count * width * dtype.itemsize, what)
            values = np.zeros((count, width), dtype)
        return self._with_sparse(values, accessor["sparse"], what) if "sparse" in accessor else values

    def _take(self, size: int, what: str) -> None:
        """Count unpacked bytes before unpacking."""
        self._bytes += size
        if self._bytes > self._container.most_unpacked:
            raise SceneError(
                f"its arrays, up to {what}, unpack to {self._bytes} bytes; "
                f"the most for a file of {self._container.held} bytes is {self._container.most_unpacked}"
            )

    def _strided(self, view: Any, offset: int, count: int, dtype: np.dtype[Any], width: int, what: str) -> NDArray[Any]:
        """Items in a view, from an offset on."""
        data, given = self._container.view(view, what)
        item = dtype.itemsize * width
        stride = item if given is None or given == 0 else given
        if count and (stride < item or offset + (count - 1) * stride + item > len(data)):
            raise SceneError(f"{what} claims {count} items, which reach beyond its bufferView")
        if count == 0:
            return np.zeros((0, width), dtype)
        return np.ndarray((count, width), dtype, data, offset, (stride, dtype.itemsize))

    def _with_sparse(self, values: NDArray[Any], sparse: Any, what: str) -> NDArray[Any]:
        """Values with some of them replaced."""
        count, parts = whole(sparse, "count", f"sparse {what}"), []
        for key in ("indices", "values"):
            part = sparse.get(key)
            whole(part, "bufferView", f"{key} of sparse {what}")
            offset = whole(part, "byteOffset", f"{key} of sparse {what}", 0)
            kind = _TYPES.get(part.get("componentType", 0)) if key == "indices" else values.dtype.str
            if kind is None:
                raise SceneError(f"indices of sparse {what} have an unknown type")
            width = 1 if key == "indices" else values.shape[1]
            parts.append(self._strided(part["bufferView"], offset, count, np.dtype(kind), width, f"sparse {what}"))
        at = parts[0][:, 0].astype(np.int64)
        if count and (at.min() < 0 or at.max() >= len(values)):
            raise SceneError(f"sparse {what} replaces item {at.max()}; there are {len(values)}")
        replaced = values.copy()
        replaced[at] = parts[1]
        return replaced
