"""A scene in parts on disk: a folder with an index, and a folder of mesh files for each part.

    parts.json
    part-0/mesh-3.npz      a mesh that lies in the part whole, for all its objects there
    part-0/object-7.npz    those faces of object 7 that lie in the part

Mesh files are .npz as `load_mesh` reads them. A piece of a mesh names in the face property `whole_face` the number that
each of its faces has in the whole mesh; labels are numbers, the same in all parts.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sensorium.errors import SceneError
from sensorium.frames import Pose

INDEX = "parts.json"
FORMAT = 1
WHOLE_FACE = "whole_face"


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
    """

    position: tuple[float, float, float]
    quaternion: tuple[float, float, float, float]
    body: str | None
    material: dict[str, Any] | None
    label: int
    name: str | None
    faces: int

    @property
    def pose(self) -> Pose:
        """The object on its body, or in the world."""
        return Pose(self.position, self.quaternion)


@dataclass(frozen=True)
class PieceEntry:
    """What of an object lies in a part: a mesh file in the part's folder."""

    object_id: int
    file: str


@dataclass(frozen=True)
class PartEntry:
    """One part.

    Attributes:
        folder: Name of its folder.
        faces: How many faces it has.
        bounds_m: Box of what stands still in it, in the world [m], least and greatest corner; None without any.
        reach_m: For each body in it the distance of its farthest point from the body's origin [m].
        pieces: What it is made of.
    """

    folder: str
    faces: int
    bounds_m: tuple[tuple[float, float, float], tuple[float, float, float]] | None
    reach_m: dict[str, float]
    pieces: tuple[PieceEntry, ...]


@dataclass(frozen=True)
class PartIndex:
    """What a folder of parts holds."""

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
        try:
            data = json.loads(path.read_text("utf-8"))
            if data.pop("format") != FORMAT:
                raise SceneError(f"{path}: its format is not {FORMAT}; split the scene again")
            return cls(
                tuple(ObjectEntry(**entry) for entry in data["objects"]),
                dict(data["labels"]),
                tuple(
                    PartEntry(**{**entry, "pieces": tuple(PieceEntry(**piece) for piece in entry["pieces"])})
                    for entry in data["parts"]
                ),
            )
        except OSError as error:
            raise SceneError(f"{path} cannot be read: {error.strerror}; it must be a folder made by split") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, SceneError):
                raise
            raise SceneError(f"{path} is no index of parts: {type(error).__name__}: {error}") from None
