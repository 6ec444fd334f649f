"""Light behind curved mirrors: spread of each path's pencil, see `sensorium.physics.optics.surfaces.mirror_spread`.

A path without a curved mirror spreads with its reduced path z and is not changed here. Behind a curved mirror, a path
carries four numbers: its effective spread distance z_eff at the start of the segment, and the curvature of its
wavefront there. They are exact for any number of mirrors, curved and flat; a transmitting boundary counts as flat.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

from sensorium.physics.optics.detection.capture_table import captured_from_table
from sensorium.physics.optics.surfaces.mirror_spread import (
    axes_across,
    curvature_along,
    curvature_mirrored,
    curvature_turned,
    spread_along,
)
from sensorium.physics.optics.surfaces.mirror_transfer import mirror_share
from sensorium.random import exp_f32
from sensorium.runtime import jit
from sensorium.runtime.jit import pointer_from_address
from sensorium.scene.curvature import can_mirror, curvature_of
from sensorium.scene.layout import Layout
from sensorium.tracing.embree import crossings as cr
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT
from sensorium.tracing.hits import normal_in_world
from sensorium.tracing.kernels.light import rows
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.placement.motion import AFFINE_WORDS

# Least z_eff of a path behind a curved mirror [m]: 0 marks a path without one
_LEAST_M = 1e-6


def curvature_tables(layout: Layout) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Curvature of mirror faces: start of each object's faces, (1 | worlds, objects), and (faces, 6).

    An object that is flat or does not mirror begins at -1.
    """
    begun, pieces, size = np.full((len(layout.meshes) + 1, len(layout.materials)), -1, np.int64), [], 0
    mirroring = np.array([can_mirror(material) for material in layout.materials])
    for number, mesh in enumerate(layout.meshes):
        if mirroring[layout.of_kind.material[layout.of_kind.mesh == number]].any():
            tensor = curvature_of(mesh)
            if tensor.any():
                begun[number, mirroring] = size
                pieces.append(tensor)
                size += len(tensor)
    return begun[layout.mesh_index, layout.material_index], np.concatenate([*pieces, np.zeros((0, 6), np.float32)])


@jit.function
def bend_paths(block, hit, arrays, light, world, starts, used):
    """Apply curvature at shaded hits: to the returns of bent paths, and to mirrored children.

    Args:
        block, hit: Scratch, shaded.
        arrays: `InstanceTables`; light: `LightTables`; world: world of the rays.
        starts: Whether the rays are first rays, which met no mirror yet.
        used: Rays in the block.
    """
    block, hit, arrays, light = jit.uncounted((block, hit, arrays, light))
    row = world if light.curvature_first.shape[0] > 1 else 0
    first, curvature = light.curvature_first[row], light.face_curvature
    _weaken_returns(block, hit, light, starts, used)
    count = np.int64(hit[rows.PARENT_COUNT])
    for i in range(count):
        k = np.int64(hit[rows.PARENTS + i])
        k11, k12, k22 = curvature_of_hit(block, hit, arrays, first, curvature, world, k)
        block[rows.FACE_11 + i], block[rows.FACE_12 + i], block[rows.FACE_22 + i] = k11, k12, k22
    _mirror(block, hit, light.number[tb.N_BEAM_TAN2], count)


@jit.function
def bend_found_paths(block, hit, crossings, light, surface, at, starts, used):
    """The same for hits from another process, with their curvature from row `at` on, or with the crossings."""
    block, hit, light, surface, crossings = jit.uncounted((block, hit, light, surface, crossings))
    _weaken_returns(block, hit, light, starts, used)
    count = np.int64(hit[rows.PARENT_COUNT])
    for i in range(count):
        k = np.int64(hit[rows.PARENTS + i])
        k11, k12, k22 = surface[at + k, 1], surface[at + k, 2], surface[at + k, 3]
        if block[rows.KIND + k] == np.float32(tb.DIELECTRIC):  # a boundary: its crossing stands in place of an item
            of = crossings.number[hit[pk.B_ITEM + k]]
            k11, k12, k22 = of[cr.C_K11, k], of[cr.C_K12, k], of[cr.C_K22, k]
        block[rows.FACE_11 + i], block[rows.FACE_12 + i], block[rows.FACE_22 + i] = k11, k12, k22
    _mirror(block, hit, light.number[tb.N_BEAM_TAN2], count)


