"""Numbers of a depth image from true distances: noise, limits, dropout, unit.

The order is that of the specification: noise, limits, dropout, normalizing, so that a dropped pixel's value survives.
Noise is r' = r + k r N(0, 1).
"""

import numpy as np

from sensorium.random import draw_words, normal_pair_f32, uniform_f32
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK

# Constants of a camera: limits [m], values beyond them and for dropped pixels, in the image's unit, the factor on
# distances [1 or 1/m], noise relative to the distance [1], and the probability of dropout [1]
NEAREST, FARTHEST, NEAR, FAR, DROPPED, SCALE, NOISE, DROPOUT = range(8)
MEASURE_COLUMNS = 8

# Stage of the counter, and its only draw: two words for noise, one for dropout
STAGE_MEASURE = np.int64(1)
_DRAW = np.int64(0)

_ZERO, _ONE, _INFINITE = np.float32(0.0), np.float32(1.0), np.float32(np.inf)

# rows of the scratch
M_RANGE, M_SHOWN = 0, BLOCK


@jit.function
def new_measured():
    """Scratch of a block: measured ranges, 0 without a measurement, and the values shown there."""
    return np.zeros(2 * BLOCK, np.float32)


@jit.function
def measure_block(distance, place, numbers, key, tick, element, world, used, measured):
    """Measure the distances of a block.

    Args:
        distance: True ones [m], infinite without a hit, 0 where an error left no measurement, float32 (used,).
        place: Pixel of each ray, uint32 (used,).
        numbers: Columns as above, float32.
        key: Of the sensor's stream, uint32 (2,); tick: number of the image.
        element: Number of the head's first pixel among those of its world; world: its number.
        used: Rays of the block.
        measured: Scratch of `new_measured`, filled.
    """
    nearest, farthest = numbers[NEAREST], numbers[FARTHEST]
    near, far, dropped = numbers[NEAR], numbers[FAR], numbers[DROPPED]
    if numbers[NOISE] == _ZERO and numbers[DROPOUT] == _ZERO:
        for k in range(used):
            r = distance[k]
            kept = (r >= nearest) & (r <= farthest) & (r > _ZERO)
            measured[M_RANGE + k] = r if kept else _ZERO
            measured[M_SHOWN + k] = dropped if r == _ZERO else near if r < nearest else far
        return
    for k in range(used):
        w0, w1, w2, _ = draw_words(key[0], key[1], element + place[k], STAGE_MEASURE, _DRAW, tick, world)
        normal, _ = normal_pair_f32(w0, w1)
        true = distance[k]
        r = true * (_ONE + numbers[NOISE] * normal) if true < _INFINITE else true
        lost = (true == _ZERO) | (uniform_f32(w2) < numbers[DROPOUT])
        kept = (r >= nearest) & (r <= farthest) & (r > _ZERO) & (not lost)
        measured[M_RANGE + k] = r if kept else _ZERO
        measured[M_SHOWN + k] = dropped if lost else near if r < nearest else far


@jit.function
def write_true(distance, place, used, out):
    """True distances of a block's pixels."""
    for k in range(used):
        out[place[k]] = distance[k]


@jit.function
def write_range(measured, place, scale, used, out):
    """The range image of a block's pixels."""
    for k in range(used):
        r = measured[M_RANGE + k]
        out[place[k]] = r * scale if r > _ZERO else measured[M_SHOWN + k]


@jit.function
def write_depth(measured, axial, place, scale, used, out):
    """The depth image of a block's pixels; axial is depth over range."""
    for k in range(used):
        r = measured[M_RANGE + k]
        out[place[k]] = r * axial[k] * scale if r > _ZERO else measured[M_SHOWN + k]


@jit.function
def write_points(measured, x, y, z, place, scale, used, out):
    """Points of a block's pixels in the sensor frame, from its directions there; zeros where nothing was measured."""
    for k in range(used):
        p, r = place[k], measured[M_RANGE + k] * scale
        out[p, 0], out[p, 1], out[p, 2] = r * x[k], r * y[k], r * z[k]


@jit.function
def write_points_in_world(block, measured, place, anchor, used, out):
    """The same in the world, from the block's rays, which count from the anchor."""
    for k in range(used):
        p, r = place[k], measured[M_RANGE + k]
        for i in range(3):
            at = block[pk.B_ORIGIN_X + i * BLOCK + k] + r * block[pk.B_DIRECTION_X + i * BLOCK + k]
            out[p, i] = anchor[i] + at if r > _ZERO else 0.0
