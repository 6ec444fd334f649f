"""Several rays over each pixel, whose ranges mix by the power that they return."""

import numpy as np

from sensorium.physics.imaging.depth_errors.flying_pixels import mixed, power_back
from sensorium.runtime import jit
from sensorium.runtime.worker_pool import NONE, next_block, shared
from sensorium.sensors.depth_camera.firing import fire, look_from, new_rays, turned
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK, NO_HIT
from sensorium.tracing.hits import normal_in_world, object_of
from sensorium.tracing.kernels.sweep import block_of

_ZERO, _INFINITE = np.float32(0.0), np.float32(np.inf)


def blocks_of_parts(heads: int, pixels: int, parts: int) -> int:
    """Number of blocks of `mix_parts`, by rays per pixel."""
    return heads * -(-pixels // (BLOCK // parts))


@jit.function
def _mix_parts(first, step, count, eyes, reflectance, width, within, ranges, power):
    """The work of `mix_parts`."""
    floats, words, active, block, hit, u, v, x, y, z = new_rays(eyes.mask)
    met, back, whole = jit.zeros(BLOCK, np.float32), jit.zeros(BLOCK, np.float32), jit.zeros(BLOCK, np.int64)
    side = within.shape[0]
    parts = side * side
    number = next_block(first, step, count, NONE)
    while number < count:
        head, start, pixels = block_of(number, ranges.shape[1], BLOCK // parts)
        used, world = pixels * parts, head // eyes.sensors
        k = 0
        for pixel in range(start, start + pixels):
            column, row = pixel % width, pixel // width
            for j in range(side):
                for i in range(side):
                    u[k], v[k], whole[k] = column + within[i], row + within[j], pixel
                    k += 1
        look_from(eyes, head, u, v, whole, used, block, x, y, z)
        rotation = eyes.rotation[head]
        for k in range(used):
            dx, dy, dz = turned(rotation, np.float64(x[k]), np.float64(y[k]), np.float64(z[k]))
            block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k] = dx, dy, dz
            block[pk.B_T_FAR + k] = _INFINITE
        fire(eyes, world, floats, words, active, block, hit, used)
        _weigh(block, hit, eyes.arrays, world, reflectance[world if reflectance.shape[0] > 1 else 0], met, back, used)
        for k in range(pixels):
            pixel = start + k
            between, mean = mixed(met, back, k * parts, parts)
            ranges[head, pixel] = _ZERO if ranges[head, pixel] == _ZERO else between
            power[head, pixel] = mean
        number = next_block(first, step, count, number)


@jit.function
def _weigh(block, hit, arrays, world, reflectance, met, back, used):
    """Range and returned power of each ray. Neighbors mostly hit the same face, whose normal is transformed once.

    Args:
        block, hit: Scratch after the trace.
        arrays: `InstanceTables`; world: of the rays.
        reflectance: Of its objects, float32 (objects,).
        met: Filled with ranges [m], infinite for a miss.
        back: Filled with power [1/m^2], 0 for a miss.
        used: How many rays.
    """
    last_instance, last_item = NO_HIT, NO_HIT
    last_x, last_y, last_z = _ZERO, _ZERO, _ZERO
    nx, ny, nz, rho = _ZERO, _ZERO, _ZERO, _ZERO
    for k in range(used):
        instance, item = hit[pk.B_INSTANCE + k], hit[pk.B_ITEM + k]
        if instance == NO_HIT:
            met[k], back[k] = _INFINITE, _ZERO
            continue
        x, y, z = block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k]
        same = instance == last_instance and item == last_item
        if not (same and x == last_x and y == last_y and z == last_z):
            nx, ny, nz = normal_in_world(arrays, world, instance, item, _ZERO, x, y, z)
            rho = reflectance[object_of(arrays, world, instance, item)]
            last_instance, last_item, last_x, last_y, last_z = instance, item, x, y, z
        dx, dy, dz = block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k]
        met[k] = block[pk.B_T_FAR + k]
        back[k] = power_back(met[k], rho, _cosine(nx, ny, nz, dx, dy, dz))


@jit.function
def _cosine(nx, ny, nz, dx, dy, dz):
    """Cosine of incidence; every product is rounded, so that bytes do not depend on fused operations of a machine."""
    return abs(nx * dx + ny * dy + nz * dz)


_share = shared(_mix_parts)


@jit.kernel
def mix_parts(first, step, count, eyes, reflectance, width, within, ranges, power):
    """Mix the light of rays over each pixel.

    Args:
        first, step, count: Share of the `blocks_of_parts`.
        eyes: `Eyes`.
        reflectance: Of objects, float32 (1 | worlds, objects).
        width: Columns.
        within: Offsets of rays along either side of a pixel, from its center [px], float64.
        ranges: Float32 (heads, pixels), filled with mixed ranges [m]; what is 0 has no measurement and stays.
        power: Filled with what comes back, the mean over the rays [1/m^2], float32 (heads, pixels).
    """
    _share(first, step, count, (eyes, reflectance, width, within, ranges, power))
