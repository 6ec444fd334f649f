"""Instances of a glTF file's meshes: the tree of nodes, instancing, and hidden nodes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.scene.formats.gltf.accessors import Accessors
from sensorium.scene.formats.gltf.container import Container, whole

# Matrices of an instance while they are made
_BYTES_PER_INSTANCE = 512

_INSTANCING, _VISIBILITY = "EXT_mesh_gpu_instancing", "KHR_node_visibility"


class Shown(NamedTuple):
    """A mesh shown by a node: its number, the transform to the file's frame, and weights of its morph targets."""

    mesh: int
    matrices: NDArray[np.float64]  # (instances, 4, 4)
    weights: list[float] | None


def shown_meshes(container: Container, accessors: Accessors) -> list[Shown]:
    """Meshes of the scene in the order of its nodes, depth first; a node without the scene is left out."""
    scenes = container.items("scenes")
    if not scenes:
        raise SceneError("it has no scene, so nothing in it has a place")
    scene = container.item("scenes", container.header.get("scene", 0), "the file")
    waiting: list[tuple[Any, NDArray[np.float64]]] = [(k, np.eye(4)) for k in reversed(scene.get("nodes", []))]
    nodes, seen, found = container.items("nodes"), set(), []
    while waiting:
        k, parent = waiting.pop()
        if not isinstance(k, int) or isinstance(k, bool) or not 0 <= k < len(nodes) or k in seen:
            raise SceneError(f"node {k!r} is missing or reached twice; nodes must form a tree")
        seen.add(k)
        node = container.item("nodes", k, "the scene")
        extensions = node.get("extensions", {})
        if extensions.get(_VISIBILITY, {}).get("visible", True) is False:
            continue
        matrix = parent @ _local(node, k)
        waiting += [(child, matrix) for child in reversed(node.get("children", []))]
        if "mesh" in node:
            matrices = matrix[None]
            if _INSTANCING in extensions:
                matrices = matrix @ _instances(container, extensions[_INSTANCING], accessors, f"node {k}")
            found.append(Shown(whole(node, "mesh", f"node {k}"), matrices, node.get("weights")))
    return found


def _local(node: dict[str, Any], number: int) -> NDArray[np.float64]:
    """Transform of a node in its parent."""
    if "matrix" in node:
        return _numbers(node, "matrix", 16, number).reshape(4, 4).T
    given = {"translation": (3, [0.0] * 3), "rotation": (4, [0.0, 0.0, 0.0, 1.0]), "scale": (3, [1.0] * 3)}
    parts = [_numbers(node, key, count, number, default) for key, (count, default) in given.items()]
    return placed(*(part[None] for part in parts))[0]


def placed(
    translation: NDArray[np.float64], rotation_xyzw: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Matrices T R S, shape (n, 4, 4), of translations (n, 3), quaternions x y z w (n, 4) and scales (n, 3).

    A quaternion need not be of unit length; one of length 0 is the identity.
    """
    length = np.linalg.norm(rotation_xyzw, axis=1, keepdims=True)
    x, y, z, w = (np.where(length > 0.0, rotation_xyzw, [0.0, 0.0, 0.0, 1.0]) / np.where(length > 0.0, length, 1)).T
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrices = np.zeros((len(translation), 4, 4))
    matrices[:, :3, :3] = np.moveaxis(turn, 2, 0) * scale[:, None, :]
    matrices[:, :3, 3], matrices[:, 3, 3] = translation, 1.0
    return matrices


def _instances(container: Container, extension: Any, accessors: Accessors, asked_by: str) -> NDArray[np.float64]:
    """Transforms of a node's instances."""
    attributes = extension.get("attributes", {})
    widths = {"TRANSLATION": 3, "ROTATION": 4, "SCALE": 3}
    given = {
        key: accessors.floats(attributes[key], asked_by, (width,)) for key, width in widths.items() if key in attributes
    }
    counts = {len(values) for values in given.values()}
    if len(counts) != 1:
        raise SceneError(
            f"{asked_by} has instances with {sorted(counts)} places, turns and scales; all must be as many"
        )
    count = counts.pop()
    if count * _BYTES_PER_INSTANCE > container.most_unpacked:
        most = container.most_unpacked // _BYTES_PER_INSTANCE
        raise SceneError(f"{asked_by} has {count} instances; the most for a file of {container.held} bytes is {most}")
    return placed(
        given.get("TRANSLATION", np.zeros((count, 3))),
        given.get("ROTATION", np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))),
        given.get("SCALE", np.ones((count, 3))),
    )


def _numbers(
    node: dict[str, Any], key: str, count: int, number: int, default: list[float] | None = None
) -> NDArray[np.float64]:
    value: Any = node.get(key, default)
    is_list = isinstance(value, list) and len(value) == count
    if not is_list or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in value):
        raise SceneError(f"node {number} has {key} {str(value)[:60]}; it must be {count} numbers")
    try:
        return np.array([float(v) for v in value])
    except OverflowError:
        raise SceneError(f"node {number} has {key} {str(value)[:60]}; each must be finite") from None
