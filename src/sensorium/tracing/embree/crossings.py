"""Every face that rays cross, found in one trace: a filter records each hit and rejects it, so that the ray goes on.

Light needs the faces of volumes, objects that are filled with a medium: a fog bank, a water tank, a glass body. Rays
extend to infinity, so a volume that a ray leaves without having entered it contains the ray's origin.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import intrinsic
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.runtime.jit import c_function, pointer_from_address
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK, NO_HIT, WIDTH, clear_hits, copy_lanes, intersect, set_mask, use_lanes
from sensorium.tracing.hits import label_of, normal_in_world, object_of
from sensorium.tracing.placement.motion import AFFINE_WORDS

# columns of Crossings.number: distance [m], cosine between ray and normal (below 0 where the ray enters), normal,
# barycentric coordinates, and on request the curvature of the face
C_T, C_COS, C_NX, C_NY, C_NZ, C_U, C_V, C_K11, C_K12, C_K22 = range(10)
CROSSING_NUMBERS = 10

# columns of Crossings.word: face, object, instance array and item of it, and what the crossing does or its label
C_FACE, C_COLUMN, C_INSTANCE, C_ITEM, C_DOES = range(5)
C_LABEL = C_DOES
CROSSING_WORDS = 5

# Embree's arguments with the context behind them, in words of 64 bits: flags and features, context, filter; the
# context; then what the filter reads: first ray of the packet, room for crossings of a ray, three addresses
_ARGUMENTS, _CONTEXT, _FIRST, _ROOM, _COUNT, _NUMBER, _WORD = 0, 16, 18, 19, 20, 21, 22
_LONGS = 24
_FILTER_EVERY_GEOMETRY = 1 << 1
_COHERENT = 1 << 16

# rows of a ray and of a hit as Embree hands them to a filter
_RAY_DIRECTION, _RAY_T, _RAY_ROWS = 4, 8, 12
_HIT_FACE, _HIT_INSTANCE, _HIT_ITEM, _HIT_ROWS = 5, 7, 8, 9


class Crossings(NamedTuple):
    """Faces along each ray of a block, nearest first."""

    found: NDArray[np.int32]  # (BLOCK,) how many; more than there is room for where some are missing
    number: NDArray[np.float32]  # (room, CROSSING_NUMBERS, BLOCK)
    word: NDArray[np.int32]  # (room, CROSSING_WORDS, BLOCK)
    asked: NDArray[np.int64]  # (_LONGS,) what Embree is asked with


@jit.function
def new_crossings(room):
    """Arrays for this many crossings of each ray of a block; empty if a scene has no volumes."""
    rays = BLOCK if room > 0 else 0
    return Crossings(
        jit.zeros(rays, np.int32),
        jit.zeros((room, CROSSING_NUMBERS, rays), np.float32),
        jit.zeros((room, CROSSING_WORDS, rays), np.int32),
        jit.zeros(_LONGS, np.int64),
    )


@jit.function
def collect_block(block, crossings, floats, words, active, arrays, world, masks, coherent, used):
    """Find all faces that the rays of a block cross, and sort them.

    Args:
        block: Scratch with origins, directions and times of the rays.
        crossings: `Crossings`, filled.
        floats, words, active: Packet of `new_packet`.
        arrays: `InstanceTables`; world: world of the rays.
        masks: Bits of other rays and of these, uint32 (2,); the packet is left with the former.
        coherent: Whether neighboring rays go almost the same way.
        used: Rays in the block.
    """
    asked = crossings.asked
    address = asked.ctypes.data
    arguments = numba.carray(pointer_from_address(address), 2, np.uint32)
    arguments[0] = np.uint32(_FILTER_EVERY_GEOMETRY | _COHERENT if coherent else _FILTER_EVERY_GEOMETRY)
    arguments[1] = NO_HIT
    asked[_ARGUMENTS + 1], asked[_ARGUMENTS + 2] = address + 8 * _CONTEXT, _address_of_filter()
    asked[_CONTEXT] = -1
    asked[_ROOM] = crossings.number.shape[0]
    asked[_COUNT], asked[_NUMBER] = crossings.found.ctypes.data, crossings.number.ctypes.data
    asked[_WORD] = crossings.word.ctypes.data
    for k in range(used):
        crossings.found[k] = 0
    set_mask(words, masks[1])
    use_lanes(active, WIDTH)
    for ray in range(0, used, WIDTH):
        copy_lanes(floats, pk.ORIGIN_X, block, pk.B_ORIGIN_X + ray)
        copy_lanes(floats, pk.ORIGIN_Y, block, pk.B_ORIGIN_Y + ray)
        copy_lanes(floats, pk.ORIGIN_Z, block, pk.B_ORIGIN_Z + ray)
        copy_lanes(floats, pk.DIRECTION_X, block, pk.B_DIRECTION_X + ray)
        copy_lanes(floats, pk.DIRECTION_Y, block, pk.B_DIRECTION_Y + ray)
        copy_lanes(floats, pk.DIRECTION_Z, block, pk.B_DIRECTION_Z + ray)
        copy_lanes(floats, pk.TIME, block, pk.B_TIME + ray)
        for lane in range(WIDTH):
            floats[pk.T_NEAR + lane], floats[pk.T_FAR + lane] = np.float32(0.0), np.float32(np.inf)
        clear_hits(words)
        if used - ray < WIDTH:
            use_lanes(active, used - ray)
        asked[_FIRST] = ray
        intersect(active.ctypes.data, arrays.scene[world], floats.ctypes.data, address)
    set_mask(words, masks[0])
    for k in range(used):
        count = min(np.int64(crossings.found[k]), np.int64(crossings.number.shape[0]))
        if count > 0:
            _name(crossings, arrays, world, block[pk.B_TIME + k], k, count)
            sort_crossings(crossings, k, count)


@jit.inlined
def _name(crossings, arrays, world, time, k, count):
    """Objects and world normals of a ray's crossings, from the filter's records."""
    number, word = crossings.number, crossings.word
    for i in range(count):
        instance, item = np.uint32(word[i, C_INSTANCE, k]), np.uint32(word[i, C_ITEM, k])
        word[i, C_COLUMN, k] = object_of(arrays, world, instance, item)
        x, y, z = turned_normal(
            arrays, world, instance, item, time, number[i, C_NX, k], number[i, C_NY, k], number[i, C_NZ, k]
        )
        number[i, C_NX, k], number[i, C_NY, k], number[i, C_NZ, k] = x, y, z


@jit.inlined
def turned_normal(arrays, world, instance, item, time, x, y, z):
    """A normal of an instance's frame in the world, of any length; arguments as for `normal_in_world`."""
    array = np.uint32(arrays.first[world]) + instance
    if arrays.segments[array] > 0:
        return normal_in_world(arrays, world, instance, item, time, x, y, z)
    m = numba.carray(pointer_from_address(arrays.buffer[array] + np.int64(item) * (4 * AFFINE_WORDS)), 12, np.float32)
    return m[0] * x + m[1] * y + m[2] * z, m[4] * x + m[5] * y + m[6] * z, m[8] * x + m[9] * y + m[10] * z


