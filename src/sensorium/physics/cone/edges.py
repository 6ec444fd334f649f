"""Triangles of a mesh that share an edge, and the side of them on which the enclosed volume is."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Index = NDArray[np.int64]


# A part whose volume is less than this share of its area to the power of 3/2 encloses no volume
_FLAT = 1e-12


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


def shared_edges(vertices: Float, faces: NDArray[np.int32]) -> SharedEdges:
    """Edges between two triangles; corners at the same place are one.

    Args:
        vertices: Positions [m], shape (n, 3).
        faces: Corners of each triangle, shape (m, 3).
    """
    side, begin, paired = _sides_by_edge(vertices, faces)
    one, other = side[begin[paired]], side[begin[paired] + 1]
    return SharedEdges(one // 3, other // 3, one % 3, other % 3)


def outward_signs(vertices: Float, faces: NDArray[np.int32]) -> NDArray[np.int8]:
    """For each triangle 1 if its normal points out of the enclosed volume, -1 if into it, 0 for open parts.

    A part is a set of triangles connected by edges. It is closed if each of its edges borders two triangles in opposite
    directions and the volume, sum v0 (v1 x v2) / 6, is not zero; the sign of the volume is that of its triangles. Parts
    are treated one by one, so that a part that is wound inward, or open, has no effect on the others. A closed part
    must not intersect itself.

    Args:
        vertices: Positions [m], shape (n, 3).
        faces: Corners of each triangle, shape (m, 3).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Triangles along one edge are of one part, however many they are
    side, begin, paired = _sides_by_edge(vertices, faces)
    edge = np.zeros(len(side), np.int64)
    edge[begin[1:]] = 1
    edge = np.cumsum(edge)
    face = side // 3
    joined = np.flatnonzero(np.diff(edge, prepend=-1) == 0)
    links = coo_array((np.ones(len(joined), np.int8), (face[joined - 1], face[joined])), shape=(len(faces),) * 2)
    parts, part = connected_components(links, directed=False)
    is_open = np.zeros(parts, np.bool_)
    is_open[part[face[~paired[edge]]]] = True

    # Volumes of parts, each about a corner of its own, so that a part far from the origin keeps its digits
    at = vertices[faces]
    anchor = at[np.unique(part, return_index=True)[1], 0]
    v0, v1, v2 = (at[:, i] - anchor[part] for i in range(3))
    volume = np.bincount(part, (v0 * np.cross(v1, v2)).sum(axis=1) / 6.0, parts)
    cross = np.cross(v1 - v0, v2 - v0)
    area = np.bincount(part, 0.5 * np.sqrt((cross * cross).sum(axis=1)), parts)
    sign = np.where(is_open | (np.abs(volume) <= _FLAT * area**1.5), 0.0, np.sign(volume))
    return np.asarray(sign[part], np.int8)


def _sides_by_edge(vertices: Float, faces: NDArray[np.int32]) -> tuple[Index, Index, NDArray[np.bool_]]:
    """Sides of triangles, 3 face + side, sorted by their edges; where each edge begins; whether it is a shared one."""
    # Corners by place: files split them where normals or textures differ
    _, place = np.unique(vertices + 0.0, axis=0, return_inverse=True)
    corner = np.reshape(place, -1)[faces].astype(np.int64)
    start, end = corner.reshape(-1), np.roll(corner, -1, axis=1).reshape(-1)

    # Sides of one edge are adjacent when sorted by its two ends
    low, high = np.minimum(start, end), np.maximum(start, end)
    order = np.lexsort((np.arange(len(low)), high, low))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
    begin = np.flatnonzero(new)
    count = np.diff(np.append(begin, len(order)))
    one, other = order[begin], order[np.minimum(begin + 1, len(order) - 1)]
    return order, begin, (count == 2) & (start[one] == end[other])