@jit.function
def _weaken_returns(block, hit, light, starts, used):
    """Weaken the returns of bent paths, and mark all children as unbent."""
    zero = np.float32(0.0)
    for k in range(used):
        block[rows.NEXT + k] = zero
    if starts:
        for k in range(used):
            block[rows.SPREAD + k] = zero
        return
    for k in range(used):
        if block[rows.SPREAD + k] > zero and hit[rows.COLUMN + k] != NO_HIT:
            _weaken(block, light.capture, light.number, light.switch, np.int64(k))


@jit.inlined
def curvature_of_hit(block, hit, arrays, curvature_first, face_curvature, world, k):
    """Curvature of the face that ray k hit, 11, 12, 22 in the axes across its unit normal in the world; 0 if flat."""
    zero, column = np.float32(0.0), hit[rows.COLUMN + k]
    if column == NO_HIT:
        return zero, zero, zero
    return curvature_of_face(
        arrays, curvature_first, face_curvature, world, hit[pk.B_INSTANCE + k], hit[pk.B_ITEM + k],
        np.int64(column), np.int64(hit[pk.B_FACE + k]), block[pk.B_TIME + k],
        block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k],
    )  # fmt: skip


@jit.inlined
def curvature_of_face(arrays, curvature_first, face_curvature, world, instance, item, column, face, time, nx, ny, nz):
    """The same of a face of an object, with its unit normal in the world."""
    zero = np.float32(0.0)
    if curvature_first[column] < 0:
        return zero, zero, zero
    tensor = face_curvature[curvature_first[column] + face]
    flat = True
    for i in range(6):
        flat &= tensor[i] == zero
    if flat:
        return zero, zero, zero

    # Axes of the object, and two across the normal, in the world
    one = np.float32(1.0)
    array = np.uint32(arrays.first[world]) + instance
    if arrays.segments[array] == 0:
        m = numba.carray(
            pointer_from_address(arrays.buffer[array] + np.int64(item) * (4 * AFFINE_WORDS)), 12, np.float32
        )
        xx, xy, xz, yx, yy, yz, zx, zy, zz = m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]
    else:
        xx, xy, xz = normal_in_world(arrays, world, instance, item, time, one, zero, zero)
        yx, yy, yz = normal_in_world(arrays, world, instance, item, time, zero, one, zero)
        zx, zy, zz = normal_in_world(arrays, world, instance, item, time, zero, zero, one)
    ax, ay, az, bx, by, bz = axes_across(np.float64(nx), np.float64(ny), np.float64(nz))

    # These two in the object's axes
    a0, a1, a2 = ax * xx + ay * xy + az * xz, ax * yx + ay * yy + az * yz, ax * zx + ay * zy + az * zz
    b0, b1, b2 = bx * xx + by * xy + bz * xz, bx * yx + by * yy + bz * yz, bx * zx + by * zy + bz * zz
    return (
        np.float32(_form(tensor, a0, a1, a2, a0, a1, a2)),
        np.float32(_form(tensor, a0, a1, a2, b0, b1, b2)),
        np.float32(_form(tensor, b0, b1, b2, b0, b1, b2)),
    )


@jit.function
def _form(tensor, u0, u1, u2, v0, v1, v2):
    """U . K v for the elements xx, yy, zz, xy, xz, yz."""
    return (
        u0 * (tensor[0] * v0 + tensor[3] * v1 + tensor[4] * v2)
        + u1 * (tensor[3] * v0 + tensor[1] * v1 + tensor[5] * v2)
        + u2 * (tensor[4] * v0 + tensor[5] * v1 + tensor[2] * v2)
    )


@jit.function
def _weaken(block, capture, number, switch, k):
    """Strength of the return from hit k of a bent path."""
    passes = np.float32(switch[tb.S_ROUND_TRIP])
    z, _, _, _ = _pencil_at(block, k, block[pk.B_T_FAR + k], block[rows.WIDENING + k])
    captured = captured_from_table(capture, np.float32(z), number[tb.N_INVERSE_Z0])
    lost = exp_f32(-passes * block[rows.TAU + k])
    block[rows.STRENGTH + k] = captured * block[rows.GAIN + k] * block[rows.RHO + k] * lost