@jit.inlined
def sort_crossings(crossings, k, count):
    """Sort the crossings of ray k by distance, object and face, so that the order of the trace does not matter."""
    number, word = crossings.number, crossings.word
    for i in range(1, count):
        j = i
        while j > 0 and _before(number, word, k, j, j - 1):
            for column in range(CROSSING_NUMBERS):
                number[j, column, k], number[j - 1, column, k] = number[j - 1, column, k], number[j, column, k]
            for column in range(CROSSING_WORDS):
                word[j, column, k], word[j - 1, column, k] = word[j - 1, column, k], word[j, column, k]
            j -= 1


@jit.inlined
def _before(number, word, k, a, b):
    """Whether crossing a of ray k comes before b."""
    if number[a, C_T, k] != number[b, C_T, k]:
        return number[a, C_T, k] < number[b, C_T, k]
    if word[a, C_COLUMN, k] != word[b, C_COLUMN, k]:
        return word[a, C_COLUMN, k] < word[b, C_COLUMN, k]
    return word[a, C_FACE, k] < word[b, C_FACE, k]


class RawCrossings(NamedTuple):
    """Output for rays outside sensors, one row per ray."""

    found: NDArray[np.int32]  # (rays,) how many; more than there is room for where some are missing
    number: NDArray[np.float32]  # (rays, room, CROSSING_NUMBERS)
    word: NDArray[np.int32]  # (rays, room, CROSSING_WORDS), with labels


def new_raw_crossings(rays: int, room: int) -> RawCrossings:
    """Arrays for the kernel to fill."""
    return RawCrossings(
        np.zeros(rays, np.int32),
        np.zeros((rays, room, CROSSING_NUMBERS), np.float32),
        np.zeros((rays, room, CROSSING_WORDS), np.int32),
    )


