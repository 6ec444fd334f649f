"""What the faces of an OBJ file are painted with: the diffuse part of its material files.

Of a material, `Kd` and `map_Kd` are read: a colour, and an image that is multiplied with it, as the format says.
Colours are linear reflectances, images sRGB. All else of materials says nothing that a texture could hold.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.guards import check_inside
from sensorium.scene.mtl_format import MtlMaterial, read_mtl
from sensorium.scene.text_lines import integer
from sensorium.scene.textures import CLAMP, REPEAT, Paint, PaintedImages, PaintError, painted


@dataclass(frozen=True, eq=False)
class Painted:
    """A mesh whose vertices are doubled where paints meet.

    Attributes:
        origin: Which vertex of the file each vertex is, (n,).
        faces: Vertices of its triangles, (m, 3).
        texture: Its images, and which of them paints each face.
        uv: Where each vertex lies in it, (n, 2).
    """

    origin: NDArray[np.int64]
    faces: NDArray[np.int64]
    texture: PaintedImages
    uv: NDArray[np.float64]


@dataclass
class ObjPaint:
    """What an OBJ file says of paint, line by line: places in images, materials, and which corner has what."""

    folder: Path
    materials: dict[str, MtlMaterial] = field(default_factory=dict)
    places: list[list[str]] = field(default_factory=list)
    corners: list[tuple[int, int, int]] = field(default_factory=list)
    """Place of each corner of each triangle, -1 for none."""
    names: list[str] = field(default_factory=list)
    """Material of each triangle, "" for none."""
    _current: str = ""
    _read: set[Path] = field(default_factory=set)

    def take(self, number: int, words: list[str]) -> None:
        """Read a line `vt`, `mtllib` or `usemtl`; any other is passed over."""
        if words[0] == "vt":
            if not 2 <= len(words) <= 4:
                raise PaintError(f"line {number} has a texture place of {len(words) - 1} numbers; it has 1, 2 or 3")
            self.places.append([words[1], words[2] if len(words) > 2 else "0"])
        elif words[0] == "usemtl":
            self._current = " ".join(words[1:])
        elif words[0] == "mtllib":
            # One file, whose name may have spaces, or several; meshes are often handed on without any
            whole = " ".join(words[1:])
            names = [whole] if check_inside(_with_slashes(whole), self.folder).is_file() else words[1:]
            for name in names:
                file = check_inside(_with_slashes(name), self.folder)
                if file.is_file() and file not in self._read:  # a file that is named again says the same
                    self._read.add(file)
                    self.materials.update(read_mtl(file, self.folder))

    def place_of(self, word: str, number: int) -> int:
        """Place of the corner `v/vt/vn` of a face, -1 where it has none or its material no image.

        Places count from 1, or from -1 back.
        """
        parts = word.split("/")
        material = self.materials.get(self._current)
        if material is None or material.map_line is None or len(parts) < 2 or not parts[1]:
            return -1
        given = integer(parts[1], number)
        place = given - 1 if given > 0 else len(self.places) + given
        if given == 0 or place < 0:
            raise PaintError(f"line {number} uses texture place {given}; they count from 1, or from -1 back")
        return place

    def add_faces(self, corners: list[tuple[int, int, int]]) -> None:
        """Triangles of a face line, by the places of their corners."""
        self.corners += corners
        self.names += [self._current] * len(corners)

    def colors(self) -> NDArray[np.float32] | None:
        """Colour of each triangle, (m, 3), white where its material gives none; None where no material gives any."""
        used = {name: self.materials[name] for name in set(self.names) if name in self.materials}
        if all(material.color_line is None for material in used.values()):
            return None
        white = (1.0, 1.0, 1.0)
        known = {name: material.color() for name, material in used.items()}
        return np.array([known.get(name, white) for name in self.names], np.float32)

    def applied(self, faces: NDArray[np.int64], uv: NDArray[np.float64]) -> Painted | None:
        """The mesh with the texture that its images make; None where nothing has an image.

        Args:
            faces: Vertices of the triangles, (m, 3).
            uv: The places as numbers, (n, 2).
        """
        used = {name: self.materials[name] for name in set(self.names) if name in self.materials}
        colors = {name: material.color() for name, material in used.items()}
        maps = {name: image for name, material in used.items() if (image := material.image()) is not None}
        if not maps:
            return None
        corners = np.array(self.corners, np.int64).reshape(-1, 3)
        if corners.max(initial=-1) >= len(uv):
            raise PaintError(f"a face uses texture place {corners.max() + 1}; the file has {len(uv)}")

        # A piece for each material, and one more for its faces that have no place in its image
        placed = np.asarray((corners >= 0).all(axis=1)).tolist()
        pieces: dict[tuple[str, bool], list[int]] = {}
        for row, key in enumerate(zip(self.names, placed, strict=True)):
            pieces.setdefault(key, []).append(row)
        images: dict[Path, NDArray[np.uint8]] = {}
        origin: list[NDArray[np.int64]] = []
        places: list[NDArray[np.float64]] = []
        paints: list[tuple[NDArray[np.uint8] | None, Paint]] = []
        doubled, first = np.zeros_like(faces), 0
        for (name, has_places), rows in pieces.items():
            image, color = maps.get(name), colors.get(name, (1.0, 1.0, 1.0))
            ends = np.stack([faces[rows].reshape(-1), corners[rows].reshape(-1)], axis=-1)
            if not has_places:
                ends[:, 1] = -1
            own, index = np.unique(ends, axis=0, return_inverse=True)
            doubled[rows] = first + index.reshape(-1, 3)
            origin.append(own[:, 0])
            first += len(own)
            if not has_places or image is None:
                paints.append((None, Paint(factor=color)))
                places.append(np.zeros((len(own), 2)))
                continue
            if image.path not in images:
                images[image.path] = image.pixels()
            wrap = (CLAMP, CLAMP) if image.clamped else (REPEAT, REPEAT)
            paints.append((images[image.path], Paint(factor=color, wrap=wrap)))
            places.append(image.placed(uv[own[:, 1]]))
        texture = painted(paints, [len(rows) for rows in pieces.values()])
        by_piece = np.concatenate([np.array(rows) for rows in pieces.values()])
        of_faces = np.empty_like(texture.face_paint)
        of_faces[by_piece] = texture.face_paint
        texture = PaintedImages(texture.images, texture.paints, of_faces)
        return Painted(np.concatenate(origin), doubled, texture, np.concatenate(places))


def _with_slashes(name: str) -> str:
    """A file name as other systems write it, with slashes."""
    return name.replace("\\", "/")
