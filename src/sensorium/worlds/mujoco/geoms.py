"""The shape of a MuJoCo geom as triangles, in the geom's own frame."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.scene import shapes
from sensorium.scene.mesh import ONE_SIDED, Mesh

# Facets are never finer than this share of a radius: 327,680 faces of a sphere, half a million of a capsule
FINEST = 2e-5

# Planes are cut into squares, since a float32 hit is off by some 1e-7 of its triangle's size
_SQUARE_M = 32.0
_MOST_SQUARES = 64

Triangles = tuple[NDArray[np.float64], NDArray[np.int64]]


def geom_mesh(model: Any, geom: int, *, sag_m: float, infinite_m: float, plane_backs: bool) -> Mesh:
    """Triangles of one geom.

    Planes, boxes, meshes and height fields are exact. Facets of spheres, capsules, ellipsoids and cylinders have their
    corners on the true surface and lie inside of it by at most max(sag_m, 2e-5 r), r the largest radius. A signed
    distance field is the mesh that MuJoCo made of it.

    Args:
        model: `mujoco.MjModel`.
        geom: Number of the geom.
        sag_m: How deep a facet may lie inside the true surface [m].
        infinite_m: How far a plane without size reaches to each side [m].
        plane_backs: Whether planes are seen from below too.
    """
    import mujoco

    kind = mujoco.mjtGeom(int(model.geom_type[geom]))
    a, b, c = (float(size) for size in model.geom_size[geom])
    data = int(model.geom_dataid[geom])
    kinds = mujoco.mjtGeom
    makers: dict[Any, Callable[[], Mesh]] = {
        kinds.mjGEOM_PLANE: lambda: _plane(a or infinite_m, b or infinite_m, plane_backs),
        kinds.mjGEOM_HFIELD: lambda: _heightfield(model, data),
        kinds.mjGEOM_SPHERE: lambda: shapes.sphere(a, _subdivisions(a, sag_m)),
        kinds.mjGEOM_CAPSULE: lambda: shapes.capsule(a, 2 * b, _segments(a, sag_m, ends=True)),
        kinds.mjGEOM_ELLIPSOID: lambda: shapes.ellipsoid(a, b, c, _subdivisions(max(a, b, c), sag_m)),
        kinds.mjGEOM_CYLINDER: lambda: shapes.cylinder(a, 2 * b, _segments(a, sag_m, ends=False)),
        kinds.mjGEOM_BOX: lambda: shapes.box(2 * a, 2 * b, 2 * c),
        kinds.mjGEOM_MESH: lambda: _mesh(model, data),
        kinds.mjGEOM_SDF: lambda: _mesh(model, data),
    }
    if kind not in makers:
        raise SceneError(f"its type is {kind.name}; a scene knows planes, height fields, meshes and solids")
    return makers[kind]()


def _subdivisions(radius_m: float, sag_m: float) -> int:
    """Quarterings of an icosahedron's faces whose sag, 0.292 r / 4^n, is small enough."""
    return max(0, math.ceil(math.log(0.292 / _share(radius_m, sag_m), 4)))


def _segments(radius_m: float, sag_m: float, *, ends: bool) -> int:
    """Facets around: the sag of a cylinder is r (1 - cos(pi / n)), with round ends r sin^2(pi / n)."""
    share = _share(radius_m, sag_m)
    turn = math.asin(math.sqrt(share)) if ends else math.acos(1.0 - share)
    return max(8, math.ceil(math.pi / turn))


def _share(radius_m: float, sag_m: float) -> float:
    """Allowed sag as a share of the radius."""
    return min(0.292, max(FINEST, sag_m / radius_m))


def _plane(half_x: float, half_y: float, backs: bool) -> Mesh:
    """Rectangle in z = 0 with normal +z, in squares of some 32 m, 64 x 64 at the most."""
    nx, ny = (min(_MOST_SQUARES, math.ceil(2 * half / _SQUARE_M)) + 1 for half in (half_x, half_y))
    flat = shapes.heightfield(np.zeros((nx, ny)), 2 * half_x, 2 * half_y)
    if backs:
        return flat
    return Mesh(flat.vertices, flat.faces, face_properties={ONE_SIDED: np.ones(len(flat.faces), np.bool_)})


def _mesh(model: Any, mesh: int) -> Mesh:
    """A mesh asset, moved by MuJoCo to its center and axes of inertia; the geom's pose moves it back."""
    if mesh < 0:
        raise SceneError("it has no mesh")
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    face, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    return Mesh(model.mesh_vert[first : first + count], model.mesh_face[face : face + faces])


def _heightfield(model: Any, field: int) -> Mesh:
    """A height field: the surface, walls down from its rim, and a floor."""
    half_x, half_y, scale, depth = (float(size) for size in model.hfield_size[field])
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    first = int(model.hfield_adr[field])
    data = np.asarray(model.hfield_data[first : first + rows * columns], np.float64).reshape(rows, columns)
    surface = shapes.heightfield(scale * data.T, 2 * half_x, 2 * half_y)

    # The rim anticlockwise seen from above; vertex number is column * rows + row
    x, y = np.arange(columns), np.arange(rows)
    rim = np.concatenate([x[:-1] * rows, x[-1] * rows + y[:-1], x[:0:-1] * rows + rows - 1, y[:0:-1]])
    after = np.roll(rim, -1)
    count = len(surface.vertices)
    low = count + np.arange(len(rim))
    low_after = np.roll(low, -1)
    floor = np.concatenate([surface.vertices[rim, :2], np.full((len(rim), 1), -depth)], axis=1)
    walls = [np.stack([rim, low, low_after], axis=-1), np.stack([rim, low_after, after], axis=-1)]
    middle = np.full_like(low, count + len(rim))
    bottom = np.stack([middle, low_after, low], axis=-1)
    return Mesh(
        np.concatenate([surface.vertices, floor, [[0.0, 0.0, -depth]]]),
        np.concatenate([surface.faces, *walls, bottom]),
    )
