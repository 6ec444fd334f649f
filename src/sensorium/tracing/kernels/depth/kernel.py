"""The kernel of depth cameras: images of many moving heads; only the requested outputs are computed.

Rays are in the order of small tiles, which packets trace faster than rows; each has the number of its pixel. A block is
aimed, traced, measured and written while in cache. Outputs that were not requested have no pixels.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.runtime.worker_pool import NONE, next_block, shared
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.meshes import MeshTables
from sensorium.tracing.embree.packet import BLOCK, NO_HIT, new_packet, set_mask, trace_block, trace_still
from sensorium.tracing.kernels.depth import measure as ms
from sensorium.tracing.kernels.depth.drawing.canvas import Frame, new_canvas, take_rasterized
from sensorium.tracing.kernels.depth.drawing.draw import draw, find_face_normals
from sensorium.tracing.kernels.depth.flow import write_flow, write_scene_flow
from sensorium.tracing.kernels.depth.lens import KIND, PINHOLE, look_block
from sensorium.tracing.kernels.depth.ray_jitter import RayJitter, jitter_rays
from sensorium.tracing.kernels.depth.tint import Tints, write_color
from sensorium.tracing.kernels.geometry import rows
from sensorium.tracing.kernels.geometry.normals import find_incidence, find_normals
from sensorium.tracing.kernels.sweep import WHOLE, Heads, RayTables, aim_block, block_of
from sensorium.tracing.labels import LabelTables
from sensorium.tracing.placement.instant import Cameras, InstantState, new_poses, place_camera, place_objects
from sensorium.tracing.placement.motion import MountTables
from sensorium.tracing.placement.world_arrays import InstanceTables

_ZERO, _INFINITE = np.float32(0.0), np.float32(np.inf)

# Scratch of a block: hits and their angles. All rows of the light kernels would evict the image data from the cache.
_FLOATS, _WORDS = rows.SIDE + BLOCK, rows.COLUMN + BLOCK


class Pixels(NamedTuple):
    """Pixel of each ray, and lenses of the heads."""

    place: NDArray[np.uint32]  # (rays,) number of the pixel, row by row
    u: NDArray[np.float32]  # (rays,) the pixel [px]
    v: NDArray[np.float32]
    lens: NDArray[np.float64]  # (1 | heads, LENS_COLUMNS)
    own_lens: bool  # whether each head has its own random lens; else the table of rays holds
    jitter: RayJitter  # how far rays point beside their pixels; only for own lenses


class DepthDraws(NamedTuple):
    """Counter words of an image's random numbers."""

    key: NDArray[np.uint32]  # (2,) of the sensor's stream
    tick: NDArray[np.int64]  # (1,) number of the image
    first_world: int
    sensors: int  # heads a world


class Motions(NamedTuple):
    """Motion of points on bodies relative to heads, see `flow`."""

    velocity: NDArray[np.float64]  # (heads, bodies + 1, 12); no heads without scene flow
    displacement: NDArray[np.float64]  # (heads, bodies + 1, 12); no heads without flow


class DepthScene(NamedTuple):
    """The scene of a cast."""

    arrays: InstanceTables
    mounts: MountTables
    meshes: MeshTables
    labels: LabelTables
    mask: np.uint32  # bits of the objects to see
    arguments: int  # address of Embree's arguments


class DepthAim(NamedTuple):
    """The rays of images, and the heads they start from."""

    rays: RayTables  # in the order of tiles
    heads: Heads
    anchor: NDArray[np.float64]  # (worlds, 3) [m]
    pixels: Pixels
    frame: Frame


class Placing(NamedTuple):
    """Placement inside the kernel: some cameras if all images are rasterized, none if everything is placed before.

    Anchors, matrices of heads and transforms of objects are then written by the kernel.
    """

    state: InstantState
    cameras: Cameras


class Shading(NamedTuple):
    """Tables for colors, flow and normals."""

    tints: Tints
    motions: Motions
    in_world: bool  # whether normals are in world axes


class Measuring(NamedTuple):
    """Constants for measuring distances."""

    numbers: NDArray[np.float32]  # columns of `measure`
    reach: np.float32  # how far to look [m]
    draws: DepthDraws


