"""Normals of an OBJ file, at the corners of its faces: used if every corner has one."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.scene.formats.obj_corners import absolute
from sensorium.scene.formats.text_lines import number_rows


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
