"""Ranges of rays that meet an edge or a corner exactly: the same whichever of the faces there was found.

Embree takes a ray for one that meets a face if it passes the face's edges within a unit of float32's last place, and of
two faces that share an edge it may report either, as its tree happens to be built. Their planes give ranges a few units
apart. Here such a ray ends where it passes the edge itself, or the corner, which both faces share to the last bit.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.jit import pointer_from_address
from sensorium.scene.layout import Layout
from sensorium.trace import meshes
from sensorium.trace.motion import AFFINE_WORDS

# A ray with a barycentric coordinate below this is on the edge opposite: some sixteen units of the last place of 1. The
# edge is then a millionth of the face's size away at most.
_ON_EDGE = np.float32(2e-6)

# The edge may not move a hit by more than this share: nearly parallel to the edge there is no such place
_MOST_MOVED = 2e-6


class FaceTables(NamedTuple):
    """Where Embree reads the faces of each object's mesh, (1 | worlds, objects) each; 0 where there is none."""

    vertices: NDArray[np.int64]  # address of float32 positions around the mesh's middle, three a vertex
    faces: NDArray[np.int64]  # address of uint32 vertex numbers, three a face


def face_tables(layout: Layout) -> FaceTables:
    """Addresses of all meshes of a layout, which keeps them alive."""
    buffers = [meshes.mesh_scene(mesh).buffers for mesh in layout.meshes]
    vertices, faces = (np.array([each[k].ctypes.data for each in buffers] + [0], np.int64) for k in range(2))
    return FaceTables(vertices[layout.mesh_index], faces[layout.mesh_index])


@jit.function
def on_edge(u, v):
    """Whether a hit is on an edge of its face, to what float32 can tell."""
    return min(u, v, np.float32(1.0) - u - v) < _ON_EDGE


@jit.function
def range_to_edge(arrays, faces, world, instance, item, column, face, u, v, origin, direction, t):
    """Range to the edge or the corner that a ray met; what Embree found where the object moves.

    Args:
        arrays: `InstanceTables`; faces: `FaceTables`.
        world, instance, item, column: What was met: instance array and item in it, object.
        face: Face of its mesh; u, v: barycentric coordinates there.
        origin, direction: Of the ray, in scene coordinates, three numbers each.
        t: Range by the face's plane [m], float32.
    """
    array = arrays.first[world] + np.int32(instance)
    if arrays.segments[array] > 0:
        return t
    row = world if faces.vertices.shape[0] > 1 else 0
    number = numba.carray(pointer_from_address(faces.faces[row, column]), 3 * (np.int64(face) + 1), np.uint32)
    m = numba.carray(pointer_from_address(arrays.buffer[array] + np.int64(item) * (4 * AFFINE_WORDS)), 12, np.float32)
    weights = (np.float32(1.0) - u - v, u, v)
    a, b, near = np.zeros(3), np.zeros(3), 0
    for k in range(3):
        if weights[k] < _ON_EDGE:
            continue
        vertex = np.int64(number[3 * np.int64(face) + k])
        local = numba.carray(pointer_from_address(faces.vertices[row, column]), 3 * (vertex + 1), np.float32)
        for i in range(3):
            place = np.float64(m[4 * i + 3]) - origin[i]
            for j in range(3):
                place += np.float64(m[4 * i + j]) * np.float64(local[3 * vertex + j])
            if near == 0:
                a[i] = place
            else:
                b[i] = place
        near += 1
    settled = _passing(a, b, direction) if near == 2 else _passing(a, a, direction)
    return np.float32(settled) if abs(settled - t) <= _MOST_MOVED * t else t


@jit.function
def _passing(a, b, d):
    """Distance along d from 0 at which a line passes nearest to that through points a and b, or to a where b is a."""
    # One order of the two points, so that both faces compute the same
    swap = False
    for i in range(3):
        if a[i] != b[i]:
            swap = a[i] > b[i]
            break
    if swap:
        a, b = b, a
    dd = de = ee = da = ea = 0.0
    for i in range(3):
        along, edge = np.float64(d[i]), b[i] - a[i]
        dd, de, ee = dd + along * along, de + along * edge, ee + edge * edge
        da, ea = da + along * a[i], ea + edge * a[i]
    det = dd * ee - de * de
    return (da * ee - ea * de) / det if det > 0.0 else da / dd
