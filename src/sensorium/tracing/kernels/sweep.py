"""The kernel of ray sensors: a fixed table of rays fired from mounts that move while they fire.

One call covers all worlds and all sensors of a kind ("heads"). Blocks of rays are turned into the world, traced, read
and written while in cache; nothing is kept between the stages.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.edges import settle_block
from sensorium.tracing.embree.packet import (
    BLOCK,
    COHERENT_ADDRESS,
    NO_HIT,
    SCATTERED_ADDRESS,
    new_block,
    new_packet,
    set_mask,
    trace_block,
)
from sensorium.tracing.kernels.geometry import rows
from sensorium.tracing.kernels.geometry.normals import find_incidence, find_normals
from sensorium.tracing.kernels.geometry.ray_errors import (
    N_JITTER,
    draw_block,
    draws_of,
    jitter,
    spoil_hits,
    straighten,
)
from sensorium.tracing.labels import LabelTables
from sensorium.tracing.placement.world_arrays import InstanceTables

# Rays of a whole block, typed: Numba would compile a function once more for a plain literal
WHOLE = np.int64(BLOCK)


class RayTables(NamedTuple):
    """Rays of one sweep in the sensor frame S, flat."""

    x: NDArray[np.float32]  # (rays,) unit direction
    y: NDArray[np.float32]
    z: NDArray[np.float32]
    time: NDArray[np.float32]  # (rays,) when each fires, as a fraction of the interval cast
    origin: NDArray[np.float32]  # (rays, 3) start points [m], or (0, 3) when all start at the sensor's own origin


class Heads(NamedTuple):
    """Poses of the sensors while the rays fire."""

    matrix: NDArray[np.float32]  # (heads, 2 knots - 1, 12) X_AS at the knots and midway, rows of 3 x 4; A: see anchor
    time: NDArray[np.float32]  # (knots,) times of the knots, rising from 0 to 1
    world: NDArray[np.int32]  # (heads,) world of each
    start: NDArray[np.float32]  # (heads,) rays fired before this fraction of the interval are void (a reset)


class SweepAim(NamedTuple):
    """The rays of an interval, and the sensors they start from."""

    rays: RayTables
    heads: Heads
    anchor: NDArray[np.float64]  # (worlds, 3) [m]


class SweepScene(NamedTuple):
    """The scene of a cast, as its rays see it."""

    arrays: InstanceTables
    labels: LabelTables
    masks: NDArray[np.uint32]  # (2,) bits of the objects that end rays, and of the volumes that light passes
    coherent: int = COHERENT_ADDRESS  # address of Embree's arguments for rays in the sensor's pattern
    scattered: int = SCATTERED_ADDRESS  # and for their children


class BlockPlace(NamedTuple):
    """A block of rays."""

    head: int
    world: int  # of the head
    start: int  # first ray, among those of the head
    used: int  # how many


class SweepOutputs(NamedTuple):
    """Outputs of a sweep."""

    range_m: NDArray[np.float32]  # (heads, rays), 0 where nothing returns
    points: NDArray[Any]  # (heads, rays, 3): float32 in S, float64 in the world; zeros where nothing returns
    object_id: NDArray[np.int32]  # (heads, rays)
    face_id: NDArray[np.int32]
    label: NDArray[np.int32]


@jit.kernel
def sweep(first, step, count, scene, aim, limits, in_world, normals, errors, out):
    """Fire the blocks first, first + step, ... of all heads.

    Args:
        first, step, count: Share of the blocks; every head has as many.
        scene: `SweepScene`; aim: `SweepAim`.
        limits: Least range that returns, and length of the rays [m], float32 (2,).
        in_world: Write points in world coordinates instead of the sensor frame.
        normals: Filled with normals in the frame of the points, float32 (heads, rays, 3); None if not requested, which
            compiles nothing for them.
        errors: `RayErrors` if rays and ranges have some, else None, which compiles nothing for them.
        out: `SweepOutputs`.
    """
    arrays, labels, mask = scene.arrays, scene.labels, scene.masks[0]
    rays, heads, anchor = aim
    floats, words, active = new_packet()
    set_mask(words, mask)
    block, hit = new_block() if normals is None and errors is None else rows.new_scratch()
    for number in range(first, count, step):
        head, start, used = aim_numbered(block, rays, heads, number, WHOLE)
        end, world = start + used, heads.world[head]
        if errors is not None:
            send_astray(block, rays, heads, errors, head, start, used)
        for k in range(used):
            block[pk.B_T_FAR + k] = limits[1]
        trace_block(block, hit, floats, words, active, arrays.scene[world], scene.coherent, True, used)
        settle_block(block, hit, jit.uncounted(arrays), world, mask, limits[1], used)
        if errors is not None:
            spoil_block(block, hit, rays, heads, errors, head, start, used)
        keep_returns(block, hit, limits[0], heads.start[head], used)
        ids = out.object_id[head, start:end], out.face_id[head, start:end], out.label[head, start:end]
        _write_ids(hit, jit.uncounted(arrays), jit.uncounted(labels), world, used, ids)
        if normals is not None:
            find_normals(block, hit, arrays, world, used)
            find_incidence(block, used)
            _write_normals(block, hit, heads.matrix[head], heads.time, in_world, used, normals[head, start:end])
        if errors is not None and errors.number[N_JITTER] > np.float32(0.0):
            straighten(block, used)
        range_m, points = out.range_m[head, start:end], out.points[head, start:end]
        for k in range(used):
            range_m[k] = block[pk.B_T_FAR + k]
        if in_world:
            write_points_in_world(block, hit, anchor[world], points, used)
        else:
            write_points(block, rays.x[start:end], rays.y[start:end], rays.z[start:end], points, used)
            if rays.origin.shape[0] > 0:
                shift_points(hit, rays.origin[start:end], points, used)


@jit.function
def send_astray(block, rays, heads, errors, head, start, used):
    """Tilt the rays of a block by their jitter; see `RayErrors`."""
    if errors.number[N_JITTER] > np.float32(0.0):
        jitter(block, draws_of(rays, heads, errors, head, start), errors.number[N_JITTER], used)


@jit.function
def spoil_block(block, hit, rays, heads, errors, head, start, used):
    """Errors of the ranges of a block that was traced, by draws that belong to its rays."""
    draw_block(block, draws_of(rays, heads, errors, head, start), False, used)
    spoil_hits(block, hit, errors.number, errors.noise_by_range, used)


@jit.function
def block_of(number, total, size):
    """Head of a block, its first ray among those of that head, and its number of rays.

    Args:
        number: Of the block among those of all heads, which have as many each.
        total: Rays of a head.
        size: Rays of a block; the last of a head may have fewer.
    """
    blocks = (total + size - 1) // size
    head, start = number // blocks, (number % blocks) * size
    return head, start, min(size, total - start)


@jit.function
def aim_numbered(block, rays, heads, number, size):
    """Find a block's rays and transform them to the world, each with the sensor's pose at its own time.

    Args:
        block: Scratch, filled with origins, directions and times.
        rays: `RayTables`; heads: `Heads`.
        number, size: As in `block_of`, whose results are returned.
    """
    head, start, used = block_of(number, rays.x.shape[0], size)
    end = start + used
    x, y, z, time = rays.x[start:end], rays.y[start:end], rays.z[start:end], rays.time[start:end]
    aim_block(block, x, y, z, time, heads.matrix[head], heads.time, used)
    if rays.origin.shape[0] > 0:
        shift_block(block, rays.origin[start:end], heads.matrix[head], heads.time, used)
    return head, start, used


@jit.function
def aim_block(block, x, y, z, time, knots, knot_time, used):
    """Transform rays of the sensor frame to the world with the pose at each ray's own time.

    Matrices are interpolated by the parabola through two knots and the pose midway; where the knots are an angle phi
    apart, that is off by less than phi^3 / 120. Neighbors mostly fire between the same two knots; such a run is turned
    in one vector loop.
    """
    # The block's own copy, in the sensor frame: with all in one array the loops below become vector code
    for k in range(used):
        block[pk.B_DIRECTION_X + k] = x[k]
    for k in range(used):
        block[pk.B_DIRECTION_Y + k] = y[k]
    for k in range(used):
        block[pk.B_DIRECTION_Z + k] = z[k]
    for k in range(used):
        block[pk.B_TIME + k] = time[k]

    last = knot_time.shape[0] - 1
    knot, k = 0, 0
    while k < used:
        # The two knots around this ray's time; times mostly rise, so the search goes on from the last one
        t = time[k]
        while knot > 0 and t < knot_time[knot]:
            knot -= 1
        while knot < last - 1 and t >= knot_time[knot + 1]:
            knot += 1
        if last == 0:
            end, begins, inverse = used, np.float32(0.0), np.float32(0.0)
        else:
            begins, ends = knot_time[knot], knot_time[knot + 1]
            inverse = np.float32(1.0) / (ends - begins)
            if knot == last - 1:
                ends = np.float32(np.inf)
            end = k + 1
            while end < used and begins <= time[end] < ends:
                end += 1
        a, m, b = knots[2 * knot], knots[min(2 * knot + 1, 2 * last)], knots[min(2 * knot + 2, 2 * last)]
        _aim_run(block[k:], a, m, b, begins, inverse, end - k)
        k = end


@jit.function
def _aim_run(block, a, m, b, begins, inverse, count):
    """The first `count` rays of a block (or of what is left of it), all fired between matrices a and b, m midway."""
    # Entry i at fraction s of the way is a_i + s c_i + s (1 - s) q_i
    a00, a01, a02, a03, a10, a11 = a[0], a[1], a[2], a[3], a[4], a[5]
    a12, a13, a20, a21, a22, a23 = a[6], a[7], a[8], a[9], a[10], a[11]
    c00, c01, c02, c03, c10, c11 = b[0] - a00, b[1] - a01, b[2] - a02, b[3] - a03, b[4] - a10, b[5] - a11
    c12, c13, c20, c21, c22, c23 = b[6] - a12, b[7] - a13, b[8] - a20, b[9] - a21, b[10] - a22, b[11] - a23
    q00, q01, q02, q03 = _bend(a00, m[0], b[0]), _bend(a01, m[1], b[1]), _bend(a02, m[2], b[2]), _bend(a03, m[3], b[3])
    q10, q11, q12, q13 = _bend(a10, m[4], b[4]), _bend(a11, m[5], b[5]), _bend(a12, m[6], b[6]), _bend(a13, m[7], b[7])
    q20, q21, q22, q23 = (
        _bend(a20, m[8], b[8]),
        _bend(a21, m[9], b[9]),
        _bend(a22, m[10], b[10]),
        _bend(a23, m[11], b[11]),
    )
    one = np.float32(1.0)
    for k in range(count):
        s = (block[pk.B_TIME + k] - begins) * inverse
        r = s * (one - s)
        x, y, z = block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k]
        wx = (a00 + s * c00 + r * q00) * x + (a01 + s * c01 + r * q01) * y + (a02 + s * c02 + r * q02) * z
        wy = (a10 + s * c10 + r * q10) * x + (a11 + s * c11 + r * q11) * y + (a12 + s * c12 + r * q12) * z
        wz = (a20 + s * c20 + r * q20) * x + (a21 + s * c21 + r * q21) * y + (a22 + s * c22 + r * q22) * z
        block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k] = wx, wy, wz
        block[pk.B_ORIGIN_X + k] = a03 + s * c03 + r * q03
        block[pk.B_ORIGIN_Y + k] = a13 + s * c13 + r * q13
        block[pk.B_ORIGIN_Z + k] = a23 + s * c23 + r * q23


@jit.function
def _bend(a, m, b):
    """Deviation of an entry from the straight line between a and b: the parabola goes through m midway."""
    return np.float32(4.0) * m - np.float32(2.0) * (a + b)


@jit.function
def shift_block(block, origin, knots, knot_time, used):
    """Add each ray's own start point, turned like the ray."""
    last, knot = knot_time.shape[0] - 1, 0
    for k in range(used):
        t = block[pk.B_TIME + k]
        while knot > 0 and t < knot_time[knot]:
            knot -= 1
        while knot < last - 1 and t >= knot_time[knot + 1]:
            knot += 1
        s = np.float32(0.0)
        if last > 0:
            s = (t - knot_time[knot]) / (knot_time[knot + 1] - knot_time[knot])
        r = s * (np.float32(1.0) - s)
        a, m, b = knots[2 * knot], knots[min(2 * knot + 1, 2 * last)], knots[min(2 * knot + 2, 2 * last)]
        for i in range(3):
            shift = np.float32(0.0)
            for j in range(3):
                e = 4 * i + j
                shift += _entry(a[e], m[e], b[e], s, r) * origin[k, j]
            block[pk.B_ORIGIN_X + i * BLOCK + k] += shift


