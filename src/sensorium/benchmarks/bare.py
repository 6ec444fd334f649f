"""The baseline: the least that tracing these rays can cost.

The same Embree scene, the same rays already in world coordinates, the same packets, blocks and threads as the sensors
use; nothing is made, shaded or looked up, and only distance and face are written.
"""

from sensorium import jit
from sensorium.trace import packet as pk
from sensorium.trace.packet import BLOCK, WIDTH, clear_hits, intersect, new_packet, occluded, set_mask, use_lanes


@jit.kernel
def bare_trace(first, step, count, scene, origins, directions, time, mask, arguments, range_m, face):
    """Trace the blocks first, first + step, ... of rays (rays, 3), in scene coordinates, fired at time (rays,)."""
    floats, words, active = new_packet()
    set_mask(words, mask)
    total = origins.shape[0]
    for block in range(first, count, step):
        start, end = block * BLOCK, min(total, (block + 1) * BLOCK)
        for ray in range(start, end, WIDTH):
            used = min(WIDTH, end - ray)
            clear_hits(words)
            use_lanes(active, used)
            for k in range(used):
                i = ray + k
                floats[pk.ORIGIN_X + k] = origins[i, 0]
                floats[pk.ORIGIN_Y + k] = origins[i, 1]
                floats[pk.ORIGIN_Z + k] = origins[i, 2]
                floats[pk.DIRECTION_X + k] = directions[i, 0]
                floats[pk.DIRECTION_Y + k] = directions[i, 1]
                floats[pk.DIRECTION_Z + k] = directions[i, 2]
                floats[pk.TIME + k] = time[i]
                floats[pk.T_FAR + k] = 1e30
            intersect(active.ctypes.data, scene, floats.ctypes.data, arguments)
            for k in range(used):
                range_m[ray + k] = floats[pk.T_FAR + k]
                face[ray + k] = words[pk.FACE + k]


@jit.kernel
def bare_shadows(first, step, count, scene, origins, direction, time, mask, arguments, lit):
    """Ask for the blocks first, first + step, ... of points (rays, 3) whether anything stands in one direction (3,)."""
    floats, words, active = new_packet()
    set_mask(words, mask)
    total = origins.shape[0]
    for block in range(first, count, step):
        start, end = block * BLOCK, min(total, (block + 1) * BLOCK)
        for ray in range(start, end, WIDTH):
            used = min(WIDTH, end - ray)
            use_lanes(active, used)
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
            occluded(active.ctypes.data, scene, floats.ctypes.data, arguments)
            for k in range(used):
                lit[ray + k] = floats[pk.T_FAR + k] >= 0.0


@jit.kernel
def bare_worlds(first, step, count, scenes, origins, directions, mask, arguments, range_m, face):
    """Trace the blocks first, first + step, ... of rays (scenes, rays, 3), each row in a scene of its own (scenes,)."""
    floats, words, active = new_packet()
    set_mask(words, mask)
    total = origins.shape[1]
    blocks = (total + BLOCK - 1) // BLOCK
    for block in range(first, count, step):
        row, start = block // blocks, (block % blocks) * BLOCK
        end = min(total, start + BLOCK)
        for ray in range(start, end, WIDTH):
            used = min(WIDTH, end - ray)
            clear_hits(words)
            use_lanes(active, used)
            for k in range(used):
                i = ray + k
                floats[pk.ORIGIN_X + k] = origins[row, i, 0]
                floats[pk.ORIGIN_Y + k] = origins[row, i, 1]
                floats[pk.ORIGIN_Z + k] = origins[row, i, 2]
                floats[pk.DIRECTION_X + k] = directions[row, i, 0]
                floats[pk.DIRECTION_Y + k] = directions[row, i, 1]
                floats[pk.DIRECTION_Z + k] = directions[row, i, 2]
                floats[pk.TIME + k] = 0.0
                floats[pk.T_FAR + k] = 1e30
            intersect(active.ctypes.data, scenes[row], floats.ctypes.data, arguments)
            for k in range(used):
                range_m[row, ray + k] = floats[pk.T_FAR + k]
                face[row, ray + k] = words[pk.FACE + k]
