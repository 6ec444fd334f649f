"""Rays that end on an edge or a corner: a choice of the hit face that does not depend on the acceleration tree.

A ray that meets a shared edge exactly hits all faces of the edge, at distances a few float32 ulps apart. Embree keeps
the first face that it tests if the rounded box of the next one begins farther away. It also reports a face that the ray
misses within rounding, if a box of its tree lets the ray get there. So the face, the last digits of the distance and,
on an outline, whether there is a hit would depend on the build of the tree, and therefore on all other faces of the
scene.

This module traces such a ray again, alone and a little farther, with a filter that rejects every hit: the ray keeps its
length, and the filter sees all faces that it hits. A hit is firm if the ray crosses the box around the hit face there.
The boxes of every tree contain this box, so every tree finds all firm hits, and only these count: the least by
(distance, object, face). If none is firm the ray misses, and continues to the next firm hit.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sensorium.runtime import jit
from sensorium.runtime.jit import c_function, pointer_from_address
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT

# A hit is on an edge where the product of its three barycentric coordinates is below this: within 4e-6 of the middle of
# an edge and 1e-3 of a corner. Embree takes two faces of an edge for hit within 1.2e-7 of it, times how much larger
# the neighbor is; at corners faces that share no edge overlap by some units of the ray's length. Of rays anywhere 90
# in a million end that near.
NEAR_EDGE = np.float32(1e-6)

# Extension of such a ray, as a share of its distance, and tolerance of the box test of a firm hit for the rounding of
# its distance: 340 and 84 units of the last place
FARTHER = np.float32(1.0 + 4e-5)
_BESIDE = 1e-5

# Relative amount by which Embree widens boxes beyond its own rounding
_BOX_SLACK = 2.0**-22

# Along an axis that a ray is perpendicular to, Embree treats the ray as rising: planes that contain it are met from one
# side only. Such a ray is traced with an offset to either side of this much, too little to change a digit of a hit.
_TILT = np.float32(1e-12)

# Scratch of one ray, in words of 32 bits: the ray and hit that rtcIntersect1 takes, Embree's context, behind it what
# the filter looks objects up in and what it does, the least hit so far, and Embree's arguments
_HIT, _CONTEXT, _TABLES, _TAKES, _LEAST, _ARGUMENTS, _WORDS = 12, 32, 36, 40, 41, 64, 96
_TIME, _T_FAR, _MASK = 7, 8, 9
_HIT_WORDS = 9  # normal, u, v, face, geometry, instance array, item
_FILTER_EVERY_GEOMETRY = 1 << 1

_intersect_one = types.ExternalFunction("rtcIntersect1", types.void(types.intp, types.intp, types.intp))


@jit.function
def on_edge(distance, u, v):
    """Whether a hit lies on an edge or at a corner of its face, or next to it.

    The distance to a face whose plane contains the ray comes out as zero, whatever it is: such a hit counts as well.

    Args:
        distance: Of the hit [m], float32.
        u, v: Its barycentric coordinates, float32.
    """
    return (u * v * (np.float32(1.0) - u - v) < NEAR_EDGE) | (distance < NEAR_EDGE)


@intrinsic
def _lanes_on_edges(typing_context: Any, block: Any, hit: Any, start: Any) -> Any:
    """Whether any of the WIDTH rays of a traced block from `start` on hit something on an edge, as vector code."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        rows = []
        for row in (pk.B_T_FAR, pk.B_U, pk.B_V):
            at = builder.add(values[2], ir.Constant(values[2].type, row))
            rows.append(builder.load(pk.lanes_of(context, builder, signature.args[0], values[0], at), align=4))
        at = builder.add(values[2], ir.Constant(values[2].type, pk.B_INSTANCE))
        instance = builder.load(pk.lanes_of(context, builder, signature.args[1], values[1], at), align=4)
        distance, u, v = rows
        one, near = (ir.Constant(u.type, [float(number)] * pk.WIDTH) for number in (1.0, NEAR_EDGE))
        w = builder.fsub(builder.fsub(one, u), v)
        edge = builder.fcmp_ordered("<", builder.fmul(builder.fmul(u, v), w), near)
        edge = builder.or_(edge, builder.fcmp_ordered("<", distance, near))
        missed = ir.Constant(instance.type, [int(NO_HIT)] * pk.WIDTH)
        edge = builder.and_(edge, builder.icmp_unsigned("!=", instance, missed))
        bits = builder.bitcast(edge, ir.IntType(pk.WIDTH))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(block, hit, types.intp), generate


