"""Curvature of a mesh's surface, face by face, which spreads the light that it mirrors.

The curvature of a surface is a symmetric tensor K in its tangent plane, the shape operator: along a small step e the
unit normal turns by dn = K e. Its eigenvalues are the principal curvatures [1/m], positive where the surface bulges
outward: 1/R twice on a sphere of radius R, 1/R and 0 on a cylinder. Over a face of a mesh normals are known at the
three corners, so that its three edges give six equations for the three numbers of K, solved by least squares. Method:
Rusinkiewicz, "Estimating curvatures and their derivatives on triangle meshes" (3DPVT 2004), section 3.
"""

import math
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.physics.materials import Dielectric, Mirror, ThinGlass, TwoLayer
from sensorium.physics.media import AbstractMedium
from sensorium.scene.mesh import CURVATURE, NORMAL, Mesh

CREASE_DEG = 30.0
"""Faces with a larger angle between them are two surfaces, not one that curves; normals farther than this off their
face belong to a picture, not to the shape [deg]."""

# Corners nearer than this share of the mesh's size are one: files store vertices once for each face, or image, they are
# part of. No round number, so that none of its multiples is one.
_WELD = 1.234e-7

# Coordinates are known to this share of the largest, as float32 files hold them
_ROUNDING = 4.0 * 2.0**-24

# Faces that are computed at once
_CHUNK = 1 << 18

_Array = NDArray[np.float64]

_KNOWN: "WeakKeyDictionary[Mesh, NDArray[np.float32]]" = WeakKeyDictionary()


def can_mirror(material: object | None) -> bool:
    """Whether a surface of this material sends a mirror ray on, so that it matters how it curves."""
    return isinstance(material, Mirror | TwoLayer | Dielectric | ThinGlass | AbstractMedium)


def curvature_of(mesh: Mesh) -> NDArray[np.float32]:
    """Curvature tensor of each face, shape (m, 6), as from `face_curvature`, or the mesh's own property.

    Computed once per mesh, on request.
    """
    known = _KNOWN.get(mesh)
    if known is None:
        own = mesh.face_properties.get(CURVATURE)
        if CURVATURE in mesh.vertex_properties or (own is not None and own.shape[1:] != (6,)):
            raise SceneError(
                f"property {CURVATURE!r} must be one of faces, of shape ({len(mesh.faces)}, 6); it is "
                + ("one of vertices" if own is None else f"of shape {own.shape}")
            )
        known = (face_curvature(mesh) if own is None else own).astype(np.float32)
        known.setflags(write=False)
        _KNOWN[mesh] = known
    return known


def face_curvature(mesh: Mesh) -> _Array:
    """Curvature tensor of each face in the mesh's frame [1/m].

    From the normals of the mesh (the property "normal"), else from those of the faces around each corner that are not
    beyond an edge sharper than `CREASE_DEG`: flat faces between such edges, as those of boxes, have exactly 0. A
    million faces take some 3 s.

    Args:
        mesh: Any mesh; faces without area count as flat.

    Returns:
        The elements xx, yy, zz, xy, xz, yz, shape (m, 6): dn = K e for steps e within the face.
    """
    p = mesh.vertices - mesh.center
    edges = p[np.roll(mesh.faces, -1, axis=1)] - p[mesh.faces]
    facing = np.cross(edges[:, 0], edges[:, 1])
    doubled_area = np.linalg.norm(facing, axis=1)
    longest2 = np.square(edges).sum(axis=2).max(axis=1)
    flat = doubled_area <= 1e-9 * longest2
    facing /= np.where(flat, 1.0, doubled_area)[:, None]

    noise = _ROUNDING * float(np.abs(mesh.bounds).max())
    normals = _normals_around(_welded(p)[mesh.faces].reshape(-1), edges, facing, doubled_area, flat, noise)
    given = _given_normals(mesh)
    if given is not None:
        fits = (np.einsum("fci,fi->fc", given, facing) > math.cos(math.radians(CREASE_DEG))).all(axis=1)
        if normals is None:
            normals = np.broadcast_to(facing[:, None], given.shape)
        normals = np.where(fits[:, None, None], given, normals)
    if normals is None:
        return np.zeros((len(mesh.faces), 6))

    # Rotation of normals along the edges; changes within the rounding of coordinates are none
    tensor = np.zeros((len(mesh.faces), 6))
    for start in range(0, len(mesh.faces), _CHUNK):
        part = slice(start, start + _CHUNK)
        turns = np.roll(normals[part], -1, axis=1) - normals[part]
        turns[np.square(turns).sum(axis=2) * np.square(edges[part]).sum(axis=2) <= noise**2] = 0.0
        curved = ~flat[part] & (turns != 0.0).any(axis=(1, 2))
        tensor[part][curved] = _fitted(edges[part][curved], turns[curved], facing[part][curved])
    return tensor


