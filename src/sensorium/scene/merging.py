"""Merges properties of several meshes into those of one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError


def merged_properties(
    kind: str, meshes: Sequence[Mapping[str, NDArray[Any]]], counts: Sequence[int], *, white: str
) -> dict[str, NDArray[Any]]:
    """Properties of some meshes, one mesh after the other; their names must be the same.

    Args:
        kind: Name in errors, such as face_properties.
        meshes: Those of each mesh, by name.
        counts: Faces or vertices of each mesh.
        white: The one property that a mesh may lack, which is 1 there.
    """
    filled = [dict(mesh) for mesh in meshes]
    bands = next((mesh[white].shape[1:] for mesh in meshes if white in mesh), None)
    if bands is not None:
        for own, count in zip(filled, counts, strict=True):
            own.setdefault(white, np.ones((count, *bands), np.float32))

    expected = sorted(filled[0])
    for number, own in enumerate(filled):
        if sorted(own) != expected:
            raise SceneError(f"mesh {number} has {kind} {sorted(own)} but mesh 0 has {expected}; they must match")
    return {name: _joined(name, [own[name] for own in filled]) for name in filled[0]}


def without_what_some_lack(
    meshes: Sequence[Mapping[str, NDArray[Any]]], names: Sequence[str]
) -> list[dict[str, NDArray[Any]]]:
    """Properties of some meshes without those of the names that not all of them have."""
    lost = {name for name in names if not all(name in mesh for mesh in meshes)}
    return [{name: values for name, values in mesh.items() if name not in lost} for mesh in meshes]


def _joined(name: str, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate one property of several meshes; shapes and kinds must agree."""
    shapes = {array.shape[1:] for array in arrays}
    if len(shapes) > 1:
        raise SceneError(f"property {name!r} has element shapes {sorted(shapes)}; merged meshes must share one")
    if len({array.dtype.kind == "U" for array in arrays}) > 1:
        raise SceneError(f"property {name!r} mixes strings and numbers; merged meshes must use one of them")
    return np.concatenate(arrays)
