"""What the faces of an OBJ file are painted with: the diffuse part of its material files.

Of a material, `Kd` and `map_Kd` are read: a colour, and an image that is multiplied with it, as the format says.
Colours are linear reflectances, images sRGB. All else of materials says nothing that a texture could hold.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.errors import SceneError
from sensorium.scene.guards import check_inside
from sensorium.scene.text_lines import integer, lines_of
from sensorium.scene.textures import Paint, one_texture, pixels_of

Color = tuple[float, float, float]


@dataclass(frozen=True)
class ObjMaterial:
    """Colour of a material, and the file of its image, None for none."""

    color: Color = (1.0, 1.0, 1.0)
    image: Path | None = None


@dataclass
class ObjPaint:
    """What an OBJ file says of paint, line by line: places in images, materials, and which corner has what."""

    folder: Path
    materials: dict[str, ObjMaterial] = field(default_factory=dict)
    places: list[list[str]] = field(default_factory=list)
    corners: list[tuple[int, int, int]] = field(default_factory=list)
    """Place of each corner of each triangle, -1 for none."""
    names: list[str] = field(default_factory=list)
    """Material of each triangle, "" for none."""
    _current: str = ""

    def take(self, number: int, words: list[str]) -> None:
        """Read a line `vt`, `mtllib` or `usemtl`; any other is passed over."""
        if words[0] == "vt":
            if not 2 <= len(words) <= 4:
                raise SceneError(f"line {number} has a texture place of {len(words) - 1} numbers; it has 1, 2 or 3")
            self.places.append([words[1], words[2] if len(words) > 2 else "0"])
        elif words[0] == "usemtl":
            self._current = " ".join(words[1:])
        elif words[0] == "mtllib":
            # One file, whose name may have spaces, or several; meshes are often handed on without any
            whole = " ".join(words[1:])
            names = [whole] if check_inside(_with_slashes(whole), self.folder).is_file() else words[1:]
            for name in names:
                file = check_inside(_with_slashes(name), self.folder)
                if file.is_file():
                    self.materials.update(read_mtl(file, self.folder))

    def place_of(self, word: str, number: int) -> int:
        """Place of the corner `v/vt/vn` of a face, -1 where it has none or its material no image.

        Places count from 1, or from -1 back.
        """
        parts = word.split("/")
        if self._material(self._current).image is None or len(parts) < 2 or not parts[1]:
            return -1
        given = integer(parts[1], number)
        place = given - 1 if given > 0 else len(self.places) + given
        if given == 0 or place < 0:
            raise SceneError(f"line {number} uses texture place {given}; they count from 1, or from -1 back")
        return place

    def add_faces(self, corners: list[tuple[int, int, int]]) -> None:
        """Triangles of a face line, by the places of their corners."""
        self.corners += corners
        self.names += [self._current] * len(corners)

    def _material(self, name: str) -> ObjMaterial:
        return self.materials.get(name, ObjMaterial())

    def applied(
        self, faces: NDArray[np.int64], uv: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32], NDArray[np.float64]] | None:
        """The texture of a mesh, whose vertices are doubled where paints meet; None where nothing has an image.

        Args:
            faces: Vertices of the triangles, (m, 3).
            uv: The places as numbers, (n, 2).

        Returns:
            Which vertex of the file each vertex of the mesh is, faces of these, texture (rows, columns, 3), and uv.
        """
        if not any(self._material(name).image for name in set(self.names)):
            return None
        corners = np.array(self.corners, np.int64).reshape(-1, 3)
        if corners.max(initial=-1) >= len(uv):
            raise SceneError(f"a face uses texture place {corners.max() + 1}; the file has {len(uv)}")

        # A piece for each material, and one more for its faces that have no place in its image
        placed = np.asarray((corners >= 0).all(axis=1)).tolist()
        pieces: dict[tuple[str, bool], list[int]] = {}
        for row, key in enumerate(zip(self.names, placed, strict=True)):
            pieces.setdefault(key, []).append(row)
        images: dict[Path, NDArray[np.uint8]] = {}
        origin: list[NDArray[np.int64]] = []
        paints: list[Paint] = []
        painted, first = np.zeros_like(faces), 0
        for (name, has_places), rows in pieces.items():
            material = self._material(name)
            ends = np.stack([faces[rows].reshape(-1), corners[rows].reshape(-1)], axis=-1)
            if not has_places:
                ends[:, 1] = -1
            own, index = np.unique(ends, axis=0, return_inverse=True)
            painted[rows] = first + index.reshape(-1, 3)
            origin.append(own[:, 0])
            first += len(own)
            if not has_places or material.image is None:
                paints.append(Paint(factor=material.color))
                continue
            if material.image not in images:
                images[material.image] = _pixels(material.image)
            paints.append(Paint(uv[own[:, 1]], images[material.image], material.color))
        texture, places = one_texture(paints, [len(each) for each in origin])
        return np.concatenate(origin), painted, texture, places


def read_mtl(path: Path, folder: Path) -> dict[str, ObjMaterial]:
    """Materials of a file by their names; images they name must lie in the folder or below.

    Raises:
        SceneError: A line breaks a rule, or an image is not there.
    """
    found: dict[str, ObjMaterial] = {}
    name: str | None = None
    for number, words in lines_of(path):
        key = words[0].lower()
        if key == "newmtl":
            name = " ".join(words[1:])
            found[name] = ObjMaterial()
        elif name is None:
            continue
        elif key == "kd":
            found[name] = ObjMaterial(_color(words[1:], path.name, number), found[name].image)
        elif key == "map_kd":
            if len(words) < 2 or words[1].startswith("-"):
                given = " ".join(words[1:])
                raise SceneError(f"{path.name} line {number} maps {given[:60]!r}; it must be a file name alone")
            file = check_inside(_with_slashes(" ".join(words[1:])), folder)
            if not file.is_file():
                raise SceneError(
                    f"{path.name} line {number} names the image {' '.join(words[1:])!r}, which is not there"
                )
            found[name] = ObjMaterial(found[name].color, file)
    return found


def _with_slashes(name: str) -> str:
    """A file name as other systems write it, with slashes."""
    return name.replace("\\", "/")


def _color(words: list[str], file: str, number: int) -> Color:
    """Red, green and blue; one number stands for all three."""
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) not in (1, 3) or not all(0.0 <= value <= 1.0 for value in values):
        raise SceneError(f"{file} line {number} has Kd {' '.join(words)[:60]!r}; it must be 1 or 3 numbers in 0..1")
    return (values[0], values[0], values[0]) if len(values) == 1 else (values[0], values[1], values[2])


def _pixels(path: Path) -> NDArray[np.uint8]:
    """An image file; whatever is wrong with it is one SceneError that names it."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return pixels_of(image)
    except SceneError:
        raise
    except Exception as error:
        raise SceneError(f"image {path.name!r} cannot be read: {type(error).__name__}: {error}") from error
