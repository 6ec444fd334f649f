"""Tables of a scene for the search of nearest points: faces of all meshes in clusters, and mounts of objects."""

import weakref
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.cone.edges import outward_signs
from sensorium.physics.cone.quads import recovered_quads
from sensorium.scene.layout import Layout
from sensorium.scene.mesh import Mesh
from sensorium.scene.volumes import AIR

Float = NDArray[np.float64]

# Tolerance of parallel sides and flat faces, relative to length: rounding errors
_PARALLEL = 1e-12

# Faces that point away are hidden: a face of a closed part from outside its mesh's box, a one-sided face always
HIDDEN_OUTSIDE, HIDDEN_ALWAYS = 1, 2

# Most faces of a cluster, which are examined only if its sphere is in the cone and near enough
_CLUSTER = 32


class FaceTables(NamedTuple):
    """Faces of all meshes, each in its mesh's frame O."""

    corners: Float  # (faces, 4, 3) v0, v1, v2, v3 around [m]; the last is the third of a triangle
    normal: Float  # (faces, 3) unit vector; outward on closed parts, but for one-sided faces; zeros for no area
    offset: Float  # (faces,) n v0 [m]
    bend: Float  # (faces,) how far a corner may be off that plane [m]
    extent: Float  # (faces,) the side that lines are laid along [m]
    is_parallel: NDArray[np.bool_]  # (faces,) whether all lines are, on a flat face
    triangle: NDArray[np.int32]  # (faces,) face of the mesh, of two the first
    hidden: NDArray[np.int8]  # (faces,) HIDDEN_OUTSIDE or HIDDEN_ALWAYS where it cannot be seen, facing away; else 0
    cluster_first: NDArray[np.int32]  # (clusters + 1,) faces of each cluster
    cluster_sphere: Float  # (clusters, 4) middle and radius [m]
    mesh_first: NDArray[np.int32]  # (meshes + 1,) clusters of each mesh
    mesh_box: Float  # (meshes, 2, 3) least and greatest corner [m]


class ObjectTables(NamedTuple):
    """Objects of all worlds, by `object_id`."""

    mesh: NDArray[np.int32]  # (1 | worlds, objects), -1 where there is none to see
    body: NDArray[np.int32]  # (objects,), -1 for the world itself
    rotation: Float  # (1 | worlds, objects, 3, 3) R_BO
    position: Float  # (1 | worlds, objects, 3) p_BO [m]
    middle: Float  # (1 | worlds, objects, 3) middle of the mesh's box, in B [m]
    radius: Float  # (1 | worlds, objects) of the sphere about it [m]


def face_tables(meshes: tuple[Mesh, ...], *, as_quads: bool) -> FaceTables:
    """Faces of meshes.

    Args:
        meshes: Each once.
        as_quads: Whether triangles are put together to quads, for lines; else they stay what they are.
    """
    corners, triangle, cluster_first, sphere, mesh_first = [], [], [0], [np.zeros((0, 4))], [0]
    outward, one_sided = [np.zeros(0, np.int8)], [np.zeros(0, np.bool_)]
    for faces in (_prepared(mesh, as_quads) for mesh in meshes):
        corners.append(faces.corners)
        triangle.append(faces.triangle)
        outward.append(faces.outward)
        one_sided.append(faces.one_sided)
        cluster_first += (cluster_first[-1] + np.append(faces.begin[1:], len(faces.corners))).tolist()
        sphere.append(faces.sphere)
        mesh_first.append(mesh_first[-1] + len(faces.begin))
    every, sign = np.concatenate([*corners, np.zeros((0, 4, 3))]), np.concatenate(outward)
    without_backs = np.concatenate(one_sided)
    normal = np.cross(every[:, 1] - every[:, 0], every[:, 2] - every[:, 0])
    length = np.sqrt((normal * normal).sum(axis=1))
    normal = normal / np.where(length > 0.0, length, 1.0)[:, None]
    normal[(sign < 0) & ~without_backs] *= -1.0
    offset = (normal * every[:, 0]).sum(axis=1)
    height = np.abs((normal[:, None] * every).sum(axis=2) - offset[:, None])
    bend = height.max(axis=1, initial=0.0)
    sides = np.stack([every[:, 3] - every[:, 0], every[:, 2] - every[:, 1]], axis=1)
    first, last = every[:, 1] - every[:, 0], every[:, 2] - every[:, 3]
    size2 = (first * first).sum(axis=1)
    skew = np.abs(np.cross(first, last)).max(axis=1, initial=0.0)
    return FaceTables(
        corners=every,
        normal=normal,
        offset=offset,
        bend=bend,
        extent=np.sqrt((sides * sides).sum(axis=2)).max(axis=1, initial=0.0),
        is_parallel=(skew <= _PARALLEL * size2) & (bend <= _PARALLEL * np.sqrt(size2)),
        triangle=np.concatenate([*triangle, np.zeros(0)]).astype(np.int32),
        hidden=np.where(without_backs, HIDDEN_ALWAYS, np.where(sign != 0, HIDDEN_OUTSIDE, 0)).astype(np.int8),
        cluster_first=np.array(cluster_first, np.int32),
        cluster_sphere=np.concatenate(sphere),
        mesh_first=np.array(mesh_first, np.int32),
        mesh_box=np.array([mesh.bounds for mesh in meshes]).reshape(-1, 2, 3),
    )


