"""Paint of an OBJ file's faces: the diffuse part of its material files.

Of a material, `Kd` and `map_Kd` are read: a color, and an image that is multiplied with it, as the format says.
Colors are linear reflectances, images sRGB. Other parts of materials have no place in a texture.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.formats.guards import check_inside
from sensorium.scene.formats.mtl_format import MtlMaterial, read_mtl
from sensorium.scene.formats.obj_corners import MISSING, NO_NUMBER, absolute
from sensorium.scene.formats.text_lines import number_rows
from sensorium.scene.formats.textures import CLAMP, REPEAT, Paint, PaintedImages, PaintError, painted


@dataclass(frozen=True, eq=False)
class Painted:
    """A mesh whose vertices are duplicated at borders of paint.

    Attributes:
        origin: Which vertex of the file each vertex is, (n,).
        faces: Vertices of its triangles, (m, 3).
        texture: Its images, and which of them paints each face.
        uv: Texture coordinates of each vertex, (n, 2).
    """

    origin: NDArray[np.int64]
    faces: NDArray[np.int64]
    texture: PaintedImages
    uv: NDArray[np.float64]


@dataclass
class ObjPaint:
    """Paint of an OBJ file: materials, and the material and texture coordinates of each triangle."""

    folder: Path
    materials: dict[str, MtlMaterial] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=lambda: {"": 0})
    """Names of materials that faces have, numbered; "" is none."""
    current: int = 0
    """Number of the material of the faces to come."""
    _named: set[str] = field(default_factory=set)
    _read: set[Path] = field(default_factory=set)
    _place: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    _known: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    _fan: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    _material: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def take(self, key: str, rest: str) -> None:
        """Read a line `mtllib` or `usemtl`; any other is passed over."""
        words = rest.split()
        if key == "usemtl":
            self.current = self.names.setdefault(" ".join(words), len(self.names))
        elif key == "mtllib" and rest not in self._named:
            self._named.add(rest)
            # One file, whose name may have spaces, or several; meshes are often handed on without any
            whole = " ".join(words)
            names = [whole] if check_inside(_with_slashes(whole), self.folder).is_file() else words
            for name in names:
                file = check_inside(_with_slashes(name), self.folder)
                if file.is_file() and file not in self._read:  # a file that is named again says the same
                    self._read.add(file)
                    self.materials.update(read_mtl(file, self.folder))

    def add_faces(
        self,
        place: NDArray[np.int64],
        known: NDArray[np.int64],
        material: NDArray[np.int64],
        fan: NDArray[np.int64],
    ) -> None:
        """Corners of all faces.

        Args:
            place: Number of the place of each corner, from 1 on or from -1 back, 0 for none.
            known: Number of texture coordinates before its line.
            material: Number of its material.
            fan: Corners of the triangles, (m, 3).
        """
        self._place, self._known, self._fan, self._material = place, known, fan, material

    def colors(self) -> NDArray[np.float32] | None:
        """Color of each triangle, (m, 3), white where its material gives none; None where no material gives any."""
        used = self._used()
        if all(material.color_line is None for material in used.values()):
            return None
        known = np.ones((len(self.names), 3), np.float32)
        for number, material in used.items():
            known[number] = material.color()
        return known[self._material[self._fan[:, 0]]]

    def _used(self) -> dict[int, MtlMaterial]:
        """Materials that faces have, by their numbers."""
        numbers = set(np.unique(self._material).tolist())
        return {k: self.materials[name] for name, k in self.names.items() if name in self.materials and k in numbers}

    def applied(
        self,
        faces: NDArray[np.int64],
        place_lines: Sequence[str],
        place_numbers: Sequence[int],
        corner_lines: NDArray[np.int64],
    ) -> Painted | None:
        """The mesh with the texture of its images; None if no face has an image.

        Args:
            faces: Vertices of the triangles, (m, 3).
            place_lines: The text after `vt` in each line.
            place_numbers: Of these lines in the file.
            corner_lines: Line of each corner.
        """
        used = self._used()
        colors = {number: material.color() for number, material in used.items()}
        maps = {number: image for number, material in used.items() if (image := material.image()) is not None}
        if not maps:
            return None
        uv = _places(place_lines, place_numbers)
        corners = self._corners(list(maps), len(uv), corner_lines)[self._fan]
        material = self._material[self._fan[:, 0]]

        # A piece for each material, and one more for its faces that have no place in its image
        placed = (corners >= 0).all(axis=1)
        keys, first_row, piece_of = np.unique(2 * material + placed, return_index=True, return_inverse=True)
        images: dict[Path, NDArray[np.uint8]] = {}
        origin: list[NDArray[np.int64]] = []
        places: list[NDArray[np.float64]] = []
        paints: list[tuple[NDArray[np.uint8] | None, Paint]] = []
        doubled, of_faces, first = np.zeros_like(faces), np.zeros(len(faces), np.int64), 0
        by_piece = np.split(np.argsort(piece_of, kind="stable"), np.cumsum(np.bincount(piece_of))[:-1])
        for piece in np.argsort(first_row):
            rows, (number, has_places) = by_piece[piece], divmod(int(keys[piece]), 2)
            image, color = maps.get(number), colors.get(number, (1.0, 1.0, 1.0))
            place = corners[rows].reshape(-1) if has_places else -1
            ends = faces[rows].reshape(-1) * (len(uv) + 1) + place + 1
            own, index = np.unique(ends, return_inverse=True)
            doubled[rows] = first + index.reshape(-1, 3)
            of_faces[rows] = len(paints)
            origin.append(own // (len(uv) + 1))
            first += len(own)
            if not has_places or image is None:
                paints.append((None, Paint(factor=color)))
                places.append(np.zeros((len(own), 2)))
                continue
            if image.path not in images:
                images[image.path] = image.pixels()
            wrap = (CLAMP, CLAMP) if image.clamped else (REPEAT, REPEAT)
            paints.append((images[image.path], Paint(factor=color, wrap=wrap)))
            places.append(image.placed(uv[own % (len(uv) + 1) - 1]))
        one_each = painted(paints, [1] * len(paints))
        texture = PaintedImages(one_each.images, one_each.paints, one_each.face_paint[of_faces])
        return Painted(np.concatenate(origin), doubled, texture, np.concatenate(places))

    def _corners(self, with_image: list[int], count: int, lines: NDArray[np.int64]) -> NDArray[np.int64]:
        """Place of each corner from 0 on, -1 where it has none or its material no image."""
        asked = np.isin(self._material, with_image) & (self._place != MISSING)
        found = np.where(asked, absolute(self._place, self._known), -1)
        wrong = asked & ((found < 0) | (self._place == 0))
        if wrong.any():
            k = int(np.argmax(wrong))
            given = "that is no number" if self._place[k] == NO_NUMBER else self._place[k]
            raise PaintError(f"line {lines[k]} uses texture place {given}; they count from 1, or from -1 back")
        if found.max(initial=-1) >= count:
            raise PaintError(f"a face uses texture place {found.max() + 1}; the file has {count}")
        return found


def _places(lines: Sequence[str], numbers: Sequence[int]) -> NDArray[np.float64]:
    """Places in images as numbers, (n, 2); v is 0 where it is left out."""
    values, counts = number_rows(lines)
    wrong = (counts < 1) | (counts > 3)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise PaintError(f"line {numbers[k]} has a texture place of {counts[k]} numbers; it has 1, 2 or 3")
    first = np.cumsum(counts) - counts
    second = np.where(counts > 1, np.append(values, 0.0)[first + 1], 0.0)
    return np.stack([values[first], second], axis=-1)


def _with_slashes(name: str) -> str:
    """A file name as other systems write it, with slashes."""
    return name.replace("\\", "/")
