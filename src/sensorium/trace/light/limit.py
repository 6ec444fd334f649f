"""Returns too weak to be detected: the receiver's noise, drawn for each return, against its threshold.

A return of intensity I is detected where I + sigma g reaches k sigma, with g normal, which is with the probability
Phi(I / sigma - k). The noise sigma^2 = s_0^2 + s_1^2 rho has a part by sunlight on the surface that the receiver looks
at, in proportion to its diffuse reflectance rho; the air before a surface is seen against that surface.
"""

import math

import numpy as np

from sensorium import jit
from sensorium.random import draw_words, normal_pair_f32
from sensorium.trace.light import choose, rows, shade
from sensorium.trace.light import tables as tb

STAGE_LIMIT = np.int64(9)

_NEVER = np.float32(np.inf)


@jit.function
def least_detected(number, diffuse, strength, draws, element, node, among, air):
    """Least intensity that is detected of one return; infinite where its own has no hope, 0 where it is certain.

    Args:
        number: float32 numbers of the sensor.
        diffuse: Diffuse return of the surface straight on, rho / pi [1/sr].
        strength: Intensity of the return.
        draws, element, among: Where random numbers come from: key and sweep, ray, world.
        node: Of the path in its ray's tree.
        air: Whether the air returns it, and not the surface.
    """
    sigma = math.sqrt(number[tb.N_LIMIT_DARK] + number[tb.N_LIMIT_SUN] * diffuse)
    ratio, reach = number[tb.N_LIMIT_RATIO], number[tb.N_LIMIT_REACH]
    if strength >= (ratio + reach) * sigma:
        return np.float32(0.0)
    if strength < max(ratio - reach, np.float32(1.0)) * sigma:
        return _NEVER
    w0, w1, _, _ = draw_words(draws.key[0], draws.key[1], element, STAGE_LIMIT, node, draws.tick, among)
    g0, g1 = normal_pair_f32(w0, w1)
    return np.float32((ratio - (g1 if air else g0)) * sigma)


@jit.function
def drop_undetected(block, light, draws, element, among, slot_f, used):
    """Empty the first slots of rays whose first surface is not detected."""
    number, first = light.number, shade.FIRST_DRAW
    certain = number[tb.N_LIMIT_CERTAIN]
    for k in range(used):
        strength = block[rows.STRENGTH + k]
        if strength < certain and slot_f[choose.KEY + k] > choose.NONE:
            diffuse = block[rows.DIFFUSE_A + k]
            if strength < least_detected(number, diffuse, strength, draws, element + k, first, among, False):
                slot_f[choose.KEY + k] = choose.NONE