class _Faces(NamedTuple):
    """Faces of one mesh, in clusters."""

    corners: Float  # (faces, 4, 3)
    triangle: NDArray[np.int64]  # (faces,)
    begin: NDArray[np.int64]  # (clusters,)
    sphere: Float  # (clusters, 4)
    outward: NDArray[np.int8]  # (faces,) 1 where the normal points out of a closed part, -1 for into, 0 for open
    one_sided: NDArray[np.bool_]  # (faces,)


_known: "weakref.WeakKeyDictionary[Mesh, dict[bool, _Faces]]" = weakref.WeakKeyDictionary()


def _prepared(mesh: Mesh, as_quads: bool) -> _Faces:
    """The faces of a mesh, built on first use and kept as long as the mesh."""
    known = _known.setdefault(mesh, {})
    if as_quads not in known:
        one_sided = np.zeros(len(mesh.faces), np.bool_) if mesh.one_sided is None else mesh.one_sided
        if as_quads and one_sided.all() == one_sided.any():  # no quad of both kinds
            index, face = recovered_quads(mesh.vertices, mesh.faces)
        else:
            index, face = mesh.faces[:, [0, 1, 2, 2]].astype(np.int64), np.arange(len(mesh.faces))
        points = mesh.vertices[index]
        groups = _clusters(points.mean(axis=1))
        order = np.concatenate(groups)
        begin = np.cumsum([0, *(len(group) for group in groups[:-1])])
        outward = outward_signs(mesh.vertices, mesh.faces)[face[order]]
        known[as_quads] = _Faces(
            points[order], face[order], begin, _spheres(points[order], begin), outward, one_sided[face[order]]
        )
    return known[as_quads]


def object_tables(layout: Layout, body_names: tuple[str, ...], hide: Collection[str]) -> ObjectTables:
    """Mounts of the visible objects: not those on hidden bodies, nor volumes of air such as fog banks."""
    index = {name: i for i, name in enumerate(body_names)}
    hidden = np.array([name in hide for name in layout.body], np.bool_)
    air = layout.material_kind[layout.material_index] == AIR
    mesh = np.where(hidden | air, -1, layout.mesh_index).astype(np.int32)

    # The last stands for objects that a world lacks
    center = np.array([*(m.center for m in layout.meshes), np.zeros(3)])
    radius = np.array([*(_radius(m) for m in layout.meshes), 0.0])
    return ObjectTables(
        mesh=mesh,
        body=np.array([-1 if name is None else index[name] for name in layout.body], np.int32),
        rotation=np.array(layout.X_BO.rotation),
        position=np.array(layout.X_BO.position),
        middle=np.array(layout.X_BO.apply(center[layout.mesh_index])),
        radius=radius[layout.mesh_index],
    )


def _radius(mesh: Mesh) -> float:
    """How far the farthest vertex is from the middle of the mesh's box [m]."""
    off = mesh.vertices - mesh.center
    return float(np.sqrt((off * off).sum(axis=1).max()))


def _spheres(points: Float, begin: NDArray[np.int64]) -> Float:
    """Middle and radius of each run of faces (faces, 4, 3), shape (runs, 4)."""
    low = np.minimum.reduceat(points.min(axis=1), begin, axis=0)
    high = np.maximum.reduceat(points.max(axis=1), begin, axis=0)
    middle = 0.5 * (low + high)
    off = points - np.repeat(middle, np.diff(np.append(begin, len(points))), axis=0)[:, None]
    radius = np.sqrt(np.maximum.reduceat((off * off).sum(axis=2).max(axis=1), begin))
    return np.concatenate([middle, radius[:, None]], axis=1)


def _clusters(places: Float) -> list[NDArray[np.int64]]:
    """Indices of places (n, 3) in groups of neighbors: halves of halves, across the longest side of their box."""
    left, found = [np.arange(len(places))], []
    while left:
        group = left.pop()
        if len(group) <= _CLUSTER:
            found.append(np.sort(group))
            continue
        here = places[group]
        middle = len(group) // 2
        order = np.argpartition(here[:, np.ptp(here, axis=0).argmax()], middle)
        left += [group[order[middle:]], group[order[:middle]]]
    return found