@jit.function
def keep_returns(block, hit, nearest, voided_before, used):
    """Turn hits that are too near, and rays fired before a reset, into misses; a miss has distance 0."""
    for k in range(used):
        distance = block[pk.B_T_FAR + k]
        kept = (hit[pk.B_INSTANCE + k] != NO_HIT) & (distance >= nearest) & (block[pk.B_TIME + k] >= voided_before)
        block[pk.B_T_FAR + k] = distance if kept else np.float32(0.0)
        hit[pk.B_INSTANCE + k] = hit[pk.B_INSTANCE + k] if kept else NO_HIT


@jit.function
def _write_ids(hit, arrays, labels, world, used, ids):
    """Object, face and label of each return, -1 where there is none."""
    object_id, face_id, label = ids
    first, column_first, columns = np.uint32(arrays.first[world]), arrays.column_first, arrays.columns
    row = world if labels.object_label.shape[0] > 1 else 0
    object_label, face_first, face_label = labels.object_label[row], labels.face_first[row], labels.face_label
    for k in range(used):
        instance, item = hit[pk.B_INSTANCE + k], hit[pk.B_ITEM + k]
        if instance == NO_HIT:
            object_id[k], face_id[k], label[k] = -1, -1, -1
            continue
        column = np.uint32(columns[np.uint32(column_first[first + instance]) + item])
        face = hit[pk.B_FACE + k]
        own = face_first[column]
        object_id[k], face_id[k] = column, face
        label[k] = object_label[column] if own < 0 else face_label[np.uint64(own) + face]


