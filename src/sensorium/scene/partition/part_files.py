"""A partitioned scene on disk: a folder with an index, and a folder of mesh files for each part.

    parts.json
    part-0/mesh-3.npz      a mesh that lies in the part whole, for all its objects there
    part-0/object-7.npz    those faces of object 7 that lie in the part

The index names the hash of each mesh file: machines that find other files under the same path notice.

Mesh files are .npz as `load_mesh` reads them. A piece of a mesh names in the face property `whole_face` the number that
each of its faces has in the whole mesh; labels are numbers, the same in all parts.
"""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from sensorium.core.errors import SceneError, SpecError
from sensorium.core.frames import Pose
from sensorium.core.spec import checked
from sensorium.files.plain_files import read_json

INDEX = "parts.json"
FORMAT = 3
WHOLE_FACE = "whole_face"

_PLAIN_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_PART_FILE = re.compile(rf"{re.escape(INDEX)}|part-\d+/(mesh|object)-\d+\.npz")


def is_part_file(path: PurePosixPath) -> bool:
    """Whether `split_scene` writes a file of this path in its folder."""
    return _PART_FILE.fullmatch(str(path)) is not None


@dataclass(frozen=True)
class ObjectEntry:
    """An object of the whole scene.

    Attributes:
        position: Of the object on its body, or in the world [m].
        quaternion: Likewise, w x y z.
        body: Body that carries it, or None.
        material: As plain data, or None.
        label: Number of its label.
        name: Its name, or None.
        faces: How many faces it has.
        radius_m: Farthest vertex of its mesh from the middle of the mesh's bounds [m].
        volume_m3: Volume that its mesh encloses [m3]; meaningful if it is closed.
        planes: Of its mesh, where that is convex and has few; see `scene/volumes.py`.
    """

    position: tuple[float, float, float]
    quaternion: tuple[float, float, float, float]
    body: str | None
    material: dict[str, Any] | None
    label: int
    name: str | None
    faces: int
    radius_m: float
    volume_m3: float
    planes: tuple[tuple[float, float, float, float], ...] | None

    @property
    def pose(self) -> Pose:
        """The object on its body, or in the world."""
        return Pose(self.position, self.quaternion)


@dataclass(frozen=True)
class PieceEntry:
    """The piece of an object in a part: a mesh file in the part's folder."""

    object_id: int
    file: str


@dataclass(frozen=True)
class FileEntry:
    """A mesh file of a part.

    Attributes:
        name: In the part's folder.
        sha256: Of its bytes, as hexadecimal digits.
        faces: How many faces it holds.
        mesh_bytes: Size of its arrays in memory.
    """

    name: str
    sha256: str
    faces: int
    mesh_bytes: int


@dataclass(frozen=True)
class PartEntry:
    """One part.

    Attributes:
        folder: Name of its folder.
        faces: How many faces it has.
        bounds_m: Box of its fixed objects, in the world [m], least and greatest corner; None without any.
        reach_m: For each body in it the distance of its farthest point from the body's origin [m].
        pieces: Its pieces.
        files: The mesh files of these.
    """

    folder: str
    faces: int
    bounds_m: tuple[tuple[float, float, float], tuple[float, float, float]] | None
    reach_m: dict[str, float]
    pieces: tuple[PieceEntry, ...]
    files: tuple[FileEntry, ...]


@dataclass(frozen=True)
class PartIndex:
    """Content of a folder of parts."""

    objects: tuple[ObjectEntry, ...]
    labels: dict[str, int]
    parts: tuple[PartEntry, ...]

    def save(self, folder: Path) -> None:
        """Write it into the folder of the parts."""
        (folder / INDEX).write_text(json.dumps({"format": FORMAT, **asdict(self)}) + "\n", "utf-8")

    @classmethod
    def load(cls, folder: Path) -> "PartIndex":
        """Read the index of a folder of parts."""
        path = folder / INDEX
        if not path.is_file():
            raise SceneError(f"{path} cannot be read: there is no such file; it must be in a folder made by split")
        try:
            data = read_json(path)
            if isinstance(data, dict) and data.get("format") != FORMAT:
                raise SceneError(f"its format is not {FORMAT}; split the scene again")
            index: PartIndex = checked(cls, data, "index")
            index._check()
        except (SpecError, SceneError) as error:
            raise SceneError(f"{path} is no index of parts: {error}") from None
        return index

    def _check(self) -> None:
        """Refuse content that the types of the fields allow and that no split writes."""
        for number, entry in enumerate(self.objects):
            if entry.label < 0 or entry.faces < 0:
                raise SceneError(
                    f"object {number} has label {entry.label} and {entry.faces} faces; neither is negative"
                )
            entry.pose  # noqa: B018 - a pose that is none says so
        for part in self.parts:
            for name in (part.folder, *(piece.file for piece in part.pieces)):
                if not _PLAIN_NAME.fullmatch(name) or not name.strip("."):
                    raise SceneError(f"it names {name!r}; parts must lie in its folder, under plain names")
            if {each.name for each in part.files} != {piece.file for piece in part.pieces}:
                raise SceneError(f"{part.folder} lists other files than its pieces are in; they must be the same")
            if any(each.faces < 0 or each.mesh_bytes < 0 for each in part.files):
                raise SceneError(f"{part.folder} has a file of negative size")
            for piece in part.pieces:
                if not 0 <= piece.object_id < len(self.objects):
                    raise SceneError(f"a piece is of object {piece.object_id}; there are {len(self.objects)}")
            if part.faces < 0 or any(reach_m < 0.0 for reach_m in part.reach_m.values()):
                raise SceneError(f"{part.folder} has {part.faces} faces and reaches {part.reach_m}; none is negative")
            if part.bounds_m is not None and any(low > high for low, high in zip(*part.bounds_m, strict=True)):
                raise SceneError(f"{part.folder} has bounds_m {part.bounds_m}; the least corner must come first")
