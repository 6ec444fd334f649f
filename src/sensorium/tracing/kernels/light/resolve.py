"""Hit of each ray of a block: object, material, normal in the world, angle of incidence."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT
from sensorium.tracing.kernels.geometry.normals import end_of_run, fill_words, find_normals, set_miss
from sensorium.tracing.kernels.light import rows
from sensorium.tracing.kernels.light import tables as tb

_PI = np.float32(math.pi)


class Surfaces(NamedTuple):
    """Which material each object has."""

    material: NDArray[np.float32]  # (materials + 1, columns): for their number
    object_material: NDArray[np.int32]  # (1 | worlds, objects)
    medium: NDArray[np.float32]  # (1, 1): the air


@jit.function
def resolve(block, hit, arrays, light, world, fills, used):
    """Find object, material and normal in world axes of each hit; a miss gets the last material, a black one.

    Args:
        block, hit: Scratch, traced.
        arrays: `InstanceTables`; light: tables with materials; world: world of the rays.
        fills: Whether to fill in the materials' numbers as well, as `fill_materials` does.
        used: Rays in the block.
    """
    find_normals(block, hit, arrays, world, used)
    row = world if light.object_material.shape[0] > 1 else 0
    object_material, black = light.object_material[row], np.uint32(light.material.shape[0] - 1)
    k = 0
    while k < used:
        column, end = hit[rows.COLUMN + k], end_of_run(hit, rows.COLUMN, k, used)
        number = black if column == NO_HIT else np.uint32(object_material[column])
        fill_words(hit[rows.MATERIAL + k :], number, end - k)
        if fills:
            _fill_run(block[k:], light.material[number], end - k)
        k = end


@jit.function
def take_found(block, hit, light, found, at, base, used):
    """The same for hits from another process, with normals in the world.

    Args:
        block, hit: Scratch, rays as they were sent; a miss keeps its far limit for its distance.
        light: `LightTables` of a scene that is the same in all worlds.
        found: `LightHits`, those of the block from row `at` on.
        base: Number of the first row of `found` among all recorded hits; the number of its hit replaces a ray's face.
        used: Rays in the block.
    """
    object_material, black = light.object_material[0], np.uint32(light.material.shape[0] - 1)
    for k in range(used):
        row = at + k
        if found.object_id[row] < 0:
            set_miss(block, hit, k)
            hit[rows.MATERIAL + k] = black
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
    """In a scene with volumes, the material of each hit, which may be a boundary, seen from its medium."""
    object_material = light.object_material[world if light.object_material.shape[0] > 1 else 0]
    kinds = np.uint32((light.material.shape[0] - 1) // light.medium.shape[0])
    for k in range(used):
        if hit[rows.COLUMN + k] != NO_HIT:
            number = np.uint32(object_material[hit[rows.COLUMN + k]])
            hit[rows.MATERIAL + k] = number + kinds * hit[rows.MEDIUM + k]


@jit.function
def face_other_side(block, hit, light, used):
    """Normal reflectance of a boundary, ((n2 - n1) / (n2 + n1))^2, if the medium behind it is not its own volume."""
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


@jit.function
def fill_materials(block, hit, material, used):
    """Numbers of each ray's material; neighbors mostly share one, and a run of them is filled in one vector loop."""
    k = 0
    while k < used:
        number, end = hit[rows.MATERIAL + k], end_of_run(hit, rows.MATERIAL, k, used)
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
    """Diffuse coefficients of the rays that hit a mesh with its own reflectance."""
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
    """The same if the mesh's reflectance came with the hits, from row `at` on; negative if it has none.

    A ray that a boundary of volumes ended before its hit has another object.
    """
    for k in range(used):
        if np.int32(hit[rows.COLUMN + k]) == found.object_id[at + k] >= 0 and found.surface[at + k, 0] >= 0.0:
            a, b = _diffuse_of(found.surface[at + k, 0], material[hit[rows.MATERIAL + k]])
            block[rows.DIFFUSE_A + k], block[rows.DIFFUSE_B + k] = a, b


@jit.function
def reflectance_on_face(corners, own, face, u, v):
    """Diffuse reflectance on a mesh, interpolated over the face."""
    at = np.uint64(own) + np.uint64(3) * np.uint64(face)
    return (np.float32(1.0) - u - v) * corners[at] + u * corners[at + np.uint64(1)] + v * corners[at + np.uint64(2)]


@jit.function
def _diffuse_of(c, material):
    """Diffuse coefficients of a mesh's reflectance."""
    scale = c / (_PI * material[tb.M_PLASTIC_N2] * (np.float32(1.0) - c * material[tb.M_PLASTIC_FI]))
    return scale * (material[tb.M_ON_A0] + material[tb.M_ON_A1] * c), scale * material[tb.M_ON_B]
