"""The baseline: the least that tracing these rays can cost.

The same Embree scene, the same rays already in world coordinates, the same packets, blocks and threads as the sensors
use; nothing is created, shaded or looked up, and only distance and face are written.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit, worker_pool
from sensorium.runtime.worker_pool import NONE, next_block, shared
from sensorium.tracing.embree import packet as pk


def packed(origins: NDArray[np.float32], directions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rays (scenes, n, 3) as `bare_trace` takes them, (scenes, 6, n): a row a coordinate, to be read in vectors."""
    return np.ascontiguousarray(np.concatenate([origins, directions], axis=-1).swapaxes(1, 2), np.float32)


@jit.function
def _trace(first, step, count, scenes, rays, time, mask, arguments, range_m, face):
    """The work of `bare_trace`."""
    floats, words, active = pk.new_packet()
    pk.set_mask(words, mask)
    total = rays.shape[2]
    blocks = (total + pk.BLOCK - 1) // pk.BLOCK
    block = next_block(first, step, count, NONE)
    while block < count:
        row, start = block // blocks, (block % blocks) * pk.BLOCK
        for ray in range(start, min(total, start + pk.BLOCK), pk.WIDTH):
            pk.clear_hits(words)
            pk.use_lanes(active, min(pk.WIDTH, total - ray))
            for k in range(pk.WIDTH):
                floats[pk.T_FAR + k] = np.float32(1e30)
            if total - ray >= pk.WIDTH:
                for axis in range(3):
                    pk.copy_lanes(floats, pk.ORIGIN_X + axis * pk.WIDTH, rays, (6 * row + axis) * total + ray)
                    pk.copy_lanes(floats, pk.DIRECTION_X + axis * pk.WIDTH, rays, (6 * row + 3 + axis) * total + ray)
                pk.copy_lanes(floats, pk.TIME, time, ray)
                pk.intersect(active.ctypes.data, scenes[row], floats.ctypes.data, arguments)
                pk.copy_lanes(range_m, row * total + ray, floats, pk.T_FAR)
                pk.copy_lanes(face, row * total + ray, words, pk.FACE)
                continue
            for k in range(total - ray):
                for axis in range(3):
                    floats[pk.ORIGIN_X + axis * pk.WIDTH + k] = rays[row, axis, ray + k]
                    floats[pk.DIRECTION_X + axis * pk.WIDTH + k] = rays[row, 3 + axis, ray + k]
                floats[pk.TIME + k] = time[ray + k]
            pk.intersect(active.ctypes.data, scenes[row], floats.ctypes.data, arguments)
            for k in range(total - ray):
                range_m[row, ray + k], face[row, ray + k] = floats[pk.T_FAR + k], words[pk.FACE + k]
        block = next_block(first, step, count, block)


_share_trace = shared(_trace)


@jit.kernel
def bare_trace(first, step, count, scenes, rays, time, mask, arguments, range_m, face):
    """Trace a share of the blocks of rays in the coordinates of their scenes.

    Args:
        first, step, count: Share of the blocks; every scene has as many.
        scenes: Embree scenes, int64 (scenes,).
        rays: Of each scene, float32 (scenes, 6, n), see `packed`.
        time: When they are fired, float32 (n,).
        mask, arguments: As in the sensors' kernels.
        range_m, face: Filled, (scenes, n).
    """
    _share_trace(first, step, count, (scenes, rays, time, mask, arguments, range_m, face))


@jit.kernel
def bare_shadows(first, step, count, scene, origins, direction, time, mask, arguments, lit):
    """For the blocks first, first + step, ... of points (rays, 3): whether anything blocks one direction (3,)."""
    floats, words, active = pk.new_packet()
    pk.set_mask(words, mask)
    total = origins.shape[0]
    for block in range(first, count, step):
        start, end = block * pk.BLOCK, min(total, (block + 1) * pk.BLOCK)
        for ray in range(start, end, pk.WIDTH):
            used = min(pk.WIDTH, end - ray)
            pk.use_lanes(active, used)
            for k in range(used):
                i = ray + k
                floats[pk.ORIGIN_X + k] = origins[i, 0]
                floats[pk.ORIGIN_Y + k] = origins[i, 1]
                floats[pk.ORIGIN_Z + k] = origins[i, 2]
                floats[pk.DIRECTION_X + k] = direction[0]
                floats[pk.DIRECTION_Y + k] = direction[1]
                floats[pk.DIRECTION_Z + k] = direction[2]
                floats[pk.TIME + k] = time[i]
                floats[pk.T_FAR + k] = 1e5
            pk.occluded(active.ctypes.data, scene, floats.ctypes.data, arguments)
            for k in range(used):
                lit[ray + k] = floats[pk.T_FAR + k] >= 0.0


class BareRays:
    """The bare trace of given rays, as many as there are, in one scene.

    Args:
        scenes: Address of the scene, shape (1,).
        origins, directions: Of the rays in the scene's coordinates, shape (..., 3).
        time: Firing time of each, as a fraction of the interval, shape (rays,).
    """

    def __init__(
        self, scenes: NDArray[np.int64], origins: NDArray[Any], directions: NDArray[Any], time: NDArray[Any]
    ) -> None:
        self.origins, self.directions = (
            np.ascontiguousarray(vectors.reshape(-1, 3), np.float32) for vectors in (origins, directions)
        )
        self._scenes, self._rays = scenes, packed(self.origins[None], self.directions[None])
        self._time = time.astype(np.float32)
        self.range_m, self._face = np.zeros(len(time), np.float32), np.zeros(len(time), np.uint32)

    def __call__(self) -> None:
        """Trace."""
        what = (self._scenes, self._rays, self._time, pk.ALL_OBJECTS, pk.COHERENT_ADDRESS)
        worker_pool.run(bare_trace, -(-len(self._time) // pk.BLOCK), *what, self.range_m[None], self._face[None])
