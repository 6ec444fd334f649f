"""A scene that lies in parts on disk, as an environment takes it."""

from os import PathLike
from pathlib import Path

from sensorium.scene.part_files import PartIndex


class SceneInParts:
    """What `sn.split_scene` wrote into a folder: its index is read, its meshes are not.

    An environment of it casts through a process for each part, and is made inside `with sn.cluster.joined(address):`.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Read the index.

        Args:
            folder: What `sn.split_scene` wrote; every machine of the cluster must find it under the same path.
        """
        self.folder = Path(folder).resolve()
        self._index = PartIndex.load(self.folder)

    @property
    def labels(self) -> dict[str, int]:
        """Number of each label name, from 1; 0 is unlabelled."""
        return dict(self._index.labels)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that carry something, sorted."""
        return tuple(sorted({entry.body for entry in self._index.objects if entry.body is not None}))

    def __repr__(self) -> str:
        return f"SceneInParts({len(self._index.parts)} parts, {len(self._index.objects)} objects in {self.folder})"