class DepthOutputs(NamedTuple):
    """Outputs of a depth image, (heads, pixels) each; (heads, 0) if not requested."""

    range_m: NDArray[np.float32]
    depth: NDArray[np.float32]
    points_S: NDArray[np.float32]  # (heads, pixels, 3)
    points_W: NDArray[np.float64]  # (heads, pixels, 3)
    label: NDArray[np.int32]
    face_id: NDArray[np.int32]
    object_id: NDArray[np.int32]
    normals: NDArray[np.float32]  # (heads, pixels, 3)
    flow: NDArray[np.float32]  # (heads, pixels, 2)
    scene_flow: NDArray[np.float32]  # (heads, pixels, 3)
    color: NDArray[np.uint8]  # (heads, pixels, 3)
    cosine: NDArray[np.float32]
    true_m: NDArray[np.float32]  # distance before noise and limits, infinite without a hit


@jit.function
def _cast_images(first, step, count, scene, aim, placing, shading, measuring, out):
    """The work of `depth_images`."""
    arrays, mounts, meshes, labels, mask, arguments = scene
    rays, heads, anchor, pixels, frame = aim
    (numbers, reach, draws), (state, cameras) = measuring, placing
    floats, words, active = new_packet()
    set_mask(words, mask)
    block, hit = jit.zeros(_FLOATS, np.float32), jit.zeros(_WORDS, np.uint32)
    own, measured = jit.zeros(3 * frame.span if pixels.own_lens else 0, np.float32), ms.new_measured()
    canvas, poses = new_canvas(frame, meshes.of_object.shape[1]), new_poses()

    # Requested outputs, and the steps they need
    measures = out.range_m.shape[1] + out.depth.shape[1] + out.points_S.shape[1] + out.points_W.shape[1] > 0
    turned = out.normals.shape[1] + out.color.shape[1] + out.cosine.shape[1] > 0
    found = out.object_id.shape[1] + out.flow.shape[1] + out.scene_flow.shape[1] > 0
    instant = heads.time.shape[0] == 1
    aimed = not instant or turned or out.points_W.shape[1] > 0
    total, places, placed_head, placed_world = rays.x.shape[0], cameras.p_BS.shape[1] > 0, np.int64(-1), np.int64(-1)
    number = next_block(first, step, count, NONE)
    while number < count:
        head, begin, size = block_of(number, total, frame.span)
        world, pose = np.int64(heads.world[head]), heads.matrix[head, 0]
        top, lens = arrays.scene[world], pixels.lens[head if pixels.lens.shape[0] > 1 else 0]
        every_x, every_y, every_z = _directions(own, rays, pixels, draws, head, begin, size)
        rasterizes = frame.rasterized and lens[KIND] == PINHOLE
        if places and head != placed_head:
            place_camera(cameras, state, world, head % draws.sensors, pose, poses)
            placed_head = head
        if places and world != placed_world:
            place_objects(state, mounts, arrays, world, poses)
            placed_world = world
        if rasterizes:
            end = begin + size
            draw(
                canvas, frame, meshes, arrays, world, mask, arguments, pose, lens, reach, begin, pixels.u[begin:end],
                pixels.v[begin:end], every_x, every_y, every_z, floats, words, active,
            )  # fmt: skip
        for start in range(begin, begin + size, BLOCK):
            used = min(BLOCK, begin + size - start)
            end, at = start + used, start - begin
            place = pixels.place[start:end]
            x, y, z = every_x[at : at + used], every_y[at : at + used], every_z[at : at + used]
            if aimed:
                aim_block(block, x, y, z, rays.time[start:end], heads.matrix[head], heads.time, used)
            if rasterizes:
                take_rasterized(canvas, at, block, hit, used)
                if turned:
                    find_face_normals(block, hit, meshes, arrays, world, used)
            elif not aimed:
                trace_still(block, hit, floats, words, active, top, arguments, x, y, z, pose, reach, used)
            else:
                for k in range(used):
                    block[pk.B_T_FAR + k] = reach
                trace_block(block, hit, floats, words, active, top, arguments, np.bool_(False), used)
            if heads.start[head] > _ZERO and not instant:
                _void(block, hit, heads.start[head], used)
            _find_misses(block, hit, used)

            # Measure before hits beyond the limits are dropped: noise may bring them back
            if out.true_m.shape[1] > 0:
                ms.write_true(block[pk.B_T_FAR :], place, used, out.true_m[head])
            if measures:
                near = anchor[world]
                _write_measured(block, measured, x, y, z, place, numbers, draws, near, head, world, total, used, out)
            if reach > numbers[ms.FARTHEST]:
                _forget_beyond(block, hit, numbers[ms.FARTHEST], used)

            # Hits
            if out.label.shape[1] > 0:
                _write_labels(hit, jit.uncounted(arrays), jit.uncounted(labels), world, place, used, out.label[head])
            if out.face_id.shape[1] > 0:
                _write_faces(hit, place, used, out.face_id[head])
            if turned:
                find_normals(block, hit, arrays, world, used)
                find_incidence(block, used)
                _write_turned(block, hit, heads.matrix[head, 0], place, shading, world, head, used, out)
            elif found:
                _find_columns(hit, jit.uncounted(arrays), world, used)
            if found:
                _write_moving(block, hit, x, y, z, mounts.body, shading.motions, pixels, place, head, used, out)
        number = next_block(first, step, count, number)