@jit.function
def settled(arrays, world, mask, origin, direction, time, t_near, t_max, distance):
    """The hit of a ray that ends on an edge.

    Args:
        arrays: `InstanceTables`; world: world of the ray.
        mask: Bits of the objects to see.
        origin, direction: Three float32 numbers each, around the anchor.
        time: Firing time as a fraction of the interval, 0 to 1.
        t_near, t_max: Limits of the ray [m].
        distance: Distance at which it ends [m].

    Returns:
        Distance [m]; normal in the object's frame; u, v; face; instance array, NO_HIT for a miss; item.
    """
    floats, words = _new_scratch(arrays, world, mask, origin, time, t_near)
    _look(floats, words, arrays.scene[world], direction, min(t_max, distance * FARTHER), False)
    if words[_LEAST + 8] == NO_HIT:
        # The ray misses: on to the next firm hit, on an edge or not
        _look(floats, words, arrays.scene[world], direction, t_max, True)
        if words[_HIT + 7] != NO_HIT:
            _look(floats, words, arrays.scene[world], direction, min(t_max, floats[_T_FAR] * FARTHER), False)
    return _least(floats, words)


@jit.function
def settled_at(arrays, world, mask, origin, direction, time, t_near, t_max, distance):
    """The same, but a miss if no hit is firm at that distance: the caller continues the ray elsewhere."""
    floats, words = _new_scratch(arrays, world, mask, origin, time, t_near)
    _look(floats, words, arrays.scene[world], direction, min(t_max, distance * FARTHER), False)
    return _least(floats, words)


@jit.function
def settle_block(block, hit, arrays, world, mask, t_max, count):
    """Resolve those of the first `count` rays of a traced block that end on edges.

    Args:
        block, hit: Scratch of `new_block` after `trace_block` with u and v.
        arrays: `InstanceTables`; world: world of the rays.
        mask: Bits of the objects to see.
        t_max: Length of the rays [m].
        count: Rays in the block.
    """
    for start in range(0, count, pk.WIDTH):
        if not _lanes_on_edges(block, hit, start):  # usually none does
            continue
        for k in range(start, min(start + pk.WIDTH, count)):
            edge = on_edge(block[pk.B_T_FAR + k], block[pk.B_U + k], block[pk.B_V + k])
            if edge and hit[pk.B_INSTANCE + k] != NO_HIT:
                _settle_one(block, hit, arrays, world, mask, t_max, k)


@jit.function
def _settle_one(block, hit, arrays, world, mask, t_max, k):
    """Resolve one ray of a block."""
    distance, nx, ny, nz, u, v, face, instance, item = settled(
        arrays,
        world,
        mask,
        (block[pk.B_ORIGIN_X + k], block[pk.B_ORIGIN_Y + k], block[pk.B_ORIGIN_Z + k]),
        (block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k]),
        block[pk.B_TIME + k],
        block[pk.B_T_NEAR + k],
        t_max,
        block[pk.B_T_FAR + k],
    )
    block[pk.B_T_FAR + k] = distance
    block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k] = nx, ny, nz
    block[pk.B_U + k], block[pk.B_V + k] = u, v
    hit[pk.B_FACE + k], hit[pk.B_INSTANCE + k], hit[pk.B_ITEM + k] = face, instance, item


