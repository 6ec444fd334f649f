"""Triangles of a glTF mesh: lists, strips and fans, quantized, morphed or packed by Draco."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import MissingExtraError, SceneError, in_one_line
from sensorium.scene.formats.gltf.accessors import Accessors
from sensorium.scene.formats.gltf.container import Container, whole

DRACO = "KHR_draco_mesh_compression"


def decoded(
    container: Container, accessors: Accessors, primitive: dict[str, Any], what: str
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int64]]:
    """Attributes of a packed primitive by their names, (n, width) each, and corners of its triangles, (3 m,).

    Draco reorders vertices: all attributes that it packs, and no others, are taken from it.
    """
    try:
        import DracoPy
    except ImportError:
        raise MissingExtraError(
            f"{what} is packed by Draco, which DracoPy unpacks; install it: pip install 'sensorium[draco]'"
        ) from None
    extension = primitive["extensions"][DRACO]
    claimed = accessors.count(primitive["attributes"]["POSITION"], what)
    corners = accessors.count(primitive["indices"], what) if "indices" in primitive else 0
    if 64 * claimed + 8 * corners > container.most_unpacked:
        raise SceneError(f"{what} claims {claimed} vertices and {corners} corners; the file is too small for them")
    data, _ = container.view(extension.get("bufferView"), what)
    try:
        found = DracoPy.decode(bytes(data))
        faces = np.asarray(found.faces, np.int64).reshape(-1)
    except Exception as error:
        raise SceneError(f"{what} cannot be unpacked by Draco: {in_one_line(error)}") from None
    by_id = {each["unique_id"]: np.asarray(each["data"]) for each in found.attributes}
    arrays = {}
    for name, number in extension["attributes"].items():
        if number not in by_id:
            raise SceneError(f"{what} takes {name} from number {number!r} of what Draco packs; it has {sorted(by_id)}")
        values = by_id[number].reshape(len(by_id[number]), -1)
        arrays[name] = np.asarray(values, np.float64)
        accessor = container.item("accessors", primitive["attributes"].get(name), what)
        if values.dtype.kind in "iu" and accessor.get("normalized") is True:
            arrays[name] = np.maximum(arrays[name] / np.iinfo(values.dtype).max, -1.0)
    if "POSITION" not in arrays:
        raise SceneError(f"{what} is packed by Draco without POSITION; it must have it")
    return arrays, faces


_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_QUIET = ("KHR_materials_variants", "EXT_mesh_features", "EXT_structural_metadata", DRACO)


@dataclass(frozen=True, eq=False)
class Primitive:
    """Triangles with one material, in the frame of their mesh.

    Attributes:
        vertices: Positions, (n, 3).
        faces: Vertices of triangles, (m, 3).
        normal: At vertices, (n, 3), or None.
        color: RGBA at vertices, (n, 4), or None.
        uv: Texture coordinates by the number of their set, (n, 2) each, v downwards.
        material: Its number, None for the white one.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    normal: NDArray[np.float64] | None
    color: NDArray[np.float64] | None
    uv: dict[int, NDArray[np.float64]]
    material: int | None


def read_mesh(container: Container, accessors: Accessors, number: int, weights: list[float] | None) -> list[Primitive]:
    """Primitives of a mesh that have triangles; points and lines have no surface.

    Args:
        container: The file.
        accessors: Its arrays.
        number: Of the mesh.
        weights: Of its morph targets, from the node that shows it; None for the mesh's own.
    """
    mesh = container.item("meshes", number, "a node")
    given = weights if weights is not None else mesh.get("weights")
    found = []
    for primitive in mesh["primitives"]:
        what = f"mesh {number}"
        if primitive.get("mode", _TRIANGLES) not in (_TRIANGLES, _STRIP, _FAN):
            continue
        for extension in primitive.get("extensions", {}):
            if extension not in _QUIET:
                raise SceneError(f"{what} uses the extension {extension}, which is not supported")
        made = _primitive(container, accessors, primitive, given, what)
        if len(made.faces):
            found.append(made)
    return found


