"""What each ray of a block met: object, material, normal in the world, angle of incidence."""

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.runtime.jit import pointer_from_address
from sensorium.scene.layout import Layout
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT
from sensorium.tracing.hits import normal_in_world
from sensorium.tracing.kernels.light import rows
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.placement.motion import AFFINE_WORDS

_PI = np.float32(math.pi)

# Rays that are looked at together, as vectors
_TOGETHER = 16


class Surfaces(NamedTuple):
    """Which material each object has."""

    material: NDArray[np.float32]  # (materials + 1, columns): for their number
    object_material: NDArray[np.int32]  # (1 | worlds, objects)
    medium: NDArray[np.float32]  # (1, 1): the air


def plain_surfaces(layout: Layout) -> Surfaces:
    """Surfaces of a scene for kernels that look nothing up but which material an object has."""
    material = np.zeros((len(layout.materials) + 1, 1), np.float32)
    return Surfaces(material, np.array(layout.material_index, np.int32), np.zeros((1, 1), np.float32))


@jit.function
def resolve(block, hit, arrays, light, world, fills, used):
    """Find column, material and world normal (of any length) of each hit; a miss gets the last material, a black one.

    Neighboring rays mostly meet the same object, so a run of them is done together.

    Args:
        block, hit: Scratch, traced.
        arrays: `InstanceTables`; light: tables with materials; world: world of the rays.
        fills: Whether to fill in the materials' numbers as well, as `fill_materials` does.
        used: Rays in the block.
    """
    row = world if light.object_material.shape[0] > 1 else 0
    object_material, black = light.object_material[row], np.uint32(light.material.shape[0] - 1)
    first, column_first, columns = np.uint32(arrays.first[world]), arrays.column_first, arrays.columns
    k = 0
    while k < used:
        instance, item = hit[pk.B_INSTANCE + k], hit[pk.B_ITEM + k]
        end = _end_of_run(hit, pk.B_ITEM, k, _end_of_run(hit, pk.B_INSTANCE, k, used))
        if instance == NO_HIT:
            for i in range(k, end):
                _nothing(block, hit, black, i)
            if fills:
                _fill_run(block[k:], light.material[black], end - k)
            k = end
            continue

        # An object: its material, and its rotation where it stands still
        array = first + instance
        column = np.uint32(columns[np.uint32(column_first[array]) + item])
        number = np.uint32(object_material[column])
        if arrays.segments[array] == 0:
            m = numba.carray(
                pointer_from_address(arrays.buffer[array] + np.int64(item) * (4 * AFFINE_WORDS)), 12, np.float32
            )
            _turn_run(block, m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10], np.uint32(k), np.uint32(end - k))
        else:
            for i in range(k, end):
                x, y, z = block[pk.B_NORMAL_X + i], block[pk.B_NORMAL_Y + i], block[pk.B_NORMAL_Z + i]
                nx, ny, nz = normal_in_world(arrays, world, instance, item, block[pk.B_TIME + i], x, y, z)
                block[pk.B_NORMAL_X + i], block[pk.B_NORMAL_Y + i], block[pk.B_NORMAL_Z + i] = nx, ny, nz
        for i in range(k, end):
            hit[rows.COLUMN + i], hit[rows.MATERIAL + i] = column, number
        if fills:
            _fill_run(block[k:], light.material[number], end - k)
        k = end


@jit.function
def take_found(block, hit, light, found, at, base, used):
    """The same from hits that were found elsewhere, with normals in the world.

    Args:
        block, hit: Scratch, rays as they were sent; a miss keeps its far limit for its distance.
        light: `LightTables` of a scene that is the same in all worlds.
        found: `LightHits`, those of the block from row `at` on.
        base: Number of the first row of `found` among all hits that are remembered; the number of its hit stands for a
            ray's face.
        used: Rays in the block.
    """
    object_material, black = light.object_material[0], np.uint32(light.material.shape[0] - 1)
    for k in range(used):
        row = at + k
        if found.object_id[row] < 0:
            _nothing(block, hit, black, k)
            continue
        block[pk.B_T_FAR + k] = found.range_m[row]
        block[pk.B_NORMAL_X + k] = found.normal[row, 0]
        block[pk.B_NORMAL_Y + k] = found.normal[row, 1]
        block[pk.B_NORMAL_Z + k] = found.normal[row, 2]
        hit[pk.B_FACE + k] = np.uint32(base + row)
        column = np.uint32(found.object_id[row])
        hit[rows.COLUMN + k], hit[rows.MATERIAL + k] = column, np.uint32(object_material[column])


