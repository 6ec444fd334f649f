"""The fused lidar kernel: aims, traces and shades rays, follows their trees, chooses returns, adds noise and writes.

Blocks of rays go through every stage while in cache; see rows.py for their scratch.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK, new_packet, set_mask, trace_block
from sensorium.tracing.kernels.geometry.ray_errors import draw_block, draws_of
from sensorium.tracing.kernels.light import choose, rows, steps, tree
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.media_stack import new_media
from sensorium.tracing.kernels.strong_light.sunlight import gather_sunlight
from sensorium.tracing.kernels.sweep import BlockPlace


class LightOutputs(NamedTuple):
    """Outputs of the kernel, (heads, returns, rays) each."""

    range_m: NDArray[np.float32]  # 0 where nothing returns
    points_S: NDArray[np.float32]  # (heads, returns, rays, 3) in the sensor frame; no rays if points are in the world
    points_W: NDArray[np.float64]  # (heads, returns, rays, 3) in the world; no rays if points are in the sensor frame
    intensity: NDArray[np.float32]
    cause: NDArray[np.uint8]
    depth: NDArray[np.uint8]  # of the path in its tree; (heads, returns, 0) where no tree is followed
    object_id: NDArray[np.int32]
    face_id: NDArray[np.int32]
    label: NDArray[np.int32]
    mirror_id: NDArray[np.int32]  # first object that mirrored the path, -1 for none; (heads, returns, 0) as above
    ambient: NDArray[np.float32]  # (heads, rays) sunlight gathered [W]; (heads, 0) without a sun


@jit.kernel
def sweep_light(first, step, count, scene, aim, light, draws, out):
    """Fire the blocks first, first + step, ... of all heads.

    Args:
        first, step, count: Share of the blocks; every head has as many.
        scene: `SweepScene`; aim: `SweepAim`.
        light: `LightTables`.
        draws: Randomness: uint32 key (2,), tick, number of the first world, sensors of a world.
        out: `LightOutputs`.
    """
    # References are not counted: arguments outlive the call, and the scratch is held until the end
    scene, aim, light, draws, out = jit.uncounted((scene, aim, light, draws, out))
    arrays, coherent, scattered = scene.arrays, scene.coherent, scene.scattered
    rays, heads, anchor = aim
    owned = _new_scratch(light)
    packet, first_rays, children, media, queue, slots, drawn, owner = jit.uncounted(owned)
    (floats, words, active), (block, hit), (child, child_hit) = packet, first_rays, children
    set_mask(words, scene.masks[0])
    depth, far = light.switch[tb.S_DEPTH], light.number[tb.N_FAR]
    volumes, corners = light.switch[tb.S_CROSSINGS] > 0, light.corner_reflectance.size > 0
    fresh = False  # whether paths in the block are as they leave the sensor; the same from block to block
    for number in range(first, count, step):
        # First rays
        head, start, used = steps.fire(block, rays, heads, light, draws, number)
        end, world = start + used, heads.world[head]
        traced = arrays.scene[world]
        own = draws_of(rays, heads, draws, head, start)
        trace_block(block, hit, floats, words, active, traced, coherent, corners, used)
        if not fresh:
            tree.start_paths(block, hit, light.medium, light.number[tb.N_POWER])
        steps.cross_volumes(block, media, packet, scene, light, anchor, world, True, used)
        draw_block(block, own, out.range_m.shape[1] > 1, used)
        steps.light_up(block, hit, media, arrays, light, world, True, used)
        steps.offer_first(block, hit, media, light, own, owner, slots, drawn, heads.start[head], used)
        fresh = not volumes and heads.start[head] <= np.float32(0.0)  # else rays that a reset made void spoilt them

        if light.switch[tb.S_SUN] > 0:
            gather_sunlight(block, hit, child, child_hit, floats, words, active, traced, scattered, light.sun, used)
            ambient = out.ambient[head, start:end]
            for k in range(used):
                ambient[k] = block[rows.AMBIENT + k]

        # Their children, in batches of a block
        if depth > 0:
            waiting = tree.spawn(block, hit, media.stacks, media.beyond, light, world, queue, np.int64(0))
            while waiting > 0:
                batch = min(BLOCK, waiting)
                waiting -= batch
                tree.take(child, child_hit, media.stacks, light.medium, queue, waiting, batch, far)
                trace_block(child, child_hit, floats, words, active, traced, scattered, corners, batch)
                tree.pass_left(child, child_hit, floats, words, active, arrays, world, scattered, corners, far, batch)
                steps.cross_volumes(child, media, packet, scene, light, anchor, world, False, batch)
                steps.light_up(child, child_hit, media, arrays, light, world, False, batch)
                steps.offer_more(child, child_hit, media, light, own, owner, slots, drawn, batch)
                waiting = tree.spawn(child, child_hit, media.stacks, media.beyond, light, world, queue, waiting)

        # The returns reported
        steps.report(block, slots, aim, scene.labels, light, own, BlockPlace(head, world, start, used), out)
    jit.held(owned)


@jit.function
def _new_scratch(light):
    """Scratch of one thread."""
    depth, levels = light.switch[tb.S_DEPTH], light.switch[tb.S_LEVELS]
    return (
        new_packet(),
        rows.new_scratch(),
        rows.new_scratch(),
        new_media(light.switch[tb.S_CROSSINGS], levels),
        tree.new_queue(depth, levels, light.switch[tb.S_CURVED]),
        choose.new_slots(light.switch[tb.S_SLOTS] + 1),
        np.zeros(BLOCK + 1, np.int32),
        steps.own_rays(),
    )