_share_images = shared(_cast_images)


@jit.kernel
def depth_images(first, step, count, scene, aim, placing, shading, measuring, out):
    """Cast a share of the spans of rays of all heads.

    Args:
        first, step, count: Share of the spans; every head has as many.
        scene: `DepthScene`; aim: `DepthAim`; placing: `Placing`.
        shading: `Shading`; measuring: `Measuring`.
        out: `DepthOutputs`.
    """
    _share_images(first, step, count, (scene, aim, placing, shading, measuring, out))


@jit.function
def _measure_images(first, step, count, aim, measuring, distance, out):
    """The work of `measure_again`."""
    rays, heads, anchor, pixels = aim.rays, aim.heads, aim.anchor, aim.pixels
    numbers, draws = measuring.numbers, measuring.draws
    block, own, measured = np.zeros(pk.BLOCK_FLOATS, np.float32), np.zeros(3 * BLOCK, np.float32), ms.new_measured()
    total, number = rays.x.shape[0], next_block(first, step, count, NONE)
    while number < count:
        head, start, used = block_of(number, total, WHOLE)
        world, end = heads.world[head], start + used
        place, known = pixels.place[start:end], distance[head]
        x, y, z = _directions(own, rays, pixels, draws, head, start, used)
        if out.points_W.shape[1] > 0:
            aim_block(block, x, y, z, rays.time[start:end], heads.matrix[head], heads.time, used)
        for k in range(used):
            block[pk.B_T_FAR + k] = known[place[k]]
        _write_measured(block, measured, x, y, z, place, numbers, draws, anchor[world], head, world, total, used, out)
        number = next_block(first, step, count, number)


_share_measuring = shared(_measure_images)


@jit.kernel
def measure_again(first, step, count, aim, measuring, distance, out):
    """The measured images of known distances, (heads, pixels): after errors, or without any for the truth.

    Arguments as above; of the outputs range, depth and points are written.
    """
    _share_measuring(first, step, count, (aim, measuring, distance, out))


@jit.function
def _write_measured(block, measured, x, y, z, place, numbers, draws, anchor, head, world, pixels, used, out):
    """Measure the distances of a block, and write the requested ones of range, depth and points.

    Args:
        block: Scratch with distances [m]; for points in the world also with the rays.
        measured: Scratch of `new_measured`.
        x, y, z: Directions in S; place: pixel of each ray.
        anchor: Of the head's world [m]; pixels: of a head; the others as above.
    """
    element, among = np.int64(head % draws.sensors) * pixels, draws.first_world + world
    distance = block[pk.B_T_FAR :]
    ms.measure_block(distance, place, numbers, draws.key, draws.tick[0], element, among, used, measured)
    if out.depth.shape[1] > 0:
        ms.write_depth(measured, x, place, numbers[ms.SCALE], used, out.depth[head])
    if out.range_m.shape[1] > 0:
        ms.write_range(measured, place, numbers[ms.SCALE], used, out.range_m[head])
    if out.points_S.shape[1] > 0:
        ms.write_points(measured, x, y, z, place, numbers[ms.SCALE], used, out.points_S[head])
    if out.points_W.shape[1] > 0:
        ms.write_points_in_world(block, measured, place, anchor, used, out.points_W[head])


@jit.function
def _directions(own, rays, pixels, draws, head, start, used):
    """Directions in S of a block's rays: those of the table, or through the head's own lens, which fill `own`."""
    end = start + used
    if not pixels.own_lens:
        return rays.x[start:end], rays.y[start:end], rays.z[start:end]
    x, y, z = own[:used], own[used : 2 * used], own[2 * used : 3 * used]
    lens = pixels.lens[head if pixels.lens.shape[0] > 1 else 0]
    look_block(pixels.u[start:end], pixels.v[start:end], lens, used, x, y, z)
    jitter_rays(pixels.jitter, head, draws.sensors, pixels.place[start:end], used, x, y, z)
    return x, y, z


@jit.function
def _void(block, hit, voided_before, used):
    """Void the hits of rays fired before a reset."""
    for k in range(used):
        fired = block[pk.B_TIME + k] >= voided_before
        hit[pk.B_INSTANCE + k] = hit[pk.B_INSTANCE + k] if fired else NO_HIT


