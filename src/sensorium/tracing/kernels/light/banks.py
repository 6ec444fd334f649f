"""Crossings of convex volumes that only dim and scatter, such as fog banks: clipped by the planes of their faces.

Light passes their faces unrefracted, so no face is traced, and a few planes in vector code take a third of the time of
a trace. A ray is inside the volume between the last plane it enters by and the first it leaves by.
"""

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.crossings import C_COLUMN, C_COS, C_FACE, C_T, sort_crossings
from sensorium.tracing.kernels.light import rows

# Rows of a block that materials fill later: where a ray enters and leaves [m], and the cosines there
_ENTERS, _LEAVES, _COS_IN, _COS_OUT = rows.R0, rows.ALPHA2, rows.DIFFUSE_A, rows.DIFFUSE_B


@jit.function
def clip_banks(block, crossings, light, anchor, traced, used):
    """Add the crossings of a block's rays with banks to those that were traced.

    Args:
        block: Scratch with origins and directions of the rays.
        crossings: `Crossings`.
        light: `LightTables`.
        anchor: Of the world [m], float64 (3,).
        traced: Whether crossings were traced; else there are none yet.
        used: Rays in the block.
    """
    block, crossings, light = jit.uncounted((block, crossings, light))
    if not traced:
        for k in range(used):
            crossings.found[k] = 0
    number, word, room = crossings.number, crossings.word, crossings.number.shape[0]
    for bank in range(light.bank_column.shape[0]):
        for k in range(used):
            block[_ENTERS + k], block[_LEAVES + k] = np.float32(-np.inf), np.float32(np.inf)
        for plane in range(light.bank_plane.shape[1]):
            x, y, z, d = (
                light.bank_plane[bank, plane, 0],
                light.bank_plane[bank, plane, 1],
                light.bank_plane[bank, plane, 2],
                light.bank_plane[bank, plane, 3],
            )
            if d == np.inf:
                break
            beyond = np.float32(d - x * anchor[0] - y * anchor[1] - z * anchor[2])
            _clip(block, np.float32(x), np.float32(y), np.float32(z), beyond, used)
        column = light.bank_column[bank]
        for k in range(used):
            enters, leaves = block[_ENTERS + k], block[_LEAVES + k]
            if leaves <= np.float32(0.0) or enters >= leaves:
                continue
            place = np.int64(crossings.found[k])
            if enters > np.float32(0.0):
                if place < room:
                    number[place, C_T, k], number[place, C_COS, k] = enters, block[_COS_IN + k]
                    word[place, C_COLUMN, k], word[place, C_FACE, k] = column, -1
                place += 1
            if place < room:
                number[place, C_T, k], number[place, C_COS, k] = leaves, block[_COS_OUT + k]
                word[place, C_COLUMN, k], word[place, C_FACE, k] = column, -1
            place += 1
            crossings.found[k] = np.int32(place)
            if place > 1:
                sort_crossings(crossings, k, min(place, room))


@jit.inlined
def _clip(block, x, y, z, d, used):
    """Clip rays by a plane n . x = d, the volume being where n . x is less."""
    zero, far = np.float32(0.0), np.float32(np.inf)
    for k in range(used):
        along = x * block[pk.B_DIRECTION_X + k] + y * block[pk.B_DIRECTION_Y + k] + z * block[pk.B_DIRECTION_Z + k]
        gap = d - (x * block[pk.B_ORIGIN_X + k] + y * block[pk.B_ORIGIN_Y + k] + z * block[pk.B_ORIGIN_Z + k])
        t = gap / along
        enters, leaves = block[_ENTERS + k], block[_LEAVES + k]
        later = (along < zero) & (t > enters)
        sooner = (along > zero) & (t < leaves)
        missed = (along == zero) & (gap < zero)
        block[_COS_IN + k] = along if later else block[_COS_IN + k]
        block[_COS_OUT + k] = along if sooner else block[_COS_OUT + k]
        block[_ENTERS + k] = far if missed else (t if later else enters)
        block[_LEAVES + k] = t if sooner else leaves