def _fitted(edges: _Array, turns: _Array, facing: _Array) -> _Array:
    """Tensor of each face from the turn of the normal along its edges, shapes (m, 3, 3) and facing (m, 3)."""
    # Axes in the face, and lengths in its own size
    size = np.linalg.norm(edges[:, 0], axis=1)[:, None]
    a = edges[:, 0] / size
    b = np.cross(facing, a)
    x, y = (np.einsum("fei,fi->fe", edges, axis) / size for axis in (a, b))
    u, v = (np.einsum("fei,fi->fe", turns, axis) for axis in (a, b))

    # Least squares of k11 x + k12 y = u, k12 x + k22 y = v over the edges
    xx, xy, yy = ((i * j).sum(axis=1) for i, j in ((x, x), (x, y), (y, y)))
    zero = np.zeros_like(xx)
    matrix = np.array([[xx, xy, zero], [xy, xx + yy, xy], [zero, xy, yy]]).transpose(2, 0, 1)
    right = np.stack([(x * u).sum(axis=1), (y * u + x * v).sum(axis=1), (y * v).sum(axis=1)], axis=1)
    k11, k12, k22 = (np.linalg.solve(matrix, right[:, :, None])[:, :, 0] / size).T

    def element(i: int, j: int) -> _Array:
        return k11 * a[:, i] * a[:, j] + k12 * (a[:, i] * b[:, j] + b[:, i] * a[:, j]) + k22 * b[:, i] * b[:, j]

    return np.stack([element(*pair) for pair in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))], axis=1)


def _given_normals(mesh: Mesh) -> _Array | None:
    """Normals at the corners of faces that the mesh carries, of length 1 or 0, shape (m, 3, 3); None without any."""
    if NORMAL in mesh.vertex_properties and mesh.vertex_properties[NORMAL].shape[1:] == (3,):
        normals = mesh.vertex_properties[NORMAL][mesh.faces].astype(np.float64)
    elif NORMAL in mesh.face_properties and mesh.face_properties[NORMAL].shape[1:] == (3, 3):
        normals = mesh.face_properties[NORMAL].astype(np.float64)
    else:
        return None
    length = np.linalg.norm(normals, axis=2, keepdims=True)
    return normals / np.where(length > 0.0, length, 1.0)


def _normals_around(
    corner: NDArray[np.int64],
    edges: _Array,
    facing: _Array,
    doubled_area: _Array,
    flat: NDArray[np.bool_],
    noise: float,
) -> _Array | None:
    """Normals at the corners of faces from the faces around, shape (m, 3, 3); None if all joined faces are coplanar.

    A face has the weight sin(angle) / (product of the lengths) of its two edges at the corner, which makes normals
    exact if all vertices are on a sphere: Max, "Weights for computing vertex normals from facet normals" (1999), eq. 2.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    one, other = _joined_edges(corner, facing, flat)
    if not len(one):
        return None
    cosine = np.einsum("ei,ei->e", facing[one // 3], facing[other // 3])
    bent = 2.0 * (1.0 - cosine) * np.square(edges.reshape(-1, 3)[one]).sum(axis=1)
    if (bent <= noise**2).all():
        return None

    # Corners that joined edges lead to from face to face have one normal
    after = np.arange(len(corner)).reshape(-1, 3)[:, [1, 2, 0]].reshape(-1)
    pairs = np.concatenate([one, after[one]]), np.concatenate([after[other], other])
    graph = coo_array((np.ones(len(pairs[0]), np.bool_), pairs), shape=(len(corner), len(corner)))
    count, group = connected_components(graph, directed=False)
    lengths2 = np.square(edges).sum(axis=2)
    lengths2 *= np.roll(lengths2, 1, axis=1)
    weight = np.where(flat, 0.0, doubled_area)[:, None] / np.maximum(lengths2, 1e-300)
    weighted = np.repeat(facing, 3, axis=0) * weight.reshape(-1, 1)
    total = np.stack([np.bincount(group, weighted[:, axis], count) for axis in range(3)], axis=1)
    unit: _Array = total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)
    return unit[group].reshape(-1, 3, 3)


def _welded(p: _Array) -> NDArray[np.int64]:
    """Number of the place of each vertex, the same for vertices in one place, shape (n,)."""
    grid = np.round(p / (_WELD * max(np.abs(p).max(), 1e-300))).astype(np.int64)
    mixed = grid @ np.array([1, 1 << 25, 1 << 50], np.int64)  # of 24 bits each, with their signs; the last runs over
    _, place = np.unique(mixed, return_inverse=True)
    return np.asarray(place.reshape(-1), np.int64)


def _joined_edges(
    corner: NDArray[np.int64], facing: _Array, flat: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Edges where two faces form one surface, as numbers 3 face + corner of the one and of the other."""
    start, end = corner, corner.reshape(-1, 3)[:, [1, 2, 0]].reshape(-1)
    key = np.minimum(start, end) * (corner.max() + 1) + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    same = ordered[1:] == ordered[:-1]
    first = np.flatnonzero(same)

    # Of exactly two faces, which turn the same way round, and are not sharp
    alone = np.ones(len(first), np.bool_)
    alone &= ~np.concatenate([[False], same])[first]
    alone &= ~np.concatenate([same[1:], [False]])[first]
    one, other = order[first[alone]], order[first[alone] + 1]
    kept = (start[one] == end[other]) & (start[one] != end[one]) & ~flat[one // 3] & ~flat[other // 3]
    one, other = one[kept], other[kept]
    smooth = np.einsum("ei,ei->e", facing[one // 3], facing[other // 3]) > math.cos(math.radians(CREASE_DEG))
    return one[smooth], other[smooth]