@jit.function
def _mirror(block, hit, tan2, count):
    """Spread of the light mirrored at parent hits: into the rows NEXT, 0 where nothing is bent; in vectors."""
    zero = np.float32(0.0)
    for i in range(count):
        k = hit[rows.PARENTS + i]
        z, c11, c12, c22 = _pencil_at(block, k, block[pk.B_T_FAR + k], block[rows.WIDENING + k])

        # The side that the ray hits decides the sign of the curvature
        k11, k12, k22 = block[rows.FACE_11 + i], block[rows.FACE_12 + i], block[rows.FACE_22 + i]
        side, cosine, alpha2 = np.float64(block[rows.SIDE + k]), block[rows.COS + k], block[rows.ALPHA2 + k]
        direction, normal = _three(block, pk.B_DIRECTION_X, k), _three(block, pk.B_NORMAL_X, k)
        bend, per_length = (side * k11, side * k12, side * k22), np.float64(block[rows.WIDENING + k])
        c11, c12, c22 = curvature_mirrored((c11, c12, c22), direction, normal, bend, per_length)
        bent = (block[rows.SPREAD + k] != zero) | (k11 != zero) | (k12 != zero) | (k22 != zero)
        wider = tan2 * np.float32(max(z * z * abs(c11 * c22 - c12 * c12), 1.0))
        share = mirror_share(cosine, alpha2, wider) / mirror_share(cosine, alpha2, tan2)
        block[rows.BENT + i] = np.float32(z) if bent else zero
        block[rows.BENT_11 + i], block[rows.BENT_12 + i], block[rows.BENT_22 + i] = c11, c12, c22
        block[rows.BENT_SHARE + i] = share if bent else np.float32(1.0)
    for i in range(count):
        k = hit[rows.PARENTS + i]
        for j in range(4):
            block[rows.NEXT + j * pk.BLOCK + k] = block[rows.BENT + j * pk.BLOCK + i]
        block[rows.SHARE + k] *= block[rows.BENT_SHARE + i]


@jit.inlined
def _three(block, first, k):
    """Three numbers of path k, of rows from `first` on."""
    return (
        np.float64(block[first + k]),
        np.float64(block[first + pk.BLOCK + k]),
        np.float64(block[first + 2 * pk.BLOCK + k]),
    )


@jit.inlined
def _pencil_at(block, k, x, widening):
    """Spread of path k [m], and the curvature of its wavefront, after x meters of its segment."""
    s = np.float64(x) * np.float64(widening)
    start = np.float64(block[rows.SPREAD + k])
    c11, c12, c22 = _three(block, rows.SPREAD_11, k)
    direct, bent = max(np.float64(block[rows.PATH_Z + k]) + s, _LEAST_M), start != 0.0
    z = max(start * math.sqrt(abs(spread_along(c11, c12, c22, s))), _LEAST_M)
    c11, c12, c22 = curvature_along(c11, c12, c22, s)
    inverse = 1.0 / direct
    return z if bent else direct, c11 if bent else inverse, c12 if bent else 0.0, c22 if bent else inverse


@jit.function
def spread_at(block, k, z, x, widening):
    """Effective reduced path after x meters of path k's segment: z itself if it met no curved mirror."""
    if block[rows.SPREAD + k] == np.float32(0.0):
        return z
    effective, _, _, _ = _pencil_at(block, k, x, widening)
    return np.float32(effective)


@jit.function
def opening_of(block, k):
    """Factor by which the solid angle of the beam grows for light mirrored at hit k, at least 1: |det(B C)|."""
    z = np.float64(block[rows.NEXT + k])
    c11, c12, c22 = _three(block, rows.NEXT_11, k)
    return np.float32(max(z * z * abs(c11 * c22 - c12 * c12), 1.0))


@jit.function
def pass_on(block, k, f, first, waiting, mirrored, dx, dy, dz):
    """Write a child's four numbers into its column of a queue, from row `first` on: mirrored at hit k, or transmitted.

    Args:
        block: Scratch, hits settled by `bend_paths`.
        k: The hit.
        f: Floats of the queue.
        first: Row of the first number.
        waiting: The child's column.
        mirrored: Whether it was mirrored.
        dx, dy, dz: Its direction.
    """
    if mirrored:
        for i in range(4):
            f[first + i, waiting] = block[rows.NEXT + i * pk.BLOCK + k]
        return
    if block[rows.SPREAD + k] == np.float32(0.0):
        f[first, waiting] = np.float32(0.0)
        return
    z, c11, c12, c22 = _pencil_at(block, k, block[pk.B_T_FAR + k], block[rows.WIDENING + k])
    child = np.float64(dx), np.float64(dy), np.float64(dz)
    c11, c12, c22 = curvature_turned((c11, c12, c22), _three(block, pk.B_DIRECTION_X, k), child)
    f[first, waiting] = z
    f[first + 1, waiting], f[first + 2, waiting], f[first + 3, waiting] = c11, c12, c22
