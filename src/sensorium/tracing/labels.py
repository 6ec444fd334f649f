"""Labels of objects and of faces, flat, as kernels read them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.layout import Layout


class LabelTables(NamedTuple):
    """Labels of objects and of faces, as kernels read them."""

    object_label: NDArray[np.int32]  # (1 | worlds, objects)
    face_first: NDArray[
        np.int64
    ]  # (1 | worlds, objects) start in face_label, -1 where the mesh has no labels of its own
    face_label: NDArray[np.int32]


def label_tables(scene: Layout, before: LabelTables | None = None) -> LabelTables:
    """Labels of a scene, flat.

    Args:
        scene: Its layout.
        before: Those of a previous layout of the same meshes in as many worlds, if any.
    """
    if before is not None and all(labels is None for labels in scene.mesh_face_labels):
        return before._replace(object_label=np.array(scene.label, np.int32))
    sizes = [0 if labels is None else len(labels) for labels in scene.mesh_face_labels]
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    given = [labels for labels in scene.mesh_face_labels if labels is not None]
    none = np.full(scene.mesh_index.shape, -1, np.int64)
    return LabelTables(
        object_label=np.array(scene.label, np.int32),
        face_first=np.append(np.where(np.array(sizes) > 0, starts, -1), -1)[scene.mesh_index] if given else none,
        face_label=np.concatenate([*given, np.zeros(0, np.int32)]).astype(np.int32),
    )