@jit.function
def write_points(block, x, y, z, points, used):
    """End point of each ray, in the sensor frame at its firing time; zero for a miss."""
    for k in range(used):
        distance = block[pk.B_T_FAR + k]
        points[k, 0], points[k, 1], points[k, 2] = distance * x[k], distance * y[k], distance * z[k]


@jit.function
def shift_points(hit, origin, points, used):
    """Rays with start points of their own."""
    for k in range(used):
        if hit[pk.B_INSTANCE + k] != NO_HIT:
            for i in range(3):
                points[k, i] += origin[k, i]


@jit.function
def _write_normals(block, hit, knots, knot_time, in_world, used, normals):
    """Unit normals on the sensor's side, in the sensor frame at the ray's firing time or in the world; 0 for a miss."""
    last, knot = knot_time.shape[0] - 1, 0
    for k in range(used):
        t, side = block[pk.B_TIME + k], block[rows.SIDE + k]
        side = side if hit[pk.B_INSTANCE + k] != NO_HIT else np.float32(0.0)
        n0, n1, n2 = block[pk.B_NORMAL_X + k] * side, block[pk.B_NORMAL_Y + k] * side, block[pk.B_NORMAL_Z + k] * side
        if in_world:
            normals[k, 0], normals[k, 1], normals[k, 2] = n0, n1, n2
            continue
        while knot > 0 and t < knot_time[knot]:
            knot -= 1
        while knot < last - 1 and t >= knot_time[knot + 1]:
            knot += 1
        s = np.float32(0.0)
        if last > 0:
            s = (t - knot_time[knot]) / (knot_time[knot + 1] - knot_time[knot])
        r = s * (np.float32(1.0) - s)
        before, midway, after = 2 * knot, min(2 * knot + 1, 2 * last), min(2 * knot + 2, 2 * last)
        for j in range(3):
            e0 = _entry(knots[before, j], knots[midway, j], knots[after, j], s, r)
            e1 = _entry(knots[before, 4 + j], knots[midway, 4 + j], knots[after, 4 + j], s, r)
            e2 = _entry(knots[before, 8 + j], knots[midway, 8 + j], knots[after, 8 + j], s, r)
            normals[k, j] = e0 * n0 + e1 * n1 + e2 * n2


@jit.function
def _entry(a, m, b, s, r):
    """An entry of the matrix a fraction s of the way from one knot to the next; r is s (1 - s)."""
    return a + s * (b - a) + r * _bend(a, m, b)


@jit.function
def write_points_in_world(block, hit, anchor, points, used):
    """End point of each ray, in the world; zero for a miss."""
    for k in range(used):
        distance = block[pk.B_T_FAR + k]
        for i in range(3):
            at = block[pk.B_ORIGIN_X + i * BLOCK + k] + distance * block[pk.B_DIRECTION_X + i * BLOCK + k]
            points[k, i] = anchor[i] + at if hit[pk.B_INSTANCE + k] != NO_HIT else 0.0