@jit.function
def _find_misses(block, hit, used):
    """Set the distance of rays without a hit to infinity."""
    for k in range(used):
        block[pk.B_T_FAR + k] = block[pk.B_T_FAR + k] if hit[pk.B_INSTANCE + k] != NO_HIT else _INFINITE


@jit.function
def _forget_beyond(block, hit, farthest, used):
    """Drop hits beyond the limits."""
    for k in range(used):
        hit[pk.B_INSTANCE + k] = hit[pk.B_INSTANCE + k] if block[pk.B_T_FAR + k] <= farthest else NO_HIT


@jit.function
def _write_labels(hit, arrays, labels, world, place, used, out):
    """Label of each pixel, -1 without a hit; neighbors mostly share an object, which is looked up once."""
    first, row = np.uint32(arrays.first[world]), world if labels.object_label.shape[0] > 1 else 0
    last_instance, last_item = NO_HIT, NO_HIT
    label, own = np.int32(0), np.int64(-1)
    for k in range(used):
        instance, item = hit[pk.B_INSTANCE + k], hit[pk.B_ITEM + k]
        if instance == NO_HIT:
            out[place[k]] = -1
            continue
        if instance != last_instance or item != last_item:
            last_instance, last_item = instance, item
            column = np.uint32(arrays.columns[np.uint32(arrays.column_first[first + instance]) + item])
            label, own = labels.object_label[row, column], labels.face_first[row, column]
        out[place[k]] = label if own < 0 else labels.face_label[np.uint64(own) + hit[pk.B_FACE + k]]


@jit.function
def _write_faces(hit, place, used, out):
    """Face of each pixel, -1 without a hit."""
    for k in range(used):
        face = np.int32(hit[pk.B_FACE + k])
        out[place[k]] = face if hit[pk.B_INSTANCE + k] != NO_HIT else np.int32(-1)


@jit.function
def _find_columns(hit, arrays, world, used):
    """Object of each ray's hit."""
    first, column_first, columns = np.uint32(arrays.first[world]), arrays.column_first, arrays.columns
    for k in range(used):
        instance = hit[pk.B_INSTANCE + k]
        if instance == NO_HIT:
            hit[rows.COLUMN + k] = NO_HIT
        else:
            hit[rows.COLUMN + k] = columns[np.uint32(column_first[first + instance]) + hit[pk.B_ITEM + k]]


@jit.function
def _write_turned(block, hit, matrix, place, shading, world, head, used, out):
    """Outputs that need the surface's normal: the normal on the sensor's side, the cosine of incidence, colors.

    Args:
        matrix: X_AS at the image's start, rows of 3 x 4, which turns normals into S.
    """
    if out.cosine.shape[1] > 0:
        cosine = out.cosine[head]
        for k in range(used):
            cosine[place[k]] = block[rows.COS + k] if hit[rows.COLUMN + k] != NO_HIT else _ZERO
    if out.color.shape[1] > 0:
        write_color(block, hit, shading.tints, world, place, used, out.color[head])
    if out.normals.shape[1] == 0:
        return
    normals = out.normals[head]
    for k in range(used):
        p, side = place[k], block[rows.SIDE + k] if hit[rows.COLUMN + k] != NO_HIT else _ZERO
        x, y, z = block[pk.B_NORMAL_X + k] * side, block[pk.B_NORMAL_Y + k] * side, block[pk.B_NORMAL_Z + k] * side
        if not shading.in_world:
            x, y, z = (
                matrix[0] * x + matrix[4] * y + matrix[8] * z,
                matrix[1] * x + matrix[5] * y + matrix[9] * z,
                matrix[2] * x + matrix[6] * y + matrix[10] * z,
            )
        normals[p, 0], normals[p, 1], normals[p, 2] = x, y, z


@jit.function
def _write_moving(block, hit, x, y, z, body, motions, pixels, place, head, used, out):
    """Outputs that need the hit object: its number, and the motion of its body, `body`."""
    if out.object_id.shape[1] > 0:
        object_id = out.object_id[head]
        for k in range(used):
            object_id[place[k]] = np.int32(hit[rows.COLUMN + k])  # NO_HIT is -1
    if out.scene_flow.shape[1] > 0:
        velocity = motions.velocity[head]
        write_scene_flow(block, hit, x, y, z, body, velocity, place, used, out.scene_flow[head])
    if out.flow.shape[1] > 0:
        lens = pixels.lens[head if pixels.lens.shape[0] > 1 else 0]
        displacement = motions.displacement[head]
        write_flow(block, hit, x, y, z, body, displacement, lens, place, used, out.flow[head])