@jit.function
def see_from_media(hit, light, world, used):
    """In a scene with volumes, the material of what each ray met, which may be a boundary, seen from its medium."""
    object_material = light.object_material[world if light.object_material.shape[0] > 1 else 0]
    kinds = np.uint32((light.material.shape[0] - 1) // light.medium.shape[0])
    for k in range(used):
        if hit[rows.COLUMN + k] != NO_HIT:
            number = np.uint32(object_material[hit[rows.COLUMN + k]])
            hit[rows.MATERIAL + k] = number + kinds * hit[rows.MEDIUM + k]


@jit.function
def face_other_side(block, hit, light, used):
    """What a boundary reflects straight on, ((n2 - n1) / (n2 + n1))^2, where not its own volume lies behind it."""
    media, material = light.medium, light.material
    for k in range(used):
        if hit[rows.COLUMN + k] == NO_HIT or np.int32(block[rows.KIND + k]) != tb.DIELECTRIC:
            continue
        here, there = hit[rows.MEDIUM + k], hit[rows.BEYOND + k]
        if np.int32(there) == np.int32(material[hit[rows.MATERIAL + k], tb.M_MEDIUM]):
            continue
        n1, n2 = media[here, tb.G_INDEX], media[there, tb.G_INDEX]
        share = (n2 - n1) / (n2 + n1)
        block[rows.R0 + k] = share * share


@jit.inlined
def _end_of_run(hit, row, k, used):
    """Where the rays from k on stop having the same number in a row of words; looks at a few together."""
    words = hit[row:]
    number, end = words[k], k + 1
    while end + _TOGETHER <= used:
        differences = np.uint32(0)
        for i in range(_TOGETHER):  # numbers that cannot be negative let this be vector code
            differences |= words[np.uint64(end) + np.uint64(i)] ^ number
        if differences != np.uint32(0):
            break
        end += _TOGETHER
    while end < used and words[np.uint64(end)] == number:
        end += 1
    return end


@jit.inlined
def _turn_run(block, r0, r1, r2, r3, r4, r5, r6, r7, r8, start, count):
    """Turn the normals of a run of rays by one matrix."""
    for i in range(count):
        k = start + i
        x, y, z = (
            block[np.uint32(pk.B_NORMAL_X) + k],
            block[np.uint32(pk.B_NORMAL_Y) + k],
            block[np.uint32(pk.B_NORMAL_Z) + k],
        )
        block[np.uint32(pk.B_NORMAL_X) + k] = r0 * x + r1 * y + r2 * z
        block[np.uint32(pk.B_NORMAL_Y) + k] = r3 * x + r4 * y + r5 * z
        block[np.uint32(pk.B_NORMAL_Z) + k] = r6 * x + r7 * y + r8 * z


@jit.function
def _nothing(block, hit, black, k):
    """A ray that met nothing: a black wall, straight on."""
    hit[rows.COLUMN + k], hit[rows.MATERIAL + k] = NO_HIT, black
    block[pk.B_NORMAL_X + k] = -block[pk.B_DIRECTION_X + k]
    block[pk.B_NORMAL_Y + k] = -block[pk.B_DIRECTION_Y + k]
    block[pk.B_NORMAL_Z + k] = -block[pk.B_DIRECTION_Z + k]


@jit.function
def fill_materials(block, hit, material, used):
    """Numbers of each ray's material; neighbors mostly share one, and a run of them is filled in one vector loop."""
    k = 0
    while k < used:
        number, end = hit[rows.MATERIAL + k], _end_of_run(hit, rows.MATERIAL, k, used)
        _fill_run(block[k:], material[number], end - k)
        k = end


@jit.function
def _fill_run(block, material, count):
    r0, alpha2, index, absorption = (
        material[tb.M_R0],
        material[tb.M_ALPHA2],
        material[tb.M_INDEX],
        material[tb.M_ABSORPTION],
    )
    one_way, fixed_r, kind = material[tb.M_ONE_WAY], material[tb.M_FIXED_R], material[tb.M_KIND]
    diffuse_a, diffuse_b = material[tb.M_DIFFUSE_A], material[tb.M_DIFFUSE_B]
    for k in range(count):
        block[rows.R0 + k] = r0
        block[rows.ALPHA2 + k] = alpha2
        block[rows.INDEX + k] = index
        block[rows.ABSORPTION + k] = absorption
        block[rows.ONE_WAY + k] = one_way
        block[rows.FIXED_R + k] = fixed_r
        block[rows.KIND + k] = kind
        block[rows.DIFFUSE_A + k] = diffuse_a
        block[rows.DIFFUSE_B + k] = diffuse_b


@jit.function
def fill_mesh_reflectance(block, hit, material, reflectance_first, corners, used):
    """Diffuse coefficients of the rays that met a mesh which carries its own reflectance."""
    for k in range(used):
        column = hit[rows.COLUMN + k]
        if column != NO_HIT and reflectance_first[column] >= 0:
            c = reflectance_on_face(
                corners, reflectance_first[column], hit[pk.B_FACE + k], block[pk.B_U + k], block[pk.B_V + k]
            )
            a, b = _diffuse_of(c, material[hit[rows.MATERIAL + k]])
            block[rows.DIFFUSE_A + k], block[rows.DIFFUSE_B + k] = a, b


@jit.function
def fill_found_reflectance(block, hit, material, found, at, used):
    """The same where the mesh's reflectance came with the hits, from row `at` on; negative where it has none.

    A ray that a boundary of volumes ended before its hit has another object.
    """
    for k in range(used):
        if np.int32(hit[rows.COLUMN + k]) == found.object_id[at + k] >= 0 and found.surface[at + k, 0] >= 0.0:
            a, b = _diffuse_of(found.surface[at + k, 0], material[hit[rows.MATERIAL + k]])
            block[rows.DIFFUSE_A + k], block[rows.DIFFUSE_B + k] = a, b


@jit.function
def reflectance_on_face(corners, own, face, u, v):
    """Diffuse reflectance that a mesh carries, interpolated over the face."""
    at = np.uint64(own) + np.uint64(3) * np.uint64(face)
    return (np.float32(1.0) - u - v) * corners[at] + u * corners[at + np.uint64(1)] + v * corners[at + np.uint64(2)]


@jit.function
def _diffuse_of(c, material):
    """Diffuse coefficients of a reflectance that the mesh carries."""
    scale = c / (_PI * material[tb.M_PLASTIC_N2] * (np.float32(1.0) - c * material[tb.M_PLASTIC_FI]))
    return scale * (material[tb.M_ON_A0] + material[tb.M_ON_A1] * c), scale * material[tb.M_ON_B]


@jit.function
def find_incidence(block, used):
    """Bring normals to unit length; find the angle of incidence and the side of the face."""
    for k in range(used):
        nx, ny, nz = block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k]
        scale = np.float32(1.0) / math.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = nx * scale, ny * scale, nz * scale
        dx, dy, dz = block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k]
        dot = dx * nx + dy * ny + dz * nz
        cx, cy, cz = dy * nz - dz * ny, dz * nx - dx * nz, dx * ny - dy * nx
        block[rows.SIN2 + k] = cx * cx + cy * cy + cz * cz
        block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k] = nx, ny, nz
        cosine = abs(dot)
        cosine = cosine if cosine > np.float32(1e-4) else np.float32(1e-4)
        block[rows.COS + k] = cosine if cosine < np.float32(1.0) else np.float32(1.0)
        block[rows.SIDE + k] = np.float32(1.0) if dot <= np.float32(0.0) else np.float32(-1.0)
