"""Quads of a triangle mesh, over which lines are laid.

Two triangles are one quad if they share an edge, are coplanar, face the same way and make a convex shape. A triangle
with several possible partners takes the one that gives the most rectangular quad; of equals, the first. Any other stays
a lone triangle.

The order of corners is fixed, since it gives the direction of the lines: v0 v1 and v3 v2 are the longer two sides, so
that the lines are close; if all are equally long, those that rise less in the mesh's own frame, so that lines on an
upright square are level, as in the thesis. A lone triangle begins with its longest side; its third corner counts twice.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.cone.edges import Float, Index, shared_edges

# Sine of the angle between two triangles of a plane: the uncertainty of float32 coordinates of a file
_FLAT = 1e-4

# Lengths, and measures of rectangles, that differ by less than these shares are equal
_EQUAL_LENGTH, _EQUAL_SHAPE = 1e-9, 1e-6


class Quads(NamedTuple):
    """Faces of a mesh as quads."""

    corners: Index
    """Vertices v0, v1, v2, v3 around each, wound as the triangles; v3 = v2 for a lone triangle. Shape (quads, 4)."""
    face: Index
    """The triangle of each, of two that which comes first; rising, shape (quads,)."""


def recovered_quads(vertices: Float, faces: NDArray[np.int32]) -> Quads:
    """The quads that a mesh was triangulated from.

    Args:
        vertices: Positions [m], shape (n, 3).
        faces: Corners of each triangle, shape (m, 3).
    """
    v0, v1, v2 = (vertices[faces[:, i]] for i in range(3))
    normal = np.cross(v1 - v0, v2 - v0)
    area = np.sqrt((normal * normal).sum(axis=1))
    normal = normal / np.where(area > 0.0, area, 1.0)[:, None]

    # Pairs in one plane; as a rule a smooth surface has few
    edges = shared_edges(vertices, faces)
    cosine = (normal[edges.first] * normal[edges.second]).sum(axis=1)
    sine = np.abs(np.cross(normal[edges.first], normal[edges.second])).max(axis=1, initial=0.0)
    flat = np.flatnonzero((sine <= _FLAT) & (cosine > 0.5))
    one, other, first_side, second_side = (column[flat] for column in edges[:4])

    # Around the pair: the first triangle from its corner off the shared edge, and the second's between the edge's ends
    around = np.stack(
        [
            faces[one, (first_side + 2) % 3],
            faces[one, first_side],
            faces[other, (second_side + 2) % 3],
            faces[one, (first_side + 1) % 3],
        ],
        axis=1,
    ).astype(np.int64)
    turn, skew = _corners(vertices[around], normal[one])

    # The most rectangular first
    candidate = np.flatnonzero((turn > 0.0).all(axis=1))
    shape = np.rint(skew[candidate] / _EQUAL_SHAPE)
    candidate = candidate[np.lexsort((other[candidate], one[candidate], shape))]
    free = np.ones(len(faces), np.bool_)
    chosen = []
    for pair, i, j in zip(candidate.tolist(), one[candidate].tolist(), other[candidate].tolist(), strict=True):
        if free[i] and free[j]:
            free[i] = free[j] = False
            chosen.append(pair)
    pairs, lone = np.array(chosen, np.int64), np.flatnonzero(free)

    corners = np.concatenate([_along_longer(vertices, around[pairs]), _from_longest(vertices, faces[lone])])
    face = np.concatenate([one[pairs], lone])
    order = np.argsort(face, kind="stable")
    return Quads(corners[order], face[order])


def _corners(points: Float, normal: Float) -> tuple[Float, Float]:
    """Turn of each corner of quads (n, 4, 3) about the normal, (n, 4), and the sum of their |cosines|, (n,)."""
    ahead = np.roll(points, -1, axis=1) - points
    length = np.sqrt((ahead * ahead).sum(axis=2))
    ahead = ahead / np.where(length > 0.0, length, 1.0)[..., None]
    behind = np.roll(ahead, 1, axis=1)
    turn = (np.cross(behind, ahead) * normal[:, None]).sum(axis=2)
    return turn, np.abs((behind * ahead).sum(axis=2)).sum(axis=1)


def _along_longer(vertices: Float, around: Index) -> Index:
    """Quads (n, 4) turned so that they begin with the longer pair of sides, of equals the one that rises less."""
    sides = np.roll(vertices[around], -1, axis=1) - vertices[around]
    length, rise = np.sqrt((sides * sides).sum(axis=2)), np.abs(sides[..., 2])
    longer = (length[:, 1] + length[:, 3]) - (length[:, 0] + length[:, 2])
    less = (rise[:, 0] + rise[:, 2]) - (rise[:, 1] + rise[:, 3])
    same = _EQUAL_LENGTH * length.sum(axis=1)
    turned = (longer > same) | ((np.abs(longer) <= same) & (less > same))
    return np.where(turned[:, None], np.roll(around, -1, axis=1), around)


def _from_longest(vertices: Float, faces: NDArray[np.int32]) -> Index:
    """Triangles (n, 3) as quads (n, 4) that begin with their longest side and end with a corner twice."""
    sides = np.roll(vertices[faces], -1, axis=1) - vertices[faces]
    length = np.sqrt((sides * sides).sum(axis=2))
    close = length >= length.max(axis=1, initial=0.0, keepdims=True) * (1.0 - _EQUAL_LENGTH)
    begin = close.argmax(axis=1)
    at = (begin[:, None] + np.array([0, 1, 2, 2])) % 3
    return np.take_along_axis(faces.astype(np.int64), at, axis=1)
