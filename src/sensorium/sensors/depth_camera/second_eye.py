"""Occlusion from the second camera of a stereo pair: a ray from it to each point that the first camera sees."""

import math

import numpy as np

from sensorium.runtime import jit
from sensorium.runtime.worker_pool import NONE, next_block, shared
from sensorium.sensors.depth_camera.firing import fire, look_from, new_rays, turned
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK, NO_HIT
from sensorium.tracing.kernels.sweep import WHOLE, block_of

# Tolerance by which the second camera may hit something nearer than the point and still see it [m], and per meter of
# distance: float32 rounding of the two casts, on surfaces however oblique
_CLEAR_M, _CLEAR = 1e-3, 1e-4

# Added to a float64 before rounding to float32, so that it is not rounded down
_UP = 1.0 + 2.0**-23


@jit.function
def _lose_hidden(first, step, count, eyes, place, width, baseline, ranges, depth):
    """The work of `lose_hidden`."""
    floats, words, active, block, hit, u, v, x, y, z = new_rays(eyes.mask)
    pixel, clear = jit.zeros(BLOCK, np.int64), jit.zeros(BLOCK, np.float64)
    number = next_block(first, step, count, NONE)
    while number < count:
        head, start, size = block_of(number, place.shape[0], WHOLE)
        used = 0
        for k in range(start, start + size):
            p = np.int64(place[k])
            if depth[head, p] > np.float32(0.0):
                pixel[used], u[used], v[used] = p, p % width, p // width
                used += 1
        look_from(eyes, head, u, v, pixel, used, block, x, y, z)
        rotation = eyes.rotation[head]
        for k in range(used):
            # The point relative to the second camera, and the length of its ray that must be free
            r = np.float64(ranges[head, pixel[k]])
            px, py, pz = r * x[k], r * y[k] + baseline, r * z[k]
            distance = math.sqrt(px * px + py * py + pz * pz)
            dx, dy, dz = turned(rotation, px / distance, py / distance, pz / distance)
            block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k] = dx, dy, dz
            clear[k] = distance * (1.0 - _CLEAR) - _CLEAR_M
            block[pk.B_T_FAR + k] = np.float32(clear[k] * _UP)
        fire(eyes, head // eyes.sensors, floats, words, active, block, hit, used)
        for k in range(used):
            if hit[pk.B_INSTANCE + k] != NO_HIT and block[pk.B_T_FAR + k] < clear[k]:
                depth[head, pixel[k]] = np.float32(0.0)
        number = next_block(first, step, count, number)


_share = shared(_lose_hidden)


@jit.kernel
def lose_hidden(first, step, count, eyes, place, width, baseline, ranges, depth):
    """Set the depths of points that the second camera does not see to 0; points without a depth are skipped.

    Args:
        first, step, count: Share of the blocks of BLOCK pixels; every head has as many.
        eyes: `Eyes` of the second cameras; lenses and rotations are those of the first.
        place: Pixels in the order of tiles, uint32 (pixels,).
        width: Columns.
        baseline: Distance of each to the right of its first camera [m].
        ranges: True distances from the first cameras [m], float32 (heads, pixels).
        depth: Float32 (heads, pixels), changed in place.
    """
    _share(first, step, count, (eyes, place, width, baseline, ranges, depth))
