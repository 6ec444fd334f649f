"""Simple colors for depth cameras: reflectance under one light, without shadows or gloss; `Camera` models these.

Value = 255 sqrt(c (a + (1 - a) cos)), with the reflectance c, the ambient share a, and the cosine between normal and
light: that of the sun, or of a lamp at the camera. The square root approximates a display's gamma.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT
from sensorium.tracing.kernels.geometry import rows

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_FULL = np.float32(255.0)


class Tints(NamedTuple):
    """Tables of colors."""

    material: NDArray[np.float32]  # (materials, 3) reflectance in red, green and blue
    object_material: NDArray[np.int32]  # (1 | worlds, objects) material of each object
    face_first: NDArray[np.int64]  # (1 | worlds, objects) start in face, -1 where the material says it
    face: NDArray[np.float32]  # (faces, 3) reflectance of faces whose mesh says it
    sun: NDArray[np.float32]  # (3,) towards the sun; zeros for a lamp at the camera
    around: np.float32  # share of light from all around


@jit.function
def write_color(block, hit, tints, world, place, used, out):
    """Colors of a block's pixels, uint8 (pixels, 3); black without a hit."""
    sx, sy, sz = tints.sun[0], tints.sun[1], tints.sun[2]
    shines = sx != _ZERO or sy != _ZERO or sz != _ZERO
    row = world if tints.face_first.shape[0] > 1 else 0
    for k in range(used):
        p, column = place[k], hit[rows.COLUMN + k]
        if column == NO_HIT:
            out[p, 0], out[p, 1], out[p, 2] = 0, 0, 0
            continue
        cosine = block[rows.COS + k]
        if shines:
            nx, ny, nz = block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k]
            cosine = max((nx * sx + ny * sy + nz * sz) * block[rows.SIDE + k], _ZERO)
        light = tints.around + (_ONE - tints.around) * cosine
        first = tints.face_first[row, column]
        for i in range(3):
            if first >= 0:
                c = tints.face[np.uint64(first) + hit[pk.B_FACE + k], i]
            else:
                c = tints.material[tints.object_material[row, column], i]
            out[p, i] = np.uint8(min(_FULL * np.float32(math.sqrt(c * light)) + np.float32(0.5), _FULL))
