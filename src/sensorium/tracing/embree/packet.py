"""One packet of rays in Embree's layout: a structure of arrays, as wide as the machine's vectors.

A packet is one aligned block of 21 rows of WIDTH 32-bit words. Rows 0 to 11 are the rays, 12 to 20 their hits. Kernels
fill a packet, trace it, and read it, all in cache.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sensorium.runtime import jit
from sensorium.runtime.jit import pointer_from_address
from sensorium.tracing.embree import library

WIDTH = library.load().packet_width

# Rays are worked on in blocks of this many: small enough for the first-level cache, fixed so that results never
# depend on how the work is split.
BLOCK = 512

# rows of the packet, in units of WIDTH words
ORIGIN_X, ORIGIN_Y, ORIGIN_Z, T_NEAR = 0, 1 * WIDTH, 2 * WIDTH, 3 * WIDTH
DIRECTION_X, DIRECTION_Y, DIRECTION_Z, TIME = 4 * WIDTH, 5 * WIDTH, 6 * WIDTH, 7 * WIDTH
T_FAR, MASK, RAY_ID, FLAGS = 8 * WIDTH, 9 * WIDTH, 10 * WIDTH, 11 * WIDTH
NORMAL_X, NORMAL_Y, NORMAL_Z, HIT_U, HIT_V = 12 * WIDTH, 13 * WIDTH, 14 * WIDTH, 15 * WIDTH, 16 * WIDTH
FACE, GEOMETRY, INSTANCE, INSTANCE_ITEM = 17 * WIDTH, 18 * WIDTH, 19 * WIDTH, 20 * WIDTH
_ROWS = 21

# A packet of rays of an image is a tile of pixels, row by row
TILE_ROWS = {4: 2, 8: 2, 16: 4}[WIDTH]
TILE_COLUMNS = WIDTH // TILE_ROWS

NO_HIT = np.uint32(0xFFFFFFFF)
ALL_OBJECTS = np.uint32(0xFFFFFFFF)

intersect = types.ExternalFunction(f"rtcIntersect{WIDTH}", types.void(types.intp, types.intp, types.intp, types.intp))
occluded = types.ExternalFunction(f"rtcOccluded{WIDTH}", types.void(types.intp, types.intp, types.intp, types.intp))


def _arguments(flags: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """RTCIntersectArguments: flags, feature mask (all), the rest zero."""
    words = np.zeros(32, np.int32)
    words[0], words[1] = flags, -1
    return words


# kept alive here for the life of the process; kernels get the addresses
_COHERENT, _SCATTERED = _arguments(1 << 16), _arguments(0)
COHERENT_ADDRESS = int(_COHERENT.ctypes.data)
SCATTERED_ADDRESS = int(_SCATTERED.ctypes.data)


@jit.function
def new_packet():
    """Scratch for one packet.

    Returns:
        floats: The packet as float32, shape (21 * WIDTH,), 64-byte aligned.
        words: The same memory as uint32; it lives only as long as floats does, so use both to the end.
        active: int32 (WIDTH,), -1 for a lane in use, 0 for an idle one; aligned.
    """
    floats = jit.zeros(_ROWS * WIDTH, np.float32)
    words = numba.carray(pointer_from_address(floats.ctypes.data), _ROWS * WIDTH, np.uint32)
    return floats, words, jit.zeros(WIDTH, np.int32)


# rows of a block of rays in flat scratch, in units of BLOCK: rays before the trace, hits after it
B_ORIGIN_X, B_ORIGIN_Y, B_ORIGIN_Z = 0, BLOCK, 2 * BLOCK
B_DIRECTION_X, B_DIRECTION_Y, B_DIRECTION_Z = 3 * BLOCK, 4 * BLOCK, 5 * BLOCK
B_TIME, B_T_FAR = 6 * BLOCK, 7 * BLOCK
B_NORMAL_X, B_NORMAL_Y, B_NORMAL_Z, B_U, B_V = 8 * BLOCK, 9 * BLOCK, 10 * BLOCK, 11 * BLOCK, 12 * BLOCK
B_T_NEAR = 13 * BLOCK
B_FACE, B_INSTANCE, B_ITEM = 0, BLOCK, 2 * BLOCK  # in the scratch of words
BLOCK_FLOATS, BLOCK_WORDS = 14 * BLOCK, 3 * BLOCK


@jit.function
def new_block():
    """Scratch for one block of rays: floats (BLOCK_FLOATS,) and words (BLOCK_WORDS,), rows as named above."""
    return jit.zeros(BLOCK_FLOATS, np.float32), jit.zeros(BLOCK_WORDS, np.uint32)


@jit.function
def set_mask(words, mask):
    """Which objects the rays of this packet see; tracing leaves it as it is."""
    for k in range(WIDTH):
        words[MASK + k] = mask


@jit.function
def clear_hits(words):
    """Forget the hits of the packet traced before."""
    for k in range(WIDTH):
        words[GEOMETRY + k] = NO_HIT
        words[INSTANCE + k] = NO_HIT


@jit.function
def use_lanes(active, used):
    """Lanes from `used` on are idle."""
    for k in range(WIDTH):
        active[k] = -1 if k < used else 0


def lanes_of(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    """Address of the lanes of a flat array of 32-bit numbers from `start` on."""
    data = context.make_array(kind)(context, builder, array).data
    number = ir.FloatType() if kind.dtype == types.float32 else ir.IntType(32)
    return builder.bitcast(builder.gep(data, [start]), ir.VectorType(number, WIDTH).as_pointer())


def every_lane(builder: Any, number: Any) -> Any:
    """A vector with the same number in every lane."""
    every = ir.Constant(ir.VectorType(number.type, WIDTH), ir.Undefined)
    for lane in range(WIDTH):
        every = builder.insert_element(every, number, ir.Constant(ir.IntType(32), lane))
    return every


@intrinsic
def copy_lanes(typing_context: Any, to: Any, at: Any, source: Any, start: Any) -> Any:
    """to[at : at + WIDTH] = source[start : start + WIDTH] for flat arrays of 32-bit numbers of one type, as one vector.

    As a loop over views it would be scalar code, since the compiler cannot tell that arrays do not overlap, and each
    view would cost two atomic operations, as much as the copying.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target = lanes_of(context, builder, signature.args[0], values[0], values[1])
        lanes = builder.load(lanes_of(context, builder, signature.args[2], values[2], values[3]), align=4)
        builder.store(lanes, target, align=4)
        return context.get_dummy_value()

    return types.void(to, types.intp, source, types.intp), generate