def _primitive(
    container: Container, accessors: Accessors, primitive: dict[str, Any], weights: Any, what: str
) -> Primitive:
    attributes = primitive["attributes"]
    whole(attributes, "POSITION", what)
    arrays = _Attributes(accessors, attributes, what)
    if DRACO in primitive.get("extensions", {}):
        arrays.packed, corners = decoded(container, accessors, primitive, what)
    elif "indices" in primitive:
        corners = accessors.indices(primitive["indices"], what)
    else:
        corners = np.arange(len(accessors.raw(attributes["POSITION"], what)))  # at most all of them
    faces = triangles(corners, primitive.get("mode", _TRIANGLES))

    # Exporters let primitives share one large array: each takes only the part it uses
    count = arrays.count("POSITION")
    if faces.size and faces.max() >= count:
        row = int(np.argmax((faces >= count).any(axis=1)))
        raise SceneError(f"face {row} of {what} is {faces[row].tolist()}; indices must be in [0, {count})")
    if 2 * faces.size < count:
        arrays.used, faces = np.unique(faces, return_inverse=True)
        faces = faces.reshape(-1, 3)

    vertices, normal = arrays.floats("POSITION", (3,)), None
    if "NORMAL" in attributes:
        normal = arrays.floats("NORMAL", (3,))
    for target, weight in zip(primitive.get("targets", []), weights or [], strict=False):
        if not isinstance(weight, int | float) or isinstance(weight, bool):
            raise SceneError(f"{what} has the weight {weight!r}; it must be a number")
        moved = _Attributes(accessors, target, what, arrays.used)
        if weight != 0 and "POSITION" in target:
            vertices = vertices + weight * moved.floats("POSITION", (3,), len(vertices))
        if weight != 0 and "NORMAL" in target and normal is not None:
            normal = normal + weight * moved.floats("NORMAL", (3,), len(normal))
    color = None
    if "COLOR_0" in attributes:
        color = arrays.floats("COLOR_0", (3, 4), len(vertices))
        if color.shape[1] == 3:
            color = np.concatenate([color, np.ones((len(color), 1))], axis=1)
    sets = [int(key[9:]) for key in attributes if key.startswith("TEXCOORD_") and key[9:].isdecimal()]
    uv = {k: arrays.floats(f"TEXCOORD_{k}", (2,), len(vertices)) for k in sets}
    return Primitive(vertices, faces, normal, color, uv, primitive.get("material"))


def triangles(corners: NDArray[np.int64], mode: int) -> NDArray[np.int64]:
    """Triangles of a list, strip or fan of corners, (m, 3), of one winding; those that join strips are left out."""
    if mode == _TRIANGLES:
        return corners[: len(corners) // 3 * 3].reshape(-1, 3)
    k = np.arange(max(len(corners) - 2, 0))
    if mode == _STRIP:
        made = corners[np.stack([k, k + 1 + k % 2, k + 2 - k % 2], axis=-1)]
    else:
        made = corners[np.stack([k + 1, k + 2, np.zeros_like(k)], axis=-1)]
    a, b, c = made.T
    return made[(a != b) & (b != c) & (c != a)]


class _Attributes:
    """Arrays of a primitive by their names, of those vertices that it uses."""

    def __init__(
        self, accessors: Accessors, numbers: dict[str, Any], what: str, used: NDArray[np.int64] | None = None
    ) -> None:
        self._accessors, self._numbers, self._what = accessors, numbers, what
        self.used = used
        self.packed: dict[str, NDArray[np.float64]] = {}

    def count(self, name: str) -> int:
        if name in self.packed:
            return len(self.packed[name])
        return self._accessors.count(self._numbers[name], self._what)

    def floats(self, name: str, width: tuple[int, ...], count: int | None = None) -> NDArray[np.float64]:
        if name in self.packed:
            values = self.packed[name]
            if values.shape[1] not in width:
                raise SceneError(f"{self._what} has {name} of {values.shape[1]} numbers; it takes {width}")
            values = values if self.used is None else values[self.used]
        else:
            values = self._accessors.floats(self._numbers[name], self._what, width, self.used)
        if count is not None and len(values) != count:
            raise SceneError(f"{self._what} has {len(values)} items of {name} for {count} vertices")
        return values
