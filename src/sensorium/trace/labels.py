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


def label_tables(scene: Layout) -> LabelTables:
    """Labels of a scene, flat."""
    sizes = [0 if labels is None else len(labels) for labels in scene.mesh_face_labels]
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    given = [labels for labels in scene.mesh_face_labels if labels is not None]
    return LabelTables(
        object_label=np.array(scene.label, np.int32),
        face_first=np.append(np.where(np.array(sizes) > 0, starts, -1), -1).astype(np.int64)[scene.mesh_index],
        face_label=np.concatenate([*given, np.zeros(0, np.int32)]).astype(np.int32),
    )


def labels_of(
    tables: LabelTables, world: NDArray[np.integer], object_id: NDArray[np.int32], face_id: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Labels of hits outside kernels; -1 where object_id is. All arrays broadcast."""
    row = world if len(tables.object_label) > 1 else np.zeros_like(world)
    first = tables.face_first[row, object_id]
    label = tables.object_label[row, object_id]
    if tables.face_label.size:
        label = np.where(first >= 0, tables.face_label[np.maximum(first, 0) + np.maximum(face_id, 0)], label)
    return np.where(object_id >= 0, label, np.int32(-1))
