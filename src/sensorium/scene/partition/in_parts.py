"""A partitioned scene on disk, as an environment takes it."""

import json
from os import PathLike
from pathlib import Path

import numpy as np

from sensorium.core.frames import Pose
from sensorium.scene.layout import KindTables, Layout
from sensorium.scene.partition.part_files import PartIndex
from sensorium.scene.partition.split import made_material
from sensorium.scene.volumes import Extents


class SceneInParts:
    """A folder written by `sn.split_scene`: its index is read, its meshes are not.

    An environment of it casts through a process for each part, and is made inside `with sn.cluster.joined(address):`.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Read the index.

        Args:
            folder: Output of `sn.split_scene`; every machine of the cluster must find it under the same path.
        """
        self.folder = Path(folder).resolve()
        self._index = PartIndex.load(self.folder)

    @property
    def labels(self) -> dict[str, int]:
        """Number of each label name, from 1; 0 is unlabeled."""
        return dict(self._index.labels)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that carry something, sorted."""
        return tuple(sorted({entry.body for entry in self._index.objects if entry.body is not None}))

    def layout(self, *, around_index: float = 1.0) -> Layout:
        """Its objects as tables, without meshes, which are in the parts; in an atmosphere of this index."""
        objects = self._index.objects
        number: dict[str, int] = {json.dumps(None): 0}
        material = [number.setdefault(json.dumps(each.material, sort_keys=True), len(number)) for each in objects]
        kinds = KindTables(
            mesh=np.full(len(objects) + 1, -1, np.int32),
            label=np.array([*(each.label for each in objects), 0], np.int32),
            material=np.array([*material, 0], np.int32),
        )
        return Layout(
            meshes=(),
            mesh_index=kinds.mesh[None, :-1],
            X_BO=Pose.stack([each.pose for each in objects])[None],
            body=tuple(each.body for each in objects),
            label=kinds.label[None, :-1],
            materials=tuple(made_material(json.loads(data)) for data in number),
            material_index=kinds.material[None, :-1],
            mesh_face_labels=(),
            of_kind=kinds,
            name=tuple(each.name for each in objects),
            label_numbers=self.labels,
            around_index=around_index,
            whole_extents=Extents(
                np.array([[each.radius_m for each in objects]], np.float32),
                np.array([[each.volume_m3 for each in objects]], np.float64),
            ),
            whole_planes=tuple(None if each.planes is None else np.array(each.planes) for each in objects),
        )

    def __repr__(self) -> str:
        return f"SceneInParts({len(self._index.parts)} parts, {len(self._index.objects)} objects in {self.folder})"
