"""The end of the lidar kernel: returns with their noise, written to the arrays of the reading."""

import numpy as np

from sensorium.random import draw_words, normal_pair_f32
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.geometry.ray_errors import STAGE_EXTRA, noisy_range, weigh_tails
from sensorium.tracing.kernels.light import choose, rows
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.noise import scale_noise


@jit.function
def write_block(block, slots, aim, labels, light, draws, place, out):
    """Write all returns of a block of rays or pulses with their errors.

    Args:
        block: Scratch with the draws of each, and nominal origins and directions.
        slots: `ReturnSlots`, the returns to report first.
        aim: `SweepAim`; labels: `LabelTables`; light: `LightTables`.
        draws: `BlockDraws`; place: `BlockPlace`.
        out: `LightOutputs`.
    """
    slot_f, slot_i = slots
    head, world, start, used = place
    rays = aim.rays
    end = start + used
    for j in range(out.range_m.shape[1]):
        if j >= 2 and j % 2 == 0:
            draw_again(block, draws, j, used)
        range_m = out.range_m[head, j, start:end]
        normals = rows.NORMAL if j % 2 == 0 else rows.NORMAL_2
        intensity = out.intensity[head, j, start:end]
        finish_ranges(block, slot_f, light, j, normals, range_m, intensity, used)
        if light.switch[tb.S_IN_WORLD] > 0:
            write_points_in_world(block, aim.anchor[world], range_m, out.points_W[head, j, start:end], used)
        else:
            points = out.points_S[head, j, start:end]
            write_points(rays.x[start:end], rays.y[start:end], rays.z[start:end], range_m, points, used)
            if rays.origin.shape[0] > 0:
                shift_points(block, rays.origin[start:end], points, used)
        write_returns(
            block,
            slot_i,
            labels,
            world,
            j,
            used,
            out.cause[head, j, start:end],
            out.depth[head, j, start:end],
            out.object_id[head, j, start:end],
            out.face_id[head, j, start:end],
            out.mirror_id[head, j, start:end],
            out.label[head, j, start:end],
        )


@jit.function
def finish_ranges(block, slot_f, light, j, normals, range_m, intensity, used):
    """Range and intensity of return j of each ray: noise along the ray, dropout, then limits.

    The range reported is within the limits LEAST, above 0, and MOST; the row STRENGTH has -1 where nothing is seen.
    """
    number = light.number
    base, slope, square = number[tb.N_NOISE_BASE], number[tb.N_NOISE_SLOPE], number[tb.N_NOISE_SQUARE]
    if number[tb.N_TAIL_SHAPE] > np.float32(0.0):
        weigh_tails(block, np.int64(normals), number[tb.N_TAIL_SHAPE], number[tb.N_TAIL_SCALE], used)
    tabulated = light.noise_by_range.shape[1] + light.noise_by_reflectance.shape[1] > 0
    if number[tb.N_NOISE_SIGNAL] > np.float32(0.0) or tabulated:
        scale_noise(block, slot_f, light, j, np.int64(normals), used)
        base, slope, square = np.float32(1.0), np.float32(0.0), np.float32(0.0)
    scale, bias = np.float32(1.0) / number[tb.N_CALIBRATED_INDEX], number[tb.N_BIAS]
    dropout, least, most, zero = number[tb.N_DROPOUT], number[tb.N_LEAST], number[tb.N_MOST], np.float32(0.0)
    slot, normal = slot_f[j * choose.FLOATS_A_SLOT :], block[normals:]  # offsets that may be negative stop vectors
    for k in range(used):
        noisy = noisy_range(slot[choose.OPL + k] * scale, normal[k], base, slope, square, bias)
        seen = (slot[choose.KEY + k] > choose.NONE) & (block[rows.DROPOUT + k] >= dropout)
        seen = seen & (noisy >= least) & (noisy <= most)
        block[rows.STRENGTH + k] = noisy if seen else np.float32(-1.0)
    for k in range(used):
        range_m[k] = max(block[rows.STRENGTH + k], zero)
    for k in range(used):
        intensity[k] = slot[choose.INTENSITY + k] if block[rows.STRENGTH + k] >= zero else zero


@jit.function
def write_returns(block, slot_i, labels, world, j, used, cause, depth, object_id, face_id, mirror_id, label):
    """All other fields of return j of each ray; selected without branches, which would be unpredictable."""
    slot, zero, nobody = slot_i[j * choose.WORDS_A_SLOT :], np.float32(0.0), choose.NOBODY
    for k in range(used):
        cause[k] = np.uint8(slot[choose.CAUSE + k] if block[rows.STRENGTH + k] >= zero else tb.NO_CAUSE)
    for k in range(used):
        object_id[k] = slot[choose.COLUMN + k] if block[rows.STRENGTH + k] >= zero else nobody
    for k in range(used):
        face_id[k] = slot[choose.FACE + k] if block[rows.STRENGTH + k] >= zero else nobody
    if depth.size > 0:
        for k in range(used):
            depth[k] = np.uint8(slot[choose.DEPTH + k] if block[rows.STRENGTH + k] >= zero else 0)
        for k in range(used):
            mirror_id[k] = slot[choose.MIRROR + k] if block[rows.STRENGTH + k] >= zero else nobody
    row = world if labels.object_label.shape[0] > 1 else 0
    object_label, face_first, face_label = labels.object_label[row], labels.face_first[row], labels.face_label
    if face_label.size == 0:
        for k in range(used):
            column = object_id[k]
            label[k] = object_label[np.uint32(max(column, np.int32(0)))] if column >= 0 else nobody
        return
    for k in range(used):
        column = object_id[k]
        if column < 0:
            label[k] = nobody
        else:
            own = face_first[np.uint32(column)]
            face = np.uint64(face_id[k])
            label[k] = object_label[np.uint32(column)] if own < 0 else face_label[np.uint64(own) + face]


@jit.function
def draw_again(block, draws, j, used):
    """Fresh range noise for the third return and on: two returns share a draw."""
    key, tick, element, world = draws
    for k in range(used):
        w0, w1, _, _ = draw_words(key[0], key[1], element + k, STAGE_EXTRA, j, tick, world)
        n0, n1 = normal_pair_f32(w0, w1)
        block[rows.NORMAL + k], block[rows.NORMAL_2 + k] = n0, n1


@jit.function
def write_points(x, y, z, range_m, points, used):
    """Points on the nominal direction of the ray, ghosts too, in the sensor frame."""
    for k in range(used):
        distance = range_m[k]
        points[k, 0], points[k, 1], points[k, 2] = distance * x[k], distance * y[k], distance * z[k]


@jit.function
def shift_points(block, origin, points, used):
    """Rays with start points of their own."""
    for k in range(used):
        if block[rows.STRENGTH + k] >= 0.0:
            for i in range(3):
                points[k, i] += origin[k, i]


@jit.function
def write_points_in_world(block, anchor, range_m, points, used):
    """The same in world coordinates."""
    for k in range(used):
        distance = range_m[k]
        for i in range(3):
            at = block[pk.B_ORIGIN_X + i * BLOCK + k] + distance * block[pk.B_DIRECTION_X + i * BLOCK + k]
            points[k, i] = anchor[i] + at if block[rows.STRENGTH + k] >= 0.0 else 0.0
