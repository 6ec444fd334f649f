"""The kernel of cameras: rays of a moving camera, shaded in several bands, and followed from mirror to mirror.

The radiance of surfaces is in picture_light.py. A smooth surface adds a ray in the mirror direction, whose radiance
counts with the mirrored share R, less the extinction of the air; and so on, up to a depth. Nothing is transmitted:
glass shows its reflection only.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK, NO_HIT, new_packet, set_mask, trace_block
from sensorium.tracing.kernels.camera.picture_light import SEES_DISC, find_shadows, shade
from sensorium.tracing.kernels.geometry.normals import find_incidence
from sensorium.tracing.kernels.light import rows
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.resolve import resolve
from sensorium.tracing.kernels.sweep import WHOLE, aim_numbered

_ZERO, _ONE, _TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)

# A mirror ray starts on a face and must not hit it again: it searches from this distance on [m], and a little more far
# out, where float32 is coarser [1]
_CLEAR_M, _CLEAR_PART = np.float32(2e-4), np.float32(2e-6)


class PictureOutputs(NamedTuple):
    """Arrays of a picture."""

    radiance: NDArray[np.float32]  # (heads, rays, bands) [W/m^2/sr] that counts
    inverse_depth: NDArray[np.float32]  # (heads, rays) [1/m], 0 without a hit


@jit.kernel
def picture(first, step, count, scene, aim, tables, along_axis, depth, out):
    """Fire and shade the blocks first, first + step, ... of all heads.

    Args:
        first, step, count: Share of the blocks; every head has as many.
        scene: `SweepScene`; aim: `SweepAim`.
        tables: `PictureTables`.
        along_axis: Whether distance is counted along the camera's axis instead of the ray.
        depth: How many mirrors in a row are followed.
        out: `PictureOutputs`.
    """
    arrays, coherent, scattered = scene.arrays, scene.coherent, scene.scattered
    rays, heads = aim.rays, aim.heads
    floats, words, active = new_packet()
    set_mask(words, scene.masks[0])
    block, hit = rows.new_scratch()
    lit = np.zeros(BLOCK, np.bool_)
    for k in range(BLOCK):
        block[SEES_DISC + k] = _ONE

    # Mirror rays need scratch of their own, where there are any
    follows = depth > 0 and tables.mirrors.shape[0] > 0
    size, bands = BLOCK if follows else 0, tables.light.shape[0]
    child, child_hit = rows.new_scratch()
    carried, mirrored = np.zeros((size, bands), np.float32), np.zeros((size, bands), np.float32)
    onward = np.zeros((size, bands), np.float32)
    for number in range(first, count, step):
        head, start, used = aim_numbered(block, rays, heads, number, WHOLE)
        end, world = start + used, heads.world[head]
        for k in range(used):
            block[pk.B_T_FAR + k] = np.float32(np.inf)
        traced = arrays.scene[world]
        trace_block(block, hit, floats, words, active, traced, coherent, np.bool_(True), used)
        resolve(block, hit, arrays, tables.surfaces, world, False, used)
        find_incidence(block, used)
        find_shadows(block, hit, lit, floats, active, traced, coherent, tables, used)

        radiance, inverse = out.radiance[head, start:end], out.inverse_depth[head, start:end]
        row = world if tables.reflectance_first.shape[0] > 1 else 0
        shade(block, hit, lit, tables, row, follows, used, radiance, carried)
        if follows:
            going = _start_mirrored(block, hit, child, child_hit, tables, used, carried)
            for level in range(1, depth + 1):
                if going == 0:
                    break
                trace_block(child, child_hit, floats, words, active, traced, scattered, np.bool_(True), going)
                resolve(child, child_hit, arrays, tables.surfaces, world, False, going)
                find_incidence(child, going)
                find_shadows(child, child_hit, lit, floats, active, traced, scattered, tables, going)
                shade(child, child_hit, lit, tables, row, level < depth, going, mirrored, onward)
                going = _add_mirrored(
                    child, child_hit, tables, level < depth, going, mirrored, carried, onward, radiance
                )
        for k in range(used):
            axial = rays.x[start + k] if along_axis else _ONE
            met = hit[rows.COLUMN + k] != NO_HIT
            inverse[k] = _ONE / max(block[pk.B_T_FAR + k] * axial, np.float32(1e-6)) if met else _ZERO
        for k in range(used):
            if block[pk.B_TIME + k] < heads.start[head]:
                radiance[k, :] = _ZERO
                inverse[k] = _ZERO


@jit.function
def _start_mirrored(block, hit, child, child_hit, tables, used, carried):
    """Aim the mirror rays of a block, and move the share of each to its place; returns how many."""
    going = 0
    for k in range(used):
        if hit[rows.COLUMN + k] != NO_HIT and tables.mirrors[hit[rows.MATERIAL + k]]:
            _reflect(block, hit, k, child, child_hit, going, np.uint32(k), tables)
            for band in range(carried.shape[1]):
                carried[going, band] = carried[k, band]
            going += 1
    return going


@jit.function
def _add_mirrored(child, child_hit, tables, follows, used, mirrored, carried, onward, radiance):
    """Add the radiance of mirror rays to their pixels; those that hit a mirror go on. Returns how many."""
    going = 0
    for k in range(used):
        ray = child_hit[rows.RAY + k]
        for band in range(carried.shape[1]):
            radiance[ray, band] += carried[k, band] * mirrored[k, band]
        if follows and child_hit[rows.COLUMN + k] != NO_HIT and tables.mirrors[child_hit[rows.MATERIAL + k]]:
            for band in range(carried.shape[1]):
                carried[going, band] = carried[k, band] * onward[k, band]
            _reflect(child, child_hit, k, child, child_hit, going, ray, tables)
            going += 1
    return going


@jit.function
def _reflect(block, hit, k, child, child_hit, i, ray, tables):
    """Ray i of the children is the mirror ray r = d - 2 (d.n) n of ray k, of the same time; both may be one place."""
    dx, dy, dz = block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k]
    nx, ny, nz = block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k]
    ox, oy, oz = block[pk.B_ORIGIN_X + k], block[pk.B_ORIGIN_Y + k], block[pk.B_ORIGIN_Z + k]
    t, time, twice = block[pk.B_T_FAR + k], block[pk.B_TIME + k], _TWO * (dx * nx + dy * ny + dz * nz)

    # The microfacet lobe of a layered surface holds the sun's image; a mirror of fixed reflectance has no lobe
    fixed = tables.material[0, hit[rows.MATERIAL + k], tb.M_FIXED_R] >= _ZERO
    child[SEES_DISC + i] = block[SEES_DISC + k] if fixed else _ZERO
    child[pk.B_ORIGIN_X + i], child[pk.B_ORIGIN_Y + i], child[pk.B_ORIGIN_Z + i] = ox + t * dx, oy + t * dy, oz + t * dz
    child[pk.B_DIRECTION_X + i] = dx - twice * nx
    child[pk.B_DIRECTION_Y + i] = dy - twice * ny
    child[pk.B_DIRECTION_Z + i] = dz - twice * nz
    child[pk.B_TIME + i], child[pk.B_T_NEAR + i] = time, _CLEAR_M + _CLEAR_PART * t
    child[pk.B_T_FAR + i] = np.float32(np.inf)
    child_hit[rows.RAY + i] = ray
