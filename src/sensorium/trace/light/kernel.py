"""The fused lidar kernel: rays made, traced, shaded, followed through their trees, chosen, made noisy and written.

Blocks of rays go through every stage while in cache; see rows.py for the scratch they live in.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.trace.light import choose, rows, shade, steps, tree
from sensorium.trace.light import tables as tb
from sensorium.trace.light.ray_errors import numbers_of
from sensorium.trace.light.sunlight import gather_sunlight
from sensorium.trace.packet import BLOCK, new_packet, set_mask, trace_block


class LightOutputs(NamedTuple):
    """What the kernel writes, (heads, returns, rays) each."""

    range_m: NDArray[np.float32]  # 0 where nothing returns
    points_S: NDArray[np.float32]  # (heads, returns, rays, 3) in the sensor frame; no rays where the world is asked for
    points_W: NDArray[np.float64]  # (heads, returns, rays, 3) in the world; no rays where the sensor frame is asked for
    intensity: NDArray[np.float32]
    cause: NDArray[np.uint8]
    depth: NDArray[np.uint8]  # of the path in its tree; (heads, returns, 0) where no tree is followed
    object_id: NDArray[np.int32]
    face_id: NDArray[np.int32]
    label: NDArray[np.int32]
    mirror_id: NDArray[np.int32]  # first object that mirrored the path, -1 for none; (heads, returns, 0) as above
    ambient: NDArray[np.float32]  # (heads, rays) sunlight gathered [W]; (heads, 0) without a sun


@jit.kernel
def sweep_light(first, step, count, arrays, labels, anchor, rays, heads, light, draws, mask, coherent, scattered, out):
    """Fire the blocks first, first + step, ... of all heads.

    Args:
        first, step, count: Share of the blocks; every head has as many.
        arrays: `InstanceTables`; anchor: float64 (worlds, 3) [m].
        labels: `LabelTables`.
        rays: `RayTables`; heads: `Heads`.
        light: `LightTables`.
        draws: Randomness: uint32 key (2,), tick, number of the first world, medium around each head (heads,).
        mask: Bits of the objects to see.
        coherent, scattered: Addresses of Embree's arguments for first rays and for their children.
        out: `LightOutputs`.
    """
    floats, words, active = new_packet()
    set_mask(words, mask)
    block, hit = rows.new_scratch()
    depth, far = light.switch[tb.S_DEPTH], light.number[tb.N_FAR]
    child, child_hit = rows.new_scratch()
    queue_f, queue_i = tree.new_queue(depth)
    slot_f, slot_i = choose.new_slots(light.switch[tb.S_SLOTS] + 1)
    drawn = np.zeros(BLOCK + 1, np.int32)
    corners = light.corner_reflectance.size > 0
    around, beyond = -1, -1  # media that the paths in the block start in; the same from block to block
    for number in range(first, count, step):
        # First rays
        head, start, used = steps.fire(block, rays, heads, light, draws, number)
        end, world = start + used, heads.world[head]
        scene = arrays.scene[world]
        element, among = numbers_of(rays, heads, draws, head, start)
        trace_block(block, hit, floats, words, active, scene, coherent, corners, used)
        if draws.medium[head] != around or draws.outer[head] != beyond:
            around, beyond = draws.medium[head], draws.outer[head]
            tree.start_paths(block, hit, around, beyond, light.medium, light.number[tb.N_POWER])
        shade.draw_block(block, draws.key, element, draws.tick, among, out.range_m.shape[1] > 1, used)
        steps.light_up(block, hit, arrays, light, world, used)
        steps.offer_first(block, hit, light, slot_f, slot_i, drawn, heads.start[head], used)
        if heads.start[head] > np.float32(0.0):
            around = -1  # rays that a reset made void spoilt their paths

        if light.switch[tb.S_SUN] > 0:
            gather_sunlight(block, hit, child, child_hit, floats, words, active, scene, scattered, light.sun, used)
            ambient = out.ambient[head, start:end]
            for k in range(used):
                ambient[k] = block[rows.AMBIENT + k]

        # Their children, in batches of a block
        if depth > 0:
            waiting = steps.send_on(block, hit, light, queue_f, queue_i, np.int64(0), used)
            while waiting > 0:
                batch = min(BLOCK, waiting)
                waiting -= batch
                tree.take(child, child_hit, light.medium, queue_f, queue_i, waiting, batch, far)
                trace_block(child, child_hit, floats, words, active, scene, scattered, corners, batch)
                steps.light_up(child, child_hit, arrays, light, world, batch)
                steps.offer_more(child, child_hit, light, draws, element, among, slot_f, slot_i, drawn, batch)
                waiting = steps.send_on(child, child_hit, light, queue_f, queue_i, waiting, batch)

        # The returns reported
        steps.report(
            block, slot_f, slot_i, rays, anchor, labels, light, draws, element, among, head, world, start, used, out
        )
