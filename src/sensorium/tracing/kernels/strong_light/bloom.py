"""Stray light of strong returns on the rays around them, found by a grid over directions.

Unit directions lie in a grid of cubes as wide as the chord of the farthest angle that counts, so that all neighbors of
a ray lie in its own cube or the 26 around it: no pole, for any pattern. Only strong returns are in the grid.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.optics.lenses.stray_light import stray_share
from sensorium.runtime import jit
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.sweep import WHOLE, block_of

# entries of the numbers of blooming
B_STRENGTH, B_RADIUS, B_SLOPE, B_CHORD = range(4)
BLOOM_NUMBERS = 4


class Sources(NamedTuple):
    """Strong returns, in the order of their cubes."""

    key: NDArray[np.int64]  # (sources,) of the cube, with the head in front; rising
    slot: NDArray[np.int64]  # which return of its ray
    ray: NDArray[np.int64]
    power: NDArray[np.float64]
    near: NDArray[np.int64]  # keys of all cubes that hold one or touch one that does; rising


def cubes(chord: float) -> int:
    """Cubes along an axis; one more on either side, where nothing is."""
    return math.ceil(2.0 / chord) + 3


def cubes_around(key: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Keys of some cubes and of all that touch them, each once, rising."""
    step = np.arange(-1, 2)
    around = ((step[:, None, None] * count + step[:, None]) * count + step).ravel()
    return np.unique(np.unique(key)[:, None] + around)


@jit.inlined
def cube_of(x, chord):
    """Number of the cube along an axis that a component of a unit vector lies in."""
    return np.int64(math.floor((np.float64(x) + 1.0) / chord)) + 1


@jit.kernel
def cube_keys(
    rays: Any, head: NDArray[np.int64], ray: NDArray[np.int64], chord: float, count: int, key: NDArray[np.int64]
) -> None:
    """Keys of the cubes of some rays of some heads."""
    for i in range(key.shape[0]):
        k = ray[i]
        x, y, z = cube_of(rays.x[k], chord), cube_of(rays.y[k], chord), cube_of(rays.z[k], chord)
        key[i] = ((head[i] * count + x) * count + y) * count + z


@jit.kernel
def add_bloom(first, step, total, rays, bloom, count, sources, found, kind, stray):
    """Stray light of the blocks first, first + step, ... of all heads: the strongest contribution to each ray.

    Args:
        first, step, total: Share of the blocks; every head has as many.
        rays: `RayTables`.
        bloom: float64 (BLOOM_NUMBERS,): strength, radius [rad], slope, and the chord of the farthest angle.
        count: Cubes along an axis.
        sources: `Sources`.
        found: `LightOutputs` with every return of each ray.
        kind: Which row of the stray light to fill.
        stray: `StrayLight`.
    """
    chord, strength, radius, slope = bloom[B_CHORD], bloom[B_STRENGTH], bloom[B_RADIUS], bloom[B_SLOPE]
    key, near, size = sources.key, sources.near, sources.key.shape[0]
    for number in range(first, total, step):
        head, start, used = block_of(number, rays.x.shape[0], WHOLE)
        for k in range(start, start + used):
            dx, dy, dz = np.float64(rays.x[k]), np.float64(rays.y[k]), np.float64(rays.z[k])
            x, y, z = cube_of(dx, chord), cube_of(dy, chord), cube_of(dz, chord)
            own = ((head * count + x) * count + y) * count + z
            low, high = 0, near.shape[0]
            while low < high:
                middle = (low + high) // 2
                low, high = (middle + 1, high) if near[middle] < own else (low, middle)
            if low == near.shape[0] or near[low] != own:
                continue

            # Cubes along z follow one another: nine rows of three
            most, best = 0.0, -1
            for a in range(-1, 2):
                for b in range(-1, 2):
                    lowest = own + (a * count + b) * count - 1
                    low, high = 0, size
                    while low < high:
                        middle = (low + high) // 2
                        low, high = (middle + 1, high) if key[middle] < lowest else (low, middle)
                    while low < size and key[low] <= lowest + 2:
                        ray = sources.ray[low]
                        ax, ay, az = rays.x[ray] - dx, rays.y[ray] - dy, rays.z[ray] - dz
                        apart = math.sqrt(ax * ax + ay * ay + az * az)
                        if ray != k and apart <= chord and strength * sources.power[low] > most:
                            share = stray_share(2.0 * math.asin(0.5 * apart), strength, radius, slope)
                            power = share * sources.power[low]
                            most, best = (power, low) if power > most else (most, best)
                        low += 1
            if best >= 0:
                slot, ray = sources.slot[best], sources.ray[best]
                stray.cause[head, kind, k], stray.intensity[head, kind, k] = np.uint8(tb.BY_BLOOM), np.float32(most)
                stray.range_m[head, kind, k] = found.range_m[head, slot, ray]
                stray.object_id[head, kind, k] = found.object_id[head, slot, ray]
                stray.face_id[head, kind, k] = found.face_id[head, slot, ray]
                stray.label[head, kind, k] = found.label[head, slot, ray]
