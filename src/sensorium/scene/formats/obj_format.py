"""Wavefront OBJ: faces in the order of the file, and errors with their line."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.scene.formats.obj_corners import Corners, absolute, fans, read_corners
from sensorium.scene.formats.obj_materials import ObjPaint
from sensorium.scene.formats.text_formats import MeshArrays
from sensorium.scene.formats.text_lines import number_rows, texts_of

_FREQUENT = {"v", "f", "vn", "vt"}


def read_obj(path: Path, paint: bool = True) -> MeshArrays:
    """Wavefront OBJ: `v x y z [w | r g b]` and `f` lines; negative indices count back from their line.

    If materials paint faces with images (`map_Kd`), these become the texture, and vertices are duplicated where paints
    or texture coordinates differ; if they only color them (`Kd`), each face has its color. Groups and all other parts
    of materials are ignored; a file outside the folder is still refused. Without paint all of it is ignored, and no
    other file is opened. Normals (`vn`) are used if every corner has one.
    """
    said = ObjPaint(path.parent)
    rows: dict[str, list[str]] = {"v": [], "vn": [], "vt": []}
    numbers: dict[str, list[int]] = {"v": [], "vt": []}
    faces: list[str] = []
    face_numbers: list[int] = []
    runs: list[tuple[int, int, int, int, int]] = []  # face lines before, then v, vt, vn lines and material
    goes_on = False
    for number, text in texts_of(path):
        key, _, rest = text.partition(" ")
        if key not in _FREQUENT:
            words = text.split(None, 1)  # blanks before, or tabs
            key, rest = (*words, "", "")[:2]
        if key == "f":
            if not goes_on:
                runs.append((len(faces), len(rows["v"]), len(rows["vt"]), len(rows["vn"]), said.current))
                goes_on = True
            faces.append(rest)
            face_numbers.append(number)
            continue
        goes_on = False
        if key in rows:
            rows[key].append(rest)
            if key in numbers:
                numbers[key].append(number)
        elif paint:
            said.take(key, rest)

    points, color = _vertices(rows["v"], numbers["v"])
    corners = read_corners(faces, face_numbers)
    of_lines = np.array(runs, np.int64).reshape(-1, 5)
    repeats = np.diff(np.append(of_lines[:, 0], len(faces)))
    lines = np.repeat(of_lines[:, 1:], repeats, axis=0)
    _check(corners, lines[:, 0], face_numbers)

    # Corners, with the counts at their lines; then triangles around the first corner of each face
    of_corners = np.repeat(lines, corners.counts, axis=0)
    fan = fans(corners.counts)
    triangles = absolute(corners.vertex, of_corners[:, 0])[fan]
    at_corners = corner_normals(rows["vn"], corners.normal[fan], of_corners[:, 2][fan])
    if not paint or triangles.max(initial=-1) >= len(points):  # if `Mesh` refuses an index by name
        return MeshArrays(points, triangles, color, corner_normal=at_corners)
    said.add_faces(corners.place, of_corners[:, 1], of_corners[:, 3], fan)
    painted = said.applied(triangles, rows["vt"], numbers["vt"], np.repeat(face_numbers, corners.counts))
    if painted is None:
        return MeshArrays(points, triangles, color, face_texture=said.colors(), corner_normal=at_corners)
    doubled = None if color is None else color[painted.origin]
    texture, uv = painted.texture, painted.uv
    return MeshArrays(points[painted.origin], painted.faces, doubled, texture, uv, corner_normal=at_corners)


def _vertices(lines: list[str], numbers: list[int]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Points (n, 3), and colors (n, 4) where each has one: an old extension, taken at its word only there."""
    values, counts = number_rows(lines)
    wrong = ~np.isin(counts, (3, 4, 6, 7))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise SceneError(f"line {numbers[k]} has a vertex of {counts[k]} numbers; it has 3, 4, 6 or 7")
    first = (np.cumsum(counts) - counts)[:, None]
    points = values[first + np.arange(3)].reshape(-1, 3)
    if not len(counts) or counts.min() < 6:
        return points, None
    return points, np.concatenate([values[first + np.arange(3, 6)], np.ones((len(points), 1))], axis=1)


def _check(corners: Corners, known: NDArray[np.int64], numbers: list[int]) -> None:
    """Faces have at least 3 corners, whose vertices count from 1, or back from the last one."""
    line_of = np.repeat(np.arange(len(corners.counts)), corners.counts)
    wrong = (corners.vertex == 0) | (corners.vertex < -known[line_of])
    short = corners.counts < 3
    first_wrong = int(line_of[np.argmax(wrong)]) if wrong.any() else len(numbers)
    first_short = int(np.argmax(short)) if short.any() else len(numbers)
    if first_short < first_wrong or (short.any() and first_short == first_wrong and corners.counts[first_short] == 0):
        raise SceneError(
            f"line {numbers[first_short]} has a face of {corners.counts[first_short]} vertices; it needs at least 3"
        )
    if wrong.any():
        least = corners.vertex[line_of == first_wrong].min()
        raise SceneError(f"line {numbers[first_wrong]} uses vertex {least}; they count from 1, or from -1 back")


def corner_normals(
    lines: Sequence[str], given: NDArray[np.int64], known: NDArray[np.int64]
) -> NDArray[np.float32] | None:
    """Normals at corners, shape (*given.shape, 3); None where one is missing or no number.

    Args:
        lines: The text after `vn` in each line.
        given: Number that each corner gives, from 1 on, or from -1 back.
        known: Number of normals before the line of the corner.
    """
    if not given.size or ((given == 0) | (np.abs(given) > known)).any():
        return None
    try:
        values, counts = number_rows(lines)
    except SceneError:
        return None
    if (counts < 3).any():
        return None
    first = np.cumsum(counts) - counts
    normals = values[first[:, None] + np.arange(3)].astype(np.float32)
    found = normals[absolute(given, known)]
    return found if np.isfinite(found).all() else None
