"""Hits for light that another process follows: all surface data that materials, media and the ray tree need."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree import crossings as cr
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK, NO_HIT, new_packet, set_mask, trace_block
from sensorium.tracing.hits import label_of
from sensorium.tracing.kernels.geometry.normals import find_incidence, find_normals
from sensorium.tracing.kernels.light import rows
from sensorium.tracing.kernels.light.curvature import curvature_of_face, curvature_of_hit
from sensorium.tracing.kernels.light.resolve import reflectance_on_face

# The one world, typed as kernels have it
_WORLD = np.int32(0)


class LightHits(NamedTuple):
    """Nearest hits, one row per ray."""

    range_m: NDArray[np.float32]  # inf for a miss
    normal: NDArray[np.float32]  # (rays, 3) in the world, of the length that the light kernel has before it makes it 1
    object_id: NDArray[np.int32]  # -1 for a miss
    face_id: NDArray[np.int32]
    label: NDArray[np.int32]
    surface: NDArray[np.float32]  # (rays, 1 | 4): diffuse reflectance where the mesh carries it, -1 where the material
    # says it; and where it is asked for the curvature of the face, as `curvature_of_hit` gives it


def new_light_hits(count: int, *, curved: bool = False) -> LightHits:
    """Arrays for the kernel to fill; with the curvature of faces, or without."""
    return LightHits(
        range_m=np.zeros(count, np.float32),
        normal=np.zeros((count, 3), np.float32),
        object_id=np.zeros(count, np.int32),
        face_id=np.zeros(count, np.int32),
        label=np.zeros(count, np.int32),
        surface=np.zeros((count, 4 if curved else 1), np.float32),
    )


class FaceTables(NamedTuple):
    """Face data of meshes for light, of a scene that is the same in all worlds."""

    reflectance_first: NDArray[np.int64]  # (1, objects) see `reflectance_tables`
    corner_reflectance: NDArray[np.float32]
    curvature_first: NDArray[np.int64]  # (1, objects) see `curvature_tables`; read where hits have room for curvature
    face_curvature: NDArray[np.float32]


@jit.kernel
def remote_hits(first, step, count, arrays, labels, faces, rays, clear_m, mask, arguments, out):
    """Trace the blocks first, first + step, ... of a list of rays of one world.

    Args:
        first, step, count: Share of the blocks of BLOCK rays.
        arrays: `InstanceTables`; labels: `LabelTables`; faces: `FaceTables`.
        rays: `Rays`, origins from the anchor.
        clear_m: Distance at which each ray begins to search [m], float32 (rays,).
        mask: Bits of the objects to see.
        arguments: Address of Embree's arguments (coherent or not).
        out: `LightHits` to fill.
    """
    floats, words, active = new_packet()
    set_mask(words, mask)
    block, hit = rows.new_scratch()
    total, corners = rays.origin.shape[0], faces.corner_reflectance
    carried = corners.size > 0
    for number in range(first, count, step):
        start = number * BLOCK
        used = min(BLOCK, total - start)
        for k in range(used):
            i = start + k
            for axis in range(3):
                block[pk.B_ORIGIN_X + axis * BLOCK + k] = rays.origin[i, axis]
                block[pk.B_DIRECTION_X + axis * BLOCK + k] = rays.direction[i, axis]
            block[pk.B_TIME + k] = rays.time[i]
            block[pk.B_T_NEAR + k], block[pk.B_T_FAR + k] = clear_m[i], rays.t_max[i]
        trace_block(block, hit, floats, words, active, arrays.scene[0], arguments, carried, used)
        find_normals(block, hit, arrays, _WORLD, used)
        for k in range(used):
            i, column = start + k, hit[rows.COLUMN + k]
            out.surface[i, 0] = np.float32(-1.0)
            if column == NO_HIT:
                out.range_m[i] = np.inf
                out.object_id[i], out.face_id[i], out.label[i] = -1, -1, -1
                out.normal[i, 0], out.normal[i, 1], out.normal[i, 2] = 0.0, 0.0, 0.0
                continue
            face = np.int32(hit[pk.B_FACE + k])
            out.range_m[i] = block[pk.B_T_FAR + k]
            out.object_id[i], out.face_id[i] = column, face
            out.label[i] = label_of(labels, 0, column, face)
            for axis in range(3):
                out.normal[i, axis] = block[pk.B_NORMAL_X + axis * BLOCK + k]
            own = faces.reflectance_first[0, column]
            if own >= 0:
                out.surface[i, 0] = reflectance_on_face(corners, own, face, block[pk.B_U + k], block[pk.B_V + k])
        if out.surface.shape[1] > 1:
            find_incidence(block, used)
            for k in range(used):
                first_face, curvature = faces.curvature_first[0], faces.face_curvature
                bent = curvature_of_hit(block, hit, arrays, first_face, curvature, _WORLD, np.int64(k))
                out.surface[start + k, 1], out.surface[start + k, 2], out.surface[start + k, 3] = bent


@jit.kernel
def bend_crossings(first, step, count, arrays, faces, rays, out):
    """Fill the curvature of the faces that rays of one world cross, in the blocks first, first + step, ...

    Args:
        first, step, count: Share of the blocks of BLOCK rays.
        arrays: `InstanceTables`; faces: `FaceTables`.
        rays: `Rays`; out: `RawCrossings`, of which the curvature is filled.
    """
    total = rays.origin.shape[0]
    for number in range(first, count, step):
        for i in range(number * BLOCK, min(total, (number + 1) * BLOCK)):
            for j in range(out.found[i]):
                of, word = out.number[i, j], out.word[i, j]
                scale = np.float32(1.0) / math.sqrt(
                    of[cr.C_NX] * of[cr.C_NX] + of[cr.C_NY] * of[cr.C_NY] + of[cr.C_NZ] * of[cr.C_NZ]
                )
                of[cr.C_K11], of[cr.C_K12], of[cr.C_K22] = curvature_of_face(
                    arrays, faces.curvature_first[0], faces.face_curvature, _WORLD, np.uint32(word[cr.C_INSTANCE]),
                    np.uint32(word[cr.C_ITEM]), np.int64(word[cr.C_COLUMN]), np.int64(word[cr.C_FACE]), rays.time[i],
                    of[cr.C_NX] * scale, of[cr.C_NY] * scale, of[cr.C_NZ] * scale,
                )  # fmt: skip
