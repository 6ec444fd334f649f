"""The kernel behind ray sensors: a fixed table of rays fired from mounts that move while they fire.

One call covers all worlds and all sensors of a kind ("heads"). Blocks of rays are turned into the world, traced, read
and written while in cache; nothing is kept between the stages.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.trace import packet as pk
from sensorium.trace.hits import label_of, object_of
from sensorium.trace.packet import BLOCK, NO_HIT, new_block, new_packet, set_mask, trace_block


class RayTables(NamedTuple):
    """Rays of one sweep in the sensor frame S, flat."""

    x: NDArray[np.float32]  # (rays,) unit direction
    y: NDArray[np.float32]
    z: NDArray[np.float32]
    time: NDArray[np.float32]  # (rays,) when each fires, as a fraction of the interval cast
    origin: NDArray[np.float32]  # (rays, 3) start points [m], or (0, 3) when all start at the sensor's own origin


class Heads(NamedTuple):
    """Where the sensors are while the rays fire."""

    matrix: NDArray[np.float32]  # (heads, knots, 12) X_AS at evenly spaced times, rows of 3 x 4, A the world at the anchor
    world: NDArray[np.int32]  # (heads,) world of each
    start: NDArray[np.float32]  # (heads,) rays fired before this fraction of the interval are void (a reset)


class SweepOutputs(NamedTuple):
    """What a sweep writes; an array of size zero is left alone."""

    range_m: NDArray[np.float32]  # (heads, rays), 0 where nothing returns
    points: NDArray[Any]  # (heads, rays, 3): float32 in S, float64 in the world; zeros where nothing returns
    object_id: NDArray[np.int32]  # (heads, rays)
    face_id: NDArray[np.int32]
    label: NDArray[np.int32]


@jit.kernel
def sweep(first, step, count, arrays, labels, anchor, rays, heads, limits, mask, arguments, in_world, out):  # type: ignore[no-untyped-def]
    """Fire the blocks first, first + step, ... of all heads.

    Args:
        first, step, count: Share of the blocks; every head has as many.
        arrays: `InstanceTables`; anchor: float64 (worlds, 3) [m].
        labels: `LabelTables`.
        rays: `RayTables`; heads: `Heads`.
        limits: Nearest and farthest range that returns [m], float32 (2,).
        mask: Bits of the objects to see.
        arguments: Address of Embree's arguments.
        in_world: Write points in world coordinates instead of the sensor frame.
        out: `SweepOutputs`.
    """
    floats, words, active = new_packet()
    set_mask(words, mask)
    block, hit = new_block()
    total = rays.x.shape[0]
    blocks = (total + BLOCK - 1) // BLOCK
    for number in range(first, count, step):
        head, start = number // blocks, (number % blocks) * BLOCK
        world, used = heads.world[head], min(BLOCK, total - start)
        aim_block(block, rays, heads.matrix[head], start, used)
        for k in range(used):
            block[pk.B_T_FAR + k] = limits[1]
        trace_block(block, hit, floats, words, active, arrays.scene[world], arguments, used)
        _keep_returns(block, hit, limits[0], heads.start[head], used)
        _write_ids(block, hit, arrays, labels, world, start, used, out.object_id[head], out.face_id[head], out.label[head])
        _write_ranges(block, hit, rays, anchor[world], start, used, in_world, out.range_m[head], out.points[head])


@jit.function
def aim_block(block, rays, knots, start, used):  # type: ignore[no-untyped-def]
    """Turn rays of the sensor frame into the world with the pose at each ray's own time.

    Matrices are interpolated and directions brought back to unit length: between knots an angle phi apart that is off
    by less than phi^3 / 60. Neighbours mostly fire between the same two knots; such a run is turned in one vector loop.
    """
    segments = knots.shape[0] - 1
    spacing = np.float32(segments)
    last = max(segments - 1, 0)
    k = 0
    while k < used:
        knot = min(int(rays.time[start + k] * spacing), last)
        end = k + 1
        if segments <= 1:
            end = used
        while end < used and min(int(rays.time[start + end] * spacing), last) == knot:
            end += 1
        _aim_run(block, rays.x, rays.y, rays.z, rays.time, knots[knot], knots[min(knot + 1, segments)], knot, spacing, start, k, end)
        if rays.origin.shape[0] > 0:
            _shift_run(block, rays.origin, rays.time, knots[knot], knots[min(knot + 1, segments)], knot, spacing, start, k, end)
        k = end


@jit.function
def _aim_run(block, x, y, z, time, a, b, knot, spacing, start, begin, end):  # type: ignore[no-untyped-def]
    """Rays begin .. end of the block, all fired between matrices a and b."""
    a00, a01, a02, a03, a10, a11 = a[0], a[1], a[2], a[3], a[4], a[5]
    a12, a13, a20, a21, a22, a23 = a[6], a[7], a[8], a[9], a[10], a[11]
    c00, c01, c02, c03, c10, c11 = b[0] - a00, b[1] - a01, b[2] - a02, b[3] - a03, b[4] - a10, b[5] - a11
    c12, c13, c20, c21, c22, c23 = b[6] - a12, b[7] - a13, b[8] - a20, b[9] - a21, b[10] - a22, b[11] - a23
    whole = np.float32(knot)
    for k in range(begin, end):
        t = time[start + k]
        s = t * spacing - whole
        dx, dy, dz = x[start + k], y[start + k], z[start + k]
        wx = (a00 + s * c00) * dx + (a01 + s * c01) * dy + (a02 + s * c02) * dz
        wy = (a10 + s * c10) * dx + (a11 + s * c11) * dy + (a12 + s * c12) * dz
        wz = (a20 + s * c20) * dx + (a21 + s * c21) * dy + (a22 + s * c22) * dz
        scale = np.float32(1.0) / math.sqrt(wx * wx + wy * wy + wz * wz)
        block[pk.B_DIRECTION_X + k] = wx * scale
        block[pk.B_DIRECTION_Y + k] = wy * scale
        block[pk.B_DIRECTION_Z + k] = wz * scale
        block[pk.B_ORIGIN_X + k] = a03 + s * c03
        block[pk.B_ORIGIN_Y + k] = a13 + s * c13
        block[pk.B_ORIGIN_Z + k] = a23 + s * c23
        block[pk.B_TIME + k] = t


@jit.function
def _shift_run(block, origin, time, a, b, knot, spacing, start, begin, end):  # type: ignore[no-untyped-def]
    """Add each ray's own start point, turned like the ray."""
    for k in range(begin, end):
        s = time[start + k] * spacing - np.float32(knot)
        x, y, z = origin[start + k, 0], origin[start + k, 1], origin[start + k, 2]
        for i in range(3):
            row = 4 * i
            block[pk.B_ORIGIN_X + i * BLOCK + k] += (
                (a[row] + s * (b[row] - a[row])) * x
                + (a[row + 1] + s * (b[row + 1] - a[row + 1])) * y
                + (a[row + 2] + s * (b[row + 2] - a[row + 2])) * z
            )


