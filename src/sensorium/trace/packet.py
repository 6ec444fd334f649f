"""One packet of rays as Embree wants it: a structure of arrays, as wide as the machine's vectors.

A packet is one aligned block of 21 rows of WIDTH 32-bit words. Rows 0 to 11 are the rays, 12 to 20 their hits. Kernels
fill a packet, trace it, and read it, all in cache.
"""

from typing import Any

import numpy as np
from numba import types
from numba.core import types as core_types
from numba.extending import intrinsic

from sensorium import jit
from sensorium.trace import library

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

NO_HIT = np.uint32(0xFFFFFFFF)
ALL_OBJECTS = np.uint32(0xFFFFFFFF)

_ALIGN = 64

intersect = types.ExternalFunction(
    f"rtcIntersect{WIDTH}", types.void(types.intp, types.intp, types.intp, types.intp)
)
occluded = types.ExternalFunction(
    f"rtcOccluded{WIDTH}", types.void(types.intp, types.intp, types.intp, types.intp)
)


def _arguments(flags: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """RTCIntersectArguments: flags, feature mask (all), the rest zero."""
    words = np.zeros(32, np.int32)
    words[0], words[1] = flags, -1
    return words


# kept alive here for the life of the process; kernels get the addresses
_COHERENT, _SCATTERED = _arguments(1 << 16), _arguments(0)
COHERENT_ADDRESS = int(_COHERENT.ctypes.data)
SCATTERED_ADDRESS = int(_SCATTERED.ctypes.data)


@intrinsic  # type: ignore[misc]
def pointer_from_address(typing_context: Any, address: Any) -> Any:
    """Turn an integer address into a pointer that `numba.carray` takes."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return core_types.voidptr(core_types.intp), build


@jit.function
def new_packet():  # type: ignore[no-untyped-def]
    """Scratch for one packet.

    Returns:
        floats: The packet as float32, shape (21 * WIDTH,), 64-byte aligned.
        words: The same memory as uint32.
        active: int32 (WIDTH,), -1 for a lane in use, 0 for an idle one; aligned.
    """
    size = _ROWS * WIDTH * 4
    memory = np.zeros(size + WIDTH * 4 + 2 * _ALIGN, np.uint8)
    start = (-memory.ctypes.data) % _ALIGN
    packet = memory[start : start + size]
    after = start + size
    after += (-(memory.ctypes.data + after)) % _ALIGN
    active = memory[after : after + WIDTH * 4].view(np.int32)
    return packet.view(np.float32), packet.view(np.uint32), active


@jit.function
def clear_lanes(floats, words, active, used, mask):  # type: ignore[no-untyped-def]
    """Prepare the fields that are the same for every ray; lanes from `used` on are idle."""
    for k in range(WIDTH):
        active[k] = -1 if k < used else 0
        floats[T_NEAR + k] = np.float32(0.0)
        words[MASK + k] = mask
        words[RAY_ID + k] = np.uint32(0)
        words[FLAGS + k] = np.uint32(0)
        words[GEOMETRY + k] = NO_HIT
        words[INSTANCE + k] = NO_HIT
        words[INSTANCE_ITEM + k] = NO_HIT
