"""Reading of a traced packet: the hit object and its normal in the world. Functions for kernels."""

import math

import numba
import numpy as np

from sensorium.runtime import jit
from sensorium.runtime.jit import pointer_from_address
from sensorium.tracing.placement.motion import AFFINE_WORDS, QUATERNION, QUATERNION_WORDS


@jit.function
def object_of(arrays, world, instance, item):
    """Object hit, from the instance array's number in its world and the item in it."""
    array = np.uint32(arrays.first[world]) + instance
    return arrays.columns[np.uint32(arrays.column_first[array]) + item]


@jit.function
def label_of(labels, row, column, face):
    """Label of a face: the mesh's own if it has per-face labels, else the object's; row is the world's."""
    first = labels.face_first[row, column]
    if first >= 0:
        return labels.face_label[first + face]
    return labels.object_label[row, column]


@jit.function
def normal_in_world(arrays, world, instance, item, time, nx, ny, nz):
    """Unit normal in world axes from Embree's normal, which is in the frame of the instance.

    Args:
        arrays: `InstanceTables`.
        world: World of the ray.
        instance: Instance array hit, counted in its world.
        item: Item in that array.
        time: Firing time as a fraction of the interval, 0 to 1.
        nx, ny, nz: Normal in the object's frame, any length.
    """
    # Rotation of the object at that time: interpolated between the two transforms around it
    array = arrays.first[world] + np.int32(instance)
    segments, items = arrays.segments[array], arrays.column_count[array]
    turning = arrays.kind[array] == QUATERNION
    words = QUATERNION_WORDS if turning else AFFINE_WORDS
    buffer = numba.carray(pointer_from_address(arrays.buffer[array]), (segments + 1) * items * words, np.float32)
    place = np.float32(time) * np.float32(segments)
    segment = min(int(place), max(segments - 1, 0))
    s = place - np.float32(segment)
    a = (segment * items + np.int32(item)) * words
    b = (min(segment + 1, segments) * items + np.int32(item)) * words
    if turning:
        x, y, z = _rotate_by_slerp(buffer, a + 9, b + 9, s, nx, ny, nz)
    else:
        x = _row(buffer, a, b, s, nx, ny, nz)
        y = _row(buffer, a + 4, b + 4, s, nx, ny, nz)
        z = _row(buffer, a + 8, b + 8, s, nx, ny, nz)
    scale = np.float32(1.0) / math.sqrt(x * x + y * y + z * z)
    return x * scale, y * scale, z * scale


@jit.function
def _row(m, a, b, s, x, y, z):
    """One row of the interpolated matrix times a vector."""
    u = np.float32(1.0) - s
    return (u * m[a] + s * m[b]) * x + (u * m[a + 1] + s * m[b + 1]) * y + (u * m[a + 2] + s * m[b + 2]) * z


@jit.function
def _rotate_by_slerp(q, a, b, s, x, y, z):
    """A vector turned by the quaternion between those at a and b (stored on the same half of the sphere)."""
    dot = min(q[a] * q[b] + q[a + 1] * q[b + 1] + q[a + 2] * q[b + 2] + q[a + 3] * q[b + 3], np.float32(1.0))
    angle = math.acos(dot)
    wa, wb = np.float32(1.0) - s, s
    if angle > np.float32(1e-3):
        inverse = np.float32(1.0) / math.sin(angle)
        wa, wb = math.sin(wa * angle) * inverse, math.sin(wb * angle) * inverse
    w, i, j, k = (
        wa * q[a] + wb * q[b],
        wa * q[a + 1] + wb * q[b + 1],
        wa * q[a + 2] + wb * q[b + 2],
        wa * q[a + 3] + wb * q[b + 3],
    )

    # v + 2 w (u x v) + 2 u x (u x v)
    cx, cy, cz = j * z - k * y, k * x - i * z, i * y - j * x
    two = np.float32(2.0)
    return (
        x + two * (w * cx + j * cz - k * cy),
        y + two * (w * cy + k * cx - i * cz),
        z + two * (w * cz + i * cy - j * cx),
    )
