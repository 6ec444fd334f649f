"""Normals of an OBJ file, at the corners of its faces: taken where every corner has one, and passed over else."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.text_lines import plain_number


class ObjNormals:
    """Gathers `vn` lines and what faces say of them."""

    def __init__(self) -> None:
        self._normals: list[list[float]] = []
        self._corners: list[list[int]] = []
        self._whole = True

    def take(self, words: Sequence[str]) -> None:
        """A line `vn x y z`."""
        try:
            normal = [float(plain_number(word)) for word in words[1:4]]
        except ValueError:
            normal = []
        self._whole &= len(normal) == 3
        self._normals.append(normal)

    def add_face(self, corners: Sequence[str]) -> None:
        """The corners of a polygon, `vertex/place/normal` each; it becomes a fan around the first."""
        if not self._whole:
            return
        known = len(self._normals)
        try:
            numbers = [int(plain_number(word.split("/")[2])) for word in corners]
        except (IndexError, ValueError):
            numbers = [0]
        self._whole = all(number != 0 and -known <= number <= known for number in numbers)
        if self._whole:
            absolute = [number - 1 if number > 0 else known + number for number in numbers]
            self._corners += [[absolute[0], a, b] for a, b in pairwise(absolute[1:])]

    def of_faces(self) -> NDArray[np.float32] | None:
        """Normals at the corners of triangles, shape (m, 3, 3); None where one is missing."""
        if not self._whole or not self._corners:
            return None
        normals = np.array(self._normals, np.float32)[np.array(self._corners)]
        return normals if np.isfinite(normals).all() else None