@jit.function
def _keep_returns(block, hit, nearest, voided_before, used):  # type: ignore[no-untyped-def]
    """Make misses of hits too near, and of rays fired before a reset; a miss has distance 0."""
    for k in range(used):
        distance = block[pk.B_T_FAR + k]
        kept = (
            (hit[pk.B_INSTANCE + k] != NO_HIT) & (distance >= nearest) & (block[pk.B_TIME + k] >= voided_before)
        )
        block[pk.B_T_FAR + k] = distance if kept else np.float32(0.0)
        hit[pk.B_INSTANCE + k] = hit[pk.B_INSTANCE + k] if kept else NO_HIT


@jit.function
def _write_ids(block, hit, arrays, labels, world, start, used, object_id, face_id, label):  # type: ignore[no-untyped-def]
    """Object, face and label of each return, -1 where there is none."""
    row = world if labels.object_label.shape[0] > 1 else 0
    object_label, face_first, face_label = labels.object_label[row], labels.face_first[row], labels.face_label
    first, column_first, columns = np.uint32(arrays.first[world]), arrays.column_first, arrays.columns
    for k in range(used):
        i = start + k
        instance, item = hit[pk.B_INSTANCE + k], hit[pk.B_ITEM + k]
        if instance == NO_HIT:
            object_id[i], face_id[i], label[i] = -1, -1, -1
            continue
        column = np.uint32(columns[np.uint32(column_first[first + instance]) + item])
        face = hit[pk.B_FACE + k]
        own = face_first[column]
        object_id[i], face_id[i] = column, face
        label[i] = object_label[column] if own < 0 else face_label[np.uint64(own) + face]


@jit.function
def _write_ranges(block, hit, rays, anchor, start, used, in_world, range_m, points):  # type: ignore[no-untyped-def]
    """Range and point of each return: in the sensor frame at its firing time, or in the world."""
    for k in range(used):
        range_m[start + k] = block[pk.B_T_FAR + k]
    if in_world:
        for k in range(used):
            distance = block[pk.B_T_FAR + k]
            kept = hit[pk.B_INSTANCE + k] != NO_HIT
            for i in range(3):
                at = block[pk.B_ORIGIN_X + i * BLOCK + k] + distance * block[pk.B_DIRECTION_X + i * BLOCK + k]
                points[start + k, i] = anchor[i] + at if kept else 0.0
    else:
        x, y, z = rays.x, rays.y, rays.z
        for k in range(used):
            distance = block[pk.B_T_FAR + k]
            points[start + k, 0] = distance * x[start + k]
            points[start + k, 1] = distance * y[start + k]
            points[start + k, 2] = distance * z[start + k]
        if rays.origin.shape[0] > 0:
            for k in range(used):
                if hit[pk.B_INSTANCE + k] != NO_HIT:
                    for i in range(3):
                        points[start + k, i] += rays.origin[start + k, i]
