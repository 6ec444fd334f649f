"""Strict readers for the mesh formats that are plain text: OFF and text STL; OBJ has `obj_format`.

Tolerant readers drop a vertex that is not a number, resolve relative indices against the wrong line and reorder faces
by material. Here a file is read exactly, faces in file order, or refused with the line at fault. Polygons become fans
around their first vertex.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.scene.formats.text_lines import integer, lines_of
from sensorium.scene.formats.textures import PaintedImages


@dataclass(frozen=True, eq=False)
class MeshArrays:
    """Content of a file: vertices [m] (n, 3), faces (m, 3), and colors in [0, 1] (n, 4) or None; texture and uv.

    Texture and texture coordinates are as `Mesh` takes them, or None. If paint is a color a face and no image,
    `face_texture` has these, (m, 3). Normals are at vertices, (n, 3), or at the corners of faces, (m, 3, 3).
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    color: NDArray[np.float64] | None = None
    texture: PaintedImages | None = None
    uv: NDArray[np.float64] | None = None
    face_texture: NDArray[np.float32] | None = None
    normal: NDArray[np.float32] | None = None
    corner_normal: NDArray[np.float32] | None = None


def read_off(path: Path) -> MeshArrays:
    """OFF, or COFF with colors after each vertex: counts, then that many vertex and face lines."""
    lines = lines_of(path)
    number, words = next(lines, (0, [""]))
    head = words[0].upper()
    if head not in ("OFF", "COFF"):
        raise SceneError(f"it begins with {words[0][:20]!r}; an OFF file begins with OFF or COFF")
    if words[1:]:
        words = words[1:]
    else:
        number, words = next(lines, (number, []))
    if len(words) < 2:
        raise SceneError("its header has no vertex and face counts")
    vertex_count, face_count = (integer(word, number) for word in words[:2])
    if min(vertex_count, face_count) < 0:
        raise SceneError(f"it claims {vertex_count} vertices and {face_count} faces; neither may be negative")

    # A file may end early: count the lines that are there
    vertices: list[list[str]] = []
    colors: list[list[str]] = []
    faces: list[tuple[int, int, int]] = []
    face_lines = 0
    for number, words in lines:
        if len(vertices) < vertex_count:
            wanted = 3 if head == "OFF" else 6
            if len(words) < wanted:
                raise SceneError(f"line {number} has a vertex of {len(words)} numbers; it has at least {wanted}")
            vertices.append(words[:3])
            colors.append(words[3:7])
        elif face_lines < face_count:
            corners = [integer(word, number) for word in words]
            if corners[0] != len(corners[1 : corners[0] + 1]):
                raise SceneError(f"line {number} claims {corners[0]} vertices and lists {len(corners) - 1}")
            faces += _fan(corners[1 : corners[0] + 1], number)
            face_lines += 1
    if len(vertices) < vertex_count or face_lines < face_count:
        raise SceneError(
            f"it claims {vertex_count} vertices and {face_count} faces; it has {len(vertices)} and {face_lines}"
        )
    color = _colors(colors) if head == "COFF" else None
    return MeshArrays(_numbers(vertices, 3), _indices(faces), color)


def _colors(rows: list[list[str]]) -> NDArray[np.float64]:
    """Colors of vertices, (n, 4) in 0..1: whole numbers up to 255, or, where any has a point, numbers up to 1.

    Alpha may be left out.
    """
    is_share = any("." in word or "e" in word.lower() for row in rows for word in row)
    full = 1.0 if is_share else 255.0
    color = _numbers([[*row[:3], *(row[3:] or [str(full)])] for row in rows], 4)
    bad = ~((color >= 0.0) & (color <= full)).all(axis=1)
    if bad.any():
        given = " ".join(rows[int(np.argmax(bad))])[:60]
        rule = "numbers in 0..1" if is_share else "whole numbers in 0..255"
        raise SceneError(f"vertex {int(np.argmax(bad))} has the color {given!r}; it must be {rule} here")
    return color / full


def read_stl_text(path: Path) -> MeshArrays:
    """STL as text: facets of three vertices between `solid` and `endsolid`; all solids become one mesh."""
    vertices: list[list[str]] = []
    facets = open_solids = 0
    for number, words in lines_of(path):
        key = words[0].lower()
        if key == "vertex":
            if len(words) != 4:
                raise SceneError(f"line {number} has a vertex of {len(words) - 1} numbers; it has 3")
            vertices.append(words[1:])
        elif key == "endfacet":
            facets += 1
            if len(vertices) != 3 * facets:
                raise SceneError(f"line {number} ends a facet that has not exactly 3 vertices")
        elif key in ("solid", "endsolid"):
            open_solids += 1 if key == "solid" else -1
    if open_solids or len(vertices) != 3 * facets:
        raise SceneError("it stops before its last facet or solid ends; it must be whole")
    return MeshArrays(_numbers(vertices, 3), np.arange(3 * facets).reshape(-1, 3))


def _fan(corners: Sequence[int], number: int) -> list[tuple[int, int, int]]:
    """Triangles of a polygon, around its first vertex."""
    if len(corners) < 3:
        raise SceneError(f"line {number} has a face of {len(corners)} vertices; it needs at least 3")
    return [(corners[0], a, b) for a, b in pairwise(corners[1:])]


def _numbers(rows: list[list[str]], width: int) -> NDArray[np.float64]:
    """Rows of words as float64, shape (n, width); a word that is no number is named."""
    try:
        return np.array(rows, dtype=np.float64).reshape(-1, width)
    except ValueError as error:
        raise SceneError(f"it has something that is no number: {error}") from None


def _indices(faces: list[tuple[int, int, int]]) -> NDArray[np.int64]:
    """Faces as int64, shape (m, 3), also for none; an index too long for a machine word is refused."""
    try:
        return np.array(faces, dtype=np.int64).reshape(-1, 3)
    except OverflowError:
        raise SceneError("it has a vertex index beyond 2**63") from None
