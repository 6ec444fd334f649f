"""The kernels of `RayCaster.cast`: any rays into any worlds, with all properties of each nearest hit."""

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.edges import on_edge, settled, settled_at
from sensorium.tracing.hits import label_of, normal_in_world, object_of


@jit.kernel
def cast_rays(first, step, count, arrays, labels, anchor, rays, mask, arguments, out):
    """Trace the blocks first, first + step, ... of a list of rays.

    Args:
        first, step, count: Share of the blocks of BLOCK rays.
        arrays: `InstanceTables`; anchor: float64 (worlds, 3) [m].
        labels: `LabelTables`.
        rays: `Rays`: origins in world coordinates, unit directions, times, far limits, worlds.
        mask: Bits of the objects to see.
        arguments: Address of Embree's arguments (coherent or not).
        out: `RawHits` to fill.
    """
    arrays, labels, anchor, rays, out = jit.uncounted((arrays, labels, anchor, rays, out))
    floats, words, active = pk.new_packet()
    pk.set_mask(words, mask)
    total = rays.origin.shape[0]
    for block in range(first, count, step):
        start, end = block * pk.BLOCK, min(total, (block + 1) * pk.BLOCK)
        ray = start
        while ray < end:
            # A packet holds neighboring rays of one world
            world = rays.world[ray]
            used = 1
            while used < pk.WIDTH and ray + used < end and rays.world[ray + used] == world:
                used += 1
            pk.clear_hits(words)
            pk.use_lanes(active, used)
            for k in range(used):
                i = ray + k
                floats[pk.ORIGIN_X + k] = rays.origin[i, 0] - anchor[world, 0]
                floats[pk.ORIGIN_Y + k] = rays.origin[i, 1] - anchor[world, 1]
                floats[pk.ORIGIN_Z + k] = rays.origin[i, 2] - anchor[world, 2]
                floats[pk.DIRECTION_X + k] = rays.direction[i, 0]
                floats[pk.DIRECTION_Y + k] = rays.direction[i, 1]
                floats[pk.DIRECTION_Z + k] = rays.direction[i, 2]
                floats[pk.TIME + k] = rays.time[i]
                floats[pk.T_FAR + k] = rays.t_max[i]
            pk.intersect(active.ctypes.data, arrays.scene[world], floats.ctypes.data, arguments)

            # Read the hits while they are in cache
            for k in range(used):
                hit = (
                    floats[pk.T_FAR + k],
                    floats[pk.NORMAL_X + k],
                    floats[pk.NORMAL_Y + k],
                    floats[pk.NORMAL_Z + k],
                    floats[pk.HIT_U + k],
                    floats[pk.HIT_V + k],
                    words[pk.FACE + k],
                    words[pk.INSTANCE + k],
                    words[pk.INSTANCE_ITEM + k],
                )
                if hit[7] != pk.NO_HIT and on_edge(hit[0], hit[4], hit[5]):
                    hit = settled(*_ray_of(arrays, anchor, rays, mask, ray + k, hit[0]))
                _write_hit(arrays, labels, rays, hit, ray + k, out)
            ray += used


@jit.kernel
def settle_rays(first, step, count, arrays, labels, anchor, rays, mask, distance, out):
    """Hits of rays that end on an edge, usually found in another part of the scene.

    Args:
        first, step, count, arrays, labels, anchor, rays, mask, out: As for `cast_rays`.
        distance: Distance at which each ends [m], float32 (rays,).
    """
    total = rays.origin.shape[0]
    for block in range(first, count, step):
        for ray in range(block * pk.BLOCK, min(total, (block + 1) * pk.BLOCK)):
            hit = settled_at(*_ray_of(arrays, anchor, rays, mask, ray, distance[ray]))
            _write_hit(arrays, labels, rays, hit, ray, out)


@jit.function
def _ray_of(arrays, anchor, rays, mask, i, distance):
    """Result of `settled` for one of the rays, which ends at this distance."""
    world = rays.world[i]
    origin = (
        np.float32(rays.origin[i, 0] - anchor[world, 0]),
        np.float32(rays.origin[i, 1] - anchor[world, 1]),
        np.float32(rays.origin[i, 2] - anchor[world, 2]),
    )
    direction = (rays.direction[i, 0], rays.direction[i, 1], rays.direction[i, 2])
    return arrays, world, mask, origin, direction, rays.time[i], np.float32(0.0), rays.t_max[i], distance


@jit.inlined
def _write_hit(arrays, labels, rays, hit, i, out):
    """Write all properties of the hit of one of the rays, as `settled` returns it."""
    distance, nx, ny, nz, u, v, face_word, instance, item = hit
    if instance == pk.NO_HIT:
        out.range_m[i] = np.inf
        out.object_id[i], out.face_id[i], out.label[i] = -1, -1, -1
        out.normal[i, :] = 0.0
        out.barycentric[i, :] = 0.0
        return
    world, face = rays.world[i], np.int32(face_word)
    column = object_of(arrays, world, instance, item)
    nx, ny, nz = normal_in_world(arrays, world, instance, item, rays.time[i], nx, ny, nz)
    out.range_m[i] = distance
    out.object_id[i], out.face_id[i] = column, face
    out.label[i] = label_of(labels, world if labels.object_label.shape[0] > 1 else 0, column, face)
    out.normal[i, 0], out.normal[i, 1], out.normal[i, 2] = nx, ny, nz
    out.barycentric[i, 0], out.barycentric[i, 1] = u, v