@intrinsic
def turn_lanes(
    typing_context: Any, to: Any, at: Any, x: Any, y: Any, z: Any, start: Any, a: Any, b: Any, c: Any
) -> Any:
    """to[at : at + WIDTH] = a x + b y + c z, of the lanes of x, y and z from `start` on; all float32."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target = lanes_of(context, builder, signature.args[0], values[0], values[1])
        total = None
        for place in (2, 3, 4):
            address = lanes_of(context, builder, signature.args[place], values[place], values[5])
            lanes, factor = builder.load(address, align=4), values[place + 4]
            product = builder.fmul(every_lane(builder, factor), lanes)
            total = product if total is None else builder.fadd(total, product)
        builder.store(total, target, align=4)
        return context.get_dummy_value()

    return types.void(to, types.intp, x, y, z, types.intp, types.float32, types.float32, types.float32), generate


@jit.function
def trace_block(block, hit, floats, words, active, scene, arguments, barycentric, count):
    """Trace the first `count` rays of a block, packet by packet.

    Args:
        block: Scratch of `new_block` with origins, directions, times, near and far limits; far limits become distances.
        hit: Words of `new_block`; filled with face, instance array (NO_HIT for a miss) and item.
        floats, words, active: Packet of `new_packet` with its mask set.
        scene: Embree scene.
        arguments: Address of Embree's arguments.
        barycentric: Whether u and v are wanted.
        count: Rays in the block.
    """
    use_lanes(active, WIDTH)
    for ray in range(0, count, WIDTH):
        copy_lanes(floats, ORIGIN_X, block, B_ORIGIN_X + ray)
        copy_lanes(floats, ORIGIN_Y, block, B_ORIGIN_Y + ray)
        copy_lanes(floats, ORIGIN_Z, block, B_ORIGIN_Z + ray)
        copy_lanes(floats, T_NEAR, block, B_T_NEAR + ray)
        copy_lanes(floats, DIRECTION_X, block, B_DIRECTION_X + ray)
        copy_lanes(floats, DIRECTION_Y, block, B_DIRECTION_Y + ray)
        copy_lanes(floats, DIRECTION_Z, block, B_DIRECTION_Z + ray)
        copy_lanes(floats, TIME, block, B_TIME + ray)
        copy_lanes(floats, T_FAR, block, B_T_FAR + ray)
        clear_hits(words)
        if count - ray < WIDTH:
            use_lanes(active, count - ray)
        intersect(active.ctypes.data, scene, floats.ctypes.data, arguments)
        copy_lanes(block, B_T_FAR + ray, floats, T_FAR)
        copy_lanes(block, B_NORMAL_X + ray, floats, NORMAL_X)
        copy_lanes(block, B_NORMAL_Y + ray, floats, NORMAL_Y)
        copy_lanes(block, B_NORMAL_Z + ray, floats, NORMAL_Z)
        if barycentric:
            copy_lanes(block, B_U + ray, floats, HIT_U)
            copy_lanes(block, B_V + ray, floats, HIT_V)
        copy_lanes(hit, B_FACE + ray, words, FACE)
        copy_lanes(hit, B_INSTANCE + ray, words, INSTANCE)
        copy_lanes(hit, B_ITEM + ray, words, INSTANCE_ITEM)


@jit.function
def trace_again(block, hit, floats, words, active, scene, arguments, barycentric, ray):
    """Trace one ray of a block alone; arguments as for `trace_block`."""
    use_lanes(active, 1)
    for row in range(3):
        floats[ORIGIN_X + row * WIDTH] = block[B_ORIGIN_X + row * BLOCK + ray]
        floats[DIRECTION_X + row * WIDTH] = block[B_DIRECTION_X + row * BLOCK + ray]
    floats[T_NEAR], floats[T_FAR], floats[TIME] = block[B_T_NEAR + ray], block[B_T_FAR + ray], block[B_TIME + ray]
    clear_hits(words)
    intersect(active.ctypes.data, scene, floats.ctypes.data, arguments)
    block[B_T_FAR + ray] = floats[T_FAR]
    for row in range(3):
        block[B_NORMAL_X + row * BLOCK + ray] = floats[NORMAL_X + row * WIDTH]
    if barycentric:
        block[B_U + ray], block[B_V + ray] = floats[HIT_U], floats[HIT_V]
    hit[B_FACE + ray], hit[B_INSTANCE + ray], hit[B_ITEM + ray] = words[FACE], words[INSTANCE], words[INSTANCE_ITEM]


@jit.function
def trace_still(block, hit, floats, words, active, scene, arguments, x, y, z, pose, reach, count):
    """Trace rays that all start from one place at time 0, turned into the world as their packets are filled.

    Args:
        block, hit: Scratch of `new_block`; distances, faces, instance arrays (NO_HIT for a miss) and items are filled.
        floats, words, active: Packet of `new_packet` with its mask set.
        scene: Embree scene; arguments: address of Embree's arguments.
        x, y, z: Unit directions in the sensor frame, float32 (count,).
        pose: X_AS, rows of 3 x 4, float32 (12,).
        reach: How far to look [m], float32.
        count: Rays.
    """
    r00, r01, r02, r10, r11, r12 = pose[0], pose[1], pose[2], pose[4], pose[5], pose[6]
    r20, r21, r22 = pose[8], pose[9], pose[10]

    # What tracing leaves as it is
    for k in range(WIDTH):
        floats[ORIGIN_X + k], floats[ORIGIN_Y + k], floats[ORIGIN_Z + k] = pose[3], pose[7], pose[11]
        floats[T_NEAR + k], floats[TIME + k] = np.float32(0.0), np.float32(0.0)
    use_lanes(active, WIDTH)
    for ray in range(0, count, WIDTH):
        clear_hits(words)
        for k in range(WIDTH):
            floats[T_FAR + k] = reach
        if count - ray >= WIDTH:
            turn_lanes(floats, DIRECTION_X, x, y, z, ray, r00, r01, r02)
            turn_lanes(floats, DIRECTION_Y, x, y, z, ray, r10, r11, r12)
            turn_lanes(floats, DIRECTION_Z, x, y, z, ray, r20, r21, r22)
        else:
            use_lanes(active, count - ray)
            for k in range(count - ray):
                u, v, w = x[ray + k], y[ray + k], z[ray + k]
                floats[DIRECTION_X + k] = r00 * u + r01 * v + r02 * w
                floats[DIRECTION_Y + k] = r10 * u + r11 * v + r12 * w
                floats[DIRECTION_Z + k] = r20 * u + r21 * v + r22 * w
        intersect(active.ctypes.data, scene, floats.ctypes.data, arguments)
        copy_lanes(block, B_T_FAR + ray, floats, T_FAR)
        copy_lanes(hit, B_FACE + ray, words, FACE)
        copy_lanes(hit, B_INSTANCE + ray, words, INSTANCE)
        copy_lanes(hit, B_ITEM + ray, words, INSTANCE_ITEM)
