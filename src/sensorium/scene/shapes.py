"""Simple shapes as meshes, in meters, centered on their own origin.

Closed shapes are watertight (every edge borders two faces, in opposite directions) and wound outward. Vertices of round
shapes are on the true surface, so the mesh is inscribed: facets are inside by at most the sag stated with each shape.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SceneError
from sensorium.scene.mesh import Mesh

__all__ = ["box", "capsule", "cylinder", "ellipsoid", "heightfield", "plane", "sphere"]

_MAX_SUBDIVISIONS = 9  # 5.2 million faces
_MAX_SEGMENTS = 100_000


def box(x: float, y: float, z: float) -> Mesh:
    """Box with full sizes x, y, z [m] along its axes.

    >>> sn.shapes.box(4, 2, 1).bounds.tolist()
    [[-2.0, -1.0, -0.5], [2.0, 1.0, 0.5]]
    """
    half = 0.5 * np.array([_positive("x", x), _positive("y", y), _positive("z", z)])
    corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=np.float64)

    # Corner number is 4 i + 2 j + k with i, j, k = 0 or 1; each quad is anticlockwise seen from outside
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    return Mesh(corners * half, _triangles(quads))


def sphere(radius: float, subdivisions: int = 4) -> Mesh:
    """Sphere from an icosahedron whose faces are quartered `subdivisions` times: 20 * 4^subdivisions faces.

    The sag is at most 0.292 radius / 4^subdivisions: 0.0012 radius for 4 subdivisions.

    Args:
        radius: Radius [m].
        subdivisions: Number of quarterings, 0 to 9.

    >>> len(sn.shapes.sphere(1.0, subdivisions=2).faces)
    320
    """
    directions, faces = _icosphere(subdivisions)
    return Mesh(_positive("radius", radius) * directions, faces)


def ellipsoid(rx: float, ry: float, rz: float, subdivisions: int = 4) -> Mesh:
    """Ellipsoid with semi-axes rx, ry, rz [m]: the unit sphere of `sphere`, stretched.

    The sag is at most that of a sphere whose radius is the longest semi-axis.
    """
    semi_axes = np.array([_positive("rx", rx), _positive("ry", ry), _positive("rz", rz)])
    directions, faces = _icosphere(subdivisions)
    return Mesh(directions * semi_axes, faces)


def cylinder(radius: float, height: float, segments: int = 64) -> Mesh:
    """Closed cylinder about z, from -height/2 to height/2.

    The sag is radius (1 - cos(pi / segments)): 0.0012 radius for 64 segments.

    Args:
        radius: Radius [m].
        height: Full height [m].
        segments: Number of side facets, at least 3.

    >>> sn.shapes.cylinder(0.5, 2.0).bounds.round(6).tolist()
    [[-0.5, -0.5, -1.0], [0.5, 0.5, 1.0]]
    """
    top = 0.5 * _positive("height", height)
    radius = _positive("radius", radius)
    ring = np.array([radius, radius])
    return _lathe(ring, np.array([-top, top]), bottom=-top, top=top, segments=segments)


def capsule(radius: float, length: float, segments: int = 64) -> Mesh:
    """Cylinder about z with half-sphere ends; `length` is the straight part, so it is length + 2 radius long.

    The sag is at most radius sin^2(pi / segments): 0.0024 radius for 64 segments. (A facet of half-angles
    delta in azimuth and latitude stays outside radius cos^2(delta).)

    Args:
        radius: Radius of the body and of both ends [m].
        length: Distance between the centers of the ends [m].
        segments: Number of facets around, at least 3; each end has ceil(segments / 4) rings.
    """
    radius, half = _positive("radius", radius), 0.5 * _positive("length", length)
    rings = -(-_count("segments", segments, least=3, most=_MAX_SEGMENTS) // 4)

    # Profile from the lower pole (left out) over both rims of the straight part to the upper pole (left out)
    latitude = 0.5 * math.pi * np.arange(rings) / rings
    upper_r, upper_z = radius * np.cos(latitude), half + radius * np.sin(latitude)
    ring_r, ring_z = np.concatenate([upper_r[::-1], upper_r]), np.concatenate([-upper_z[::-1], upper_z])
    return _lathe(ring_r, ring_z, bottom=-half - radius, top=half + radius, segments=segments)


def plane(size: float, size_y: float | None = None) -> Mesh:
    """Rectangle in z = 0 with normal +z.

    Args:
        size: Full side along x [m].
        size_y: Full side along y [m]; the same as along x by default.

    >>> sn.shapes.plane(20.0).bounds.tolist()
    [[-10.0, -10.0, 0.0], [10.0, 10.0, 0.0]]
    """
    x = 0.5 * _positive("size", size)
    y = 0.5 * _positive("size_y", size if size_y is None else size_y)
    corners = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
    return Mesh(corners, _triangles(np.array([[0, 1, 2, 3]])))


def heightfield(heights: ArrayLike, size_x: float, size_y: float) -> Mesh:
    """Open surface z(x, y) over a centered rectangle, normals up.

    Args:
        heights: Elevations [m], shape (nx, ny), each at least 2: heights[i, j] is at x = size_x (i / (nx - 1) - 1/2), y
            = size_y (j / (ny - 1) - 1/2).
        size_x: Full side along x [m].
        size_y: Full side along y [m].

    >>> hill = sn.shapes.heightfield([[0, 0, 0], [0, 3, 0], [0, 0, 0]], 10.0, 10.0)
    >>> hill.bounds.tolist()
    [[-5.0, -5.0, 0.0], [5.0, 5.0, 3.0]]
    """
    z = np.asarray(heights, dtype=np.float64)
    if z.ndim != 2 or min(z.shape) < 2:
        raise SceneError(f"heights have shape {z.shape}; it must be (nx, ny) with both at least 2")
    if not np.isfinite(z).all():
        i, j = np.argwhere(~np.isfinite(z))[0]
        raise SceneError(f"heights[{i}, {j}] is {z[i, j]}; every height must be finite")
    nx, ny = z.shape
    x = _positive("size_x", size_x) * (np.arange(nx) / (nx - 1) - 0.5)
    y = _positive("size_y", size_y) * (np.arange(ny) / (ny - 1) - 0.5)

    # Vertex number is i * ny + j; each cell runs anticlockwise seen from above
    vertices = np.stack([*np.meshgrid(x, y, indexing="ij"), z], axis=-1).reshape(-1, 3)
    corner = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)).reshape(-1, 1)
    return Mesh(vertices, _triangles(corner + np.array([0, ny, ny + 1, 1])))


def _triangles(quads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split quads (n, 4) into triangles (2n, 3), same winding, the two halves of a quad side by side."""
    return quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)


