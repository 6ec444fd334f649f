"""Returns too weak to be detected: the receiver's noise, drawn for each return, against its threshold.

A return of intensity I is detected if I + sigma g reaches k sigma, with g normal, that is with the probability Phi(I /
sigma - k). The noise sigma^2 = s_0^2 + s_1^2 rho has a part by sunlight on the surface in view, proportional to its
diffuse reflectance rho; a return of the air is seen against the surface behind it.
"""

import math

import numpy as np

from sensorium.random import draw_words, normal_pair_f32
from sensorium.runtime import jit
from sensorium.tracing.kernels.geometry.ray_errors import FIRST_DRAW
from sensorium.tracing.kernels.light import choose, rows
from sensorium.tracing.kernels.light import tables as tb

STAGE_LIMIT = np.int64(9)

_NEVER = np.float32(np.inf)

# rows that are free once surfaces are shaded
_SIGMA, _DRAWN = rows.SIN2, rows.FIXED_R


@jit.function
def least_detected(number, diffuse, strength, draws, ray, node, air):
    """Detection threshold of one return; infinite if it is certainly missed, 0 if it is certainly detected.

    Args:
        number: float32 numbers of the sensor.
        diffuse: Diffuse return of the surface straight on, rho / pi [1/sr].
        strength: Intensity of the return.
        draws: `BlockDraws`; ray: in the block.
        node: Of the path in its ray's tree.
        air: Whether the return is from the air rather than the surface.
    """
    sigma = math.sqrt(number[tb.N_LIMIT_DARK] + number[tb.N_LIMIT_SUN] * diffuse)
    ratio, reach = number[tb.N_LIMIT_RATIO], number[tb.N_LIMIT_REACH]
    if strength >= (ratio + reach) * sigma:
        return np.float32(0.0)
    if strength < max(ratio - reach, np.float32(1.0)) * sigma:
        return _NEVER
    key, tick, element, world = draws
    w0, w1, _, _ = draw_words(key[0], key[1], element + ray, STAGE_LIMIT, node, tick, world)
    g0, g1 = normal_pair_f32(w0, w1)
    return np.float32((ratio - (g1 if air else g0)) * sigma)


@jit.function
def drop_undetected(block, light, draws, slot_f, some, used):
    """Empty the first slots of rays whose first surface is not detected; `least_detected` in vectors.

    Args:
        block: Scratch, shaded.
        light: `LightTables`; draws: `BlockDraws`.
        slot_f: Slots, with the first surfaces.
        some: Scratch, int32 (BLOCK + 1,).
        used: Rays in the block.
    """
    number = light.number
    dark, sun = number[tb.N_LIMIT_DARK], number[tb.N_LIMIT_SUN]
    ratio, reach, zero = number[tb.N_LIMIT_RATIO], number[tb.N_LIMIT_REACH], np.float32(0.0)
    certain, hopeless = ratio + reach, max(ratio - reach, np.float32(1.0))

    # Decide what no draw can change; mark the others by their noise
    for k in range(used):
        strength, key = block[rows.STRENGTH + k], slot_f[choose.KEY + k]
        sigma = math.sqrt(dark + sun * block[rows.DIFFUSE_A + k])
        key = choose.NONE if strength < hopeless * sigma else key
        open_ = (strength < certain * sigma) & (key > choose.NONE)
        slot_f[choose.KEY + k], block[_SIGMA + k] = key, sigma if open_ else zero

    # Draw for the marked ones, packed together
    count = 0
    for k in range(used):
        some[count] = k
        count += np.intp(block[_SIGMA + k] > zero)
    for i in range(count):
        at = draws.element + np.int64(some[i])
        w0, w1, _, _ = draw_words(draws.key[0], draws.key[1], at, STAGE_LIMIT, FIRST_DRAW, draws.tick, draws.world)
        block[_DRAWN + i], _ = normal_pair_f32(w0, w1)
    for i in range(count):
        k = some[i]
        if block[rows.STRENGTH + k] < (ratio - block[_DRAWN + i]) * block[_SIGMA + k]:
            slot_f[choose.KEY + k] = choose.NONE