@jit.kernel
def collect_rays(first, step, count, arrays, labels, anchor, rays, masks, out):
    """Find all faces that the rays of the blocks first, first + step, ... of a list cross.

    Args:
        first, step, count: Share of the blocks of BLOCK rays.
        arrays: `InstanceTables`; labels: `LabelTables`.
        anchor: float64 (worlds, 3) [m].
        rays: `Rays`; their far limits are ignored.
        masks: As for `collect_block`.
        out: `RawCrossings`, filled.
    """
    floats, words, active = pk.new_packet()
    block, _ = pk.new_block()
    room, total = out.number.shape[1], rays.origin.shape[0]
    crossings = new_crossings(room)
    for number in range(first, count, step):
        start, end = number * BLOCK, min(total, (number + 1) * BLOCK)
        while start < end:
            # Neighbors of one world
            world, used = rays.world[start], 0
            while start + used < end and rays.world[start + used] == world:
                i = start + used
                for axis in range(3):
                    block[pk.B_ORIGIN_X + axis * BLOCK + used] = rays.origin[i, axis] - anchor[world, axis]
                    block[pk.B_DIRECTION_X + axis * BLOCK + used] = rays.direction[i, axis]
                block[pk.B_TIME + used] = rays.time[i]
                used += 1
            collect_block(block, crossings, floats, words, active, arrays, world, masks, False, used)
            row = world if labels.object_label.shape[0] > 1 else 0
            for k in range(used):
                i = start + k
                out.found[i] = crossings.found[k]
                for j in range(min(np.int64(crossings.found[k]), np.int64(room))):
                    for column in range(CROSSING_NUMBERS):
                        out.number[i, j, column] = crossings.number[j, column, k]
                    for column in range(C_DOES):
                        out.word[i, j, column] = crossings.word[j, column, k]
                    face, column = crossings.word[j, C_FACE, k], crossings.word[j, C_COLUMN, k]
                    out.word[i, j, C_LABEL] = label_of(labels, row, column, face)
            start += used


# --- the filter ------------------------------------------------------------------------------------------------------


def _note(arguments):
    """Embree's filter of the hits of a packet: records and rejects them.

    Args:
        arguments: Address of RTCFilterFunctionNArguments: addresses of validity, mesh, context, rays and hits, then
            how many rays.
    """
    given = numba.carray(pointer_from_address(arguments), 6, np.int64)
    lanes = given[5] & np.int64(0xFFFFFFFF)
    valid = numba.carray(pointer_from_address(given[0]), lanes, np.int32)
    ray = numba.carray(pointer_from_address(given[3]), _RAY_ROWS * lanes, np.float32)
    hit = numba.carray(pointer_from_address(given[4]), _HIT_ROWS * lanes, np.uint32)
    normal = numba.carray(pointer_from_address(given[4]), 5 * lanes, np.float32)  # u and v behind it
    own = numba.carray(pointer_from_address(given[2]), _LONGS - _CONTEXT, np.int64)
    first, room = own[_FIRST - _CONTEXT], own[_ROOM - _CONTEXT]
    count = numba.carray(pointer_from_address(own[_COUNT - _CONTEXT]), BLOCK, np.int32)
    number = numba.carray(pointer_from_address(own[_NUMBER - _CONTEXT]), (room, CROSSING_NUMBERS, BLOCK), np.float32)
    word = numba.carray(pointer_from_address(own[_WORD - _CONTEXT]), (room, CROSSING_WORDS, BLOCK), np.int32)
    for lane in range(lanes):
        if valid[lane] == 0:
            continue
        valid[lane] = 0
        k = first + lane
        place = np.int64(count[k])
        count[k] = np.int32(place + 1)
        if place >= room:
            continue
        x, y, z = normal[lane], normal[lanes + lane], normal[2 * lanes + lane]
        dot = (
            x * ray[_RAY_DIRECTION * lanes + lane]
            + y * ray[(_RAY_DIRECTION + 1) * lanes + lane]
            + z * ray[(_RAY_DIRECTION + 2) * lanes + lane]
        )
        number[place, C_T, k] = ray[_RAY_T * lanes + lane]
        number[place, C_COS, k] = dot / np.sqrt(x * x + y * y + z * z)
        number[place, C_NX, k], number[place, C_NY, k], number[place, C_NZ, k] = x, y, z
        number[place, C_U, k], number[place, C_V, k] = normal[3 * lanes + lane], normal[4 * lanes + lane]
        word[place, C_FACE, k] = np.int32(hit[_HIT_FACE * lanes + lane])
        word[place, C_INSTANCE, k] = np.int32(hit[_HIT_INSTANCE * lanes + lane])
        word[place, C_ITEM, k] = np.int32(hit[_HIT_ITEM * lanes + lane])


@intrinsic
def _address_of_filter(typing_context: Any) -> Any:
    """Address of `_note` as a C function, compiled and cached with the calling kernel."""
    return c_function(_note, "sensorium_note_crossings")
