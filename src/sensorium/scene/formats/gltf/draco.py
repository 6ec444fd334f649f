"""Meshes packed by Draco (KHR_draco_mesh_compression), unpacked by DracoPy if it is installed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import MissingExtraError, SceneError, in_one_line
from sensorium.scene.formats.gltf.accessors import Accessors
from sensorium.scene.formats.gltf.container import Container

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