@jit.function
def _new_scratch(arrays, world, mask, origin, time, t_near):
    """Scratch of a ray as floats and, in the same memory, as words: keep the floats alive as long as the words."""
    floats = jit.zeros(_WORDS, np.float32)
    address = floats.ctypes.data
    words = numba.carray(pointer_from_address(address), _WORDS, np.uint32)
    longs = numba.carray(pointer_from_address(address), _WORDS // 2, np.int64)
    floats[0], floats[1], floats[2] = origin
    floats[3], floats[_TIME], words[_MASK] = t_near, time, mask

    # Context, and the addresses of the object tables of this world
    words[_CONTEXT], words[_CONTEXT + 1] = NO_HIT, NO_HIT
    longs[_TABLES // 2] = arrays.column_first.ctypes.data + 4 * np.int64(arrays.first[world])
    longs[_TABLES // 2 + 1] = arrays.columns.ctypes.data

    # Arguments: flags and features, context, filter
    words[_ARGUMENTS], words[_ARGUMENTS + 1] = _FILTER_EVERY_GEOMETRY, np.uint32(0xFFFFFFFF)
    longs[_ARGUMENTS // 2 + 1] = address + 4 * _CONTEXT
    longs[_ARGUMENTS // 2 + 2] = _address_of_filter()
    return floats, words


@jit.function
def _look(floats, words, scene, direction, t_far, takes):
    """Trace the ray of a scratch, either accepting firm hits, which end it, or rejecting all to find the least."""
    words[_HIT + 6], words[_HIT + 7], words[_HIT + 8], words[_LEAST + 8] = NO_HIT, NO_HIT, NO_HIT, NO_HIT
    floats[_T_FAR], words[_TAKES] = t_far, takes
    address = floats.ctypes.data
    x, y, z = direction
    for side in range(8):
        if (side & 1 and x != 0.0) or (side & 2 and y != 0.0) or (side & 4 and z != 0.0):
            continue
        floats[4] = x if x != 0.0 else (_TILT if side & 1 else -_TILT)
        floats[5] = y if y != 0.0 else (_TILT if side & 2 else -_TILT)
        floats[6] = z if z != 0.0 else (_TILT if side & 4 else -_TILT)
        _intersect_one(scene, address, address + 4 * _ARGUMENTS)


@jit.function
def _least(floats, words):
    """Result of `settled`, from the scratch."""
    return (
        floats[_LEAST],
        floats[_LEAST + 1],
        floats[_LEAST + 2],
        floats[_LEAST + 3],
        floats[_LEAST + 4],
        floats[_LEAST + 5],
        words[_LEAST + 6],
        words[_LEAST + 8],
        words[_LEAST + 9],
    )


# --- the filter ------------------------------------------------------------------------------------------------------


def _keep_least(arguments):
    """Embree's filter of one hit: rejects it unless it is firm and wanted; keeps the least firm hit.

    Args:
        arguments: Address of RTCFilterFunctionNArguments: addresses of validity, mesh, context, ray and hit.
    """
    given = numba.carray(pointer_from_address(arguments), 5, np.int64)
    valid = numba.carray(pointer_from_address(given[0]), 1, np.int32)
    ray = numba.carray(pointer_from_address(given[3]), _T_FAR + 1, np.float32)
    hit = numba.carray(pointer_from_address(given[4]), _HIT_WORDS, np.uint32)
    tables = numba.carray(pointer_from_address(given[2] + 4 * (_TABLES - _CONTEXT)), 2, np.int64)
    takes = numba.carray(pointer_from_address(given[2] + 4 * (_TAKES - _CONTEXT)), 1, np.uint32)[0]
    least = numba.carray(pointer_from_address(given[2] + 4 * (_LEAST - _CONTEXT)), 1 + _HIT_WORDS, np.uint32)
    known = numba.carray(pointer_from_address(given[2] + 4 * (_LEAST - _CONTEXT)), 1, np.float32)
    firm = _is_firm(given[1], hit[5], ray)
    if takes == 0 or not firm:
        valid[0] = 0
    if not firm:
        return

    # Compare objects before faces, by their numbers in the scene
    distance = ray[_T_FAR]
    if least[8] != NO_HIT:
        if distance > known[0]:
            return
        if distance == known[0]:
            column, before = _column(tables, hit[7], hit[8]), _column(tables, least[8], least[9])
            if column > before or (column == before and hit[5] >= least[6]):
                return
    known[0] = distance
    for k in range(_HIT_WORDS):
        least[1 + k] = hit[k]


@jit.function
def _is_firm(mesh, face, ray):
    """Whether a ray crosses the box around a face at its hit, so that every tree reaches it.

    Args:
        mesh: Address of the addresses of the mesh's vertices and faces, see `MeshScene`.
        face: The face.
        ray: Ray as Embree has it, in the frame of the mesh, as long as to the hit.
    """
    buffers = numba.carray(pointer_from_address(mesh), 2, np.int64)
    corners = numba.carray(pointer_from_address(buffers[1] + 12 * np.int64(face)), 3, np.uint32)
    a = numba.carray(pointer_from_address(buffers[0] + 12 * np.int64(corners[0])), 3, np.float32)
    b = numba.carray(pointer_from_address(buffers[0] + 12 * np.int64(corners[1])), 3, np.float32)
    c = numba.carray(pointer_from_address(buffers[0] + 12 * np.int64(corners[2])), 3, np.float32)
    enter, leave = 0.0, np.inf
    for axis in range(3):
        start, along = np.float64(ray[axis]), np.float64(ray[4 + axis])
        low, high = min(a[axis], b[axis], c[axis]) - start, max(a[axis], b[axis], c[axis]) - start
        if along != 0.0:
            low, high = low / along, high / along
            enter, leave = max(enter, min(low, high)), min(leave, max(low, high))
        elif low > 0.0 or high < 0.0:
            return False
    distance = np.float64(ray[_T_FAR])
    inside = (enter <= distance * (1.0 + _BESIDE)) & (distance <= leave * (1.0 + _BESIDE))
    return inside & (enter <= leave * (1.0 + _BOX_SLACK))


@jit.function
def _column(tables, instance, item):
    """Object of an item of an instance array; tables are the addresses that `settled` wrote."""
    first = numba.carray(pointer_from_address(tables[0]), instance + 1, np.int32)[instance]
    return numba.carray(pointer_from_address(tables[1]), first + item + 1, np.int32)[first + item]


@intrinsic
def _address_of_filter(typing_context: Any) -> Any:
    """Address of `_keep_least` as a C function, compiled and cached with the calling kernel."""
    return c_function(_keep_least, "sensorium_keep_least")
