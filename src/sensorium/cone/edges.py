"""Which triangles of a mesh meet at an edge, and whether they enclose something."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Index = NDArray[np.int64]


class SharedEdges(NamedTuple):
    """Edges that border exactly two triangles, which run along them in opposite directions."""

    first: Index
    """Triangle of each edge that comes first among the faces, shape (edges,)."""
    second: Index
    """The other one."""
    first_side: Index
    """Which side of the first it is: 0 from corner 0 to 1, 1 from 1 to 2, 2 from 2 to 0."""
    second_side: Index
    """Which side of the second."""
    are_all: bool
    """Whether every edge of the mesh is such a one: it is closed."""


def shared_edges(vertices: Float, faces: NDArray[np.int32]) -> SharedEdges:
    """Edges between two triangles; corners at the same place are one, whatever their number.

    Args:
        vertices: Positions [m], shape (n, 3).
        faces: Corners of each triangle, shape (m, 3).
    """
    # Corners by place: files split them where normals or textures differ
    _, place = np.unique(vertices + 0.0, axis=0, return_inverse=True)
    corner = np.reshape(place, -1)[faces].astype(np.int64)
    start, end = corner.reshape(-1), np.roll(corner, -1, axis=1).reshape(-1)

    # Sides of one edge stand together when sorted by its two ends
    low, high = np.minimum(start, end), np.maximum(start, end)
    order = np.lexsort((np.arange(len(low)), high, low))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
    begin = np.flatnonzero(new)
    count = np.diff(np.append(begin, len(order)))
    one, other = order[begin], order[np.minimum(begin + 1, len(order) - 1)]
    paired = (count == 2) & (start[one] == end[other])
    one, other = one[paired], other[paired]
    return SharedEdges(one // 3, other // 3, one % 3, other % 3, bool(paired.all()))


def is_closed_outward(vertices: Float, faces: NDArray[np.int32]) -> bool:
    """Whether the triangles enclose a volume and are wound so that their normals point out of it.

    Every edge borders two triangles in opposite directions, and the volume sum v0 (v1 x v2) / 6 is positive.
    """
    if not shared_edges(vertices, faces).are_all:
        return False
    v0, v1, v2 = (vertices[faces[:, i]] - vertices.mean(axis=0) for i in range(3))
    return bool((v0 * np.cross(v1, v2)).sum() > 0.0)
