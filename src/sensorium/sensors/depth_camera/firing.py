"""Shared parts of kernels that cast additional depth camera rays: scratch, ray origins and directions, the trace."""

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.edges import settle_block
from sensorium.tracing.embree.packet import BLOCK, new_block, new_packet, set_mask, trace_block
from sensorium.tracing.kernels.depth.lens import look_block
from sensorium.tracing.kernels.depth.ray_jitter import jitter_rays

_INFINITE = np.float32(np.inf)


@jit.function
def new_rays(mask):
    """Scratch of a kernel that fires rays: packet, block and hits, and image points with their directions.

    Returns:
        Packet of `new_packet`, seeing the objects of the mask; block and hits of `new_block`; u, v and x, y, z, float32
        (BLOCK,) each.
    """
    floats, words, active = new_packet()
    set_mask(words, mask)
    block, hit = new_block()
    u, v = jit.zeros(BLOCK, np.float32), jit.zeros(BLOCK, np.float32)
    x, y, z = jit.zeros(BLOCK, np.float32), jit.zeros(BLOCK, np.float32), jit.zeros(BLOCK, np.float32)
    return floats, words, active, block, hit, u, v, x, y, z


@jit.function
def look_from(eyes, head, u, v, pixel, used, block, x, y, z):
    """Fill a block with rays of a head: origins, and directions in S in x, y, z.

    Args:
        eyes: `Eyes`.
        head: Which.
        u, v: Image points [px], float32 (used,).
        pixel: Pixel of each, int64 (used,): rays are jittered as that of their pixel.
        used: How many.
        block: Scratch of `new_block`; origins are filled.
        x, y, z: Directions in S, float32, filled.
    """
    look_block(u, v, eyes.lens[head], used, x, y, z)
    jitter_rays(eyes.jitter, head, eyes.sensors, pixel, used, x, y, z)
    a, b, c = eyes.origin[head, 0], eyes.origin[head, 1], eyes.origin[head, 2]
    for k in range(used):
        block[pk.B_ORIGIN_X + k], block[pk.B_ORIGIN_Y + k], block[pk.B_ORIGIN_Z + k] = a, b, c


@jit.inlined
def turned(rotation, x, y, z):
    """A vector turned by a matrix of nine numbers, in float64."""
    return (
        rotation[0] * x + rotation[1] * y + rotation[2] * z,
        rotation[3] * x + rotation[4] * y + rotation[5] * z,
        rotation[6] * x + rotation[7] * y + rotation[8] * z,
    )


@jit.function
def fire(eyes, world, floats, words, active, block, hit, used):
    """Trace the rays of a block, and settle those that end on edges."""
    trace_block(block, hit, floats, words, active, eyes.arrays.scene[world], eyes.arguments, np.bool_(True), used)
    settle_block(block, hit, eyes.arrays, world, eyes.mask, _INFINITE, used)