def _lathe(
    ring_r: NDArray[np.float64], ring_z: NDArray[np.float64], *, bottom: float, top: float, segments: int
) -> Mesh:
    """Turn a profile about z: rings upward, of radius ring_r at ring_z [m], closed by a point at each end."""
    segments = _count("segments", segments, least=3, most=_MAX_SEGMENTS)
    azimuth = 2.0 * math.pi * np.arange(segments) / segments
    around = np.stack([np.cos(azimuth), np.sin(azimuth)], axis=-1)

    height = np.broadcast_to(ring_z[:, None, None], (len(ring_r), segments, 1))
    rings = np.concatenate([ring_r[:, None, None] * around, height], axis=-1)
    return closed_rings(rings, np.array([0.0, 0.0, bottom]), np.array([0.0, 0.0, top]))


def closed_rings(rings: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64]) -> Mesh:
    """Skin over rings of points, closed by a point at each end.

    Args:
        rings: Points [m], shape (rings, segments, 3), each ring anticlockwise seen from the end.
        start: Point before the first ring [m], shape (3,).
        end: Point after the last.
    """
    count, segments = rings.shape[:2]
    vertices = np.concatenate([start[None], rings.reshape(-1, 3), end[None]])

    # Faces: a fan before, quads between rings, a fan after
    here = np.arange(segments)
    after = (here + 1) % segments
    below = np.stack([np.zeros_like(here), 1 + after, 1 + here], axis=-1)
    row = 1 + segments * np.arange(count - 1)[:, None]
    quads = np.stack([row + here, row + after, row + segments + after, row + segments + here], axis=-1)
    last = 1 + segments * (count - 1)
    above = np.stack([np.full_like(here, len(vertices) - 1), last + here, last + after], axis=-1)
    return Mesh(vertices, np.concatenate([below, _triangles(quads.reshape(-1, 4)), above]))


def _icosphere(subdivisions: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Unit vectors (n, 3) and faces (m, 3) of a subdivided icosahedron."""
    subdivisions = _count("subdivisions", subdivisions, least=0, most=_MAX_SUBDIVISIONS)

    # Icosahedron: a pole, two rings of five at latitudes +-atan(1/2), a pole
    turn = 2.0 * math.pi / 5.0
    upper = [(math.cos(turn * k), math.sin(turn * k), 0.5) for k in range(5)]
    lower = [(math.cos(turn * (k + 0.5)), math.sin(turn * (k + 0.5)), -0.5) for k in range(5)]
    vertices = np.array([(0.0, 0.0, 1.0), *upper, *lower, (0.0, 0.0, -1.0)])
    vertices /= np.linalg.norm(vertices, axis=1, keepdims=True)
    k, n = np.arange(5), np.roll(np.arange(5), -1)
    pole = np.zeros_like(k)
    bands = [[pole, 1 + k, 1 + n], [1 + k, 6 + k, 1 + n], [6 + k, 6 + n, 1 + n], [pole + 11, 6 + n, 6 + k]]
    faces = np.stack([np.stack(band, axis=-1) for band in bands], axis=1).reshape(-1, 3)

    for _ in range(subdivisions):
        # Each edge gets one midpoint, pushed out to the sphere and shared by the two faces beside it
        edges = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
        key, index = np.unique(edges[:, 0] * len(vertices) + edges[:, 1], return_inverse=True)
        middle = vertices[key // len(vertices)] + vertices[key % len(vertices)]
        middle /= np.linalg.norm(middle, axis=1, keepdims=True)
        a, b, c = faces.T
        ab, bc, ca = (index.reshape(-1, 3) + len(vertices)).T
        vertices = np.concatenate([vertices, middle])
        faces = np.stack([a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca], axis=-1).reshape(-1, 3)
    return vertices, faces


def _positive(name: str, value: float) -> float:
    """Check a size: finite and above zero."""
    if not (isinstance(value, int | float | np.number) and math.isfinite(value) and value > 0.0):
        raise SceneError(f"{name} is {value!r}; it must be finite and positive")
    return float(value)


def _count(name: str, value: int, *, least: int, most: int) -> int:
    """Check a tessellation count: a whole number in [least, most]."""
    if not (isinstance(value, int | float | np.number) and least <= value <= most and value == int(value)):
        raise SceneError(f"{name} is {value!r}; it must be a whole number from {least} to {most}")
    return int(value)
