"""Range noise that depends on the light of a return: by its signal, and by the reflectance that it shows."""

import math

import numpy as np

from sensorium.physics.optics.detection.capture_table import captured_from_table
from sensorium.random import log_f32
from sensorium.runtime import jit
from sensorium.tracing.kernels.light import choose
from sensorium.tracing.kernels.light import tables as tb

_PI = np.float32(math.pi)
_TINY = np.float32(1e-30)


@jit.function
def scale_noise(block, slot_f, light, j, normals, used):
    """Turn a row of numbers of unit variance into errors of range of return j [m].

    sigma^2 = (f(rho) (base + slope x + square x^2))^2 + N_NOISE_SIGNAL / I, with the intensity I of the return and its
    reflectance rho = I over the intensity of a white diffuse target at the same range x.
    """
    number = light.number
    base, slope, square = number[tb.N_NOISE_BASE], number[tb.N_NOISE_SLOPE], number[tb.N_NOISE_SQUARE]
    scale, signal = np.float32(1.0) / number[tb.N_CALIBRATED_INDEX], number[tb.N_NOISE_SIGNAL]
    slot, normal = slot_f[j * choose.FLOATS_A_SLOT :], block[normals:]
    for k in range(used):
        if slot[choose.KEY + k] == choose.NONE:
            continue
        x, intensity = slot[choose.OPL + k] * scale, slot[choose.INTENSITY + k]
        sigma = base + x * (slope + x * square)
        if light.noise_factor.shape[1] > 0:
            white = captured_from_table(light.capture, x, number[tb.N_INVERSE_Z0]) * number[tb.N_POWER] / _PI
            sigma *= _interpolated(light.noise_factor, log_f32(max(intensity / max(white, _TINY), _TINY)))
        normal[k] *= math.sqrt(sigma * sigma + signal / max(intensity, _TINY))


@jit.inlined
def _interpolated(table, at):
    """Value of a table of places, rising, and values; straight lines between, and constant beyond the ends."""
    last = table.shape[1] - 1
    if at <= table[0, 0]:
        return table[1, 0]
    for i in range(last):
        if at < table[0, i + 1]:
            share = (at - table[0, i]) / (table[0, i + 1] - table[0, i])
            return table[1, i] + share * (table[1, i + 1] - table[1, i])
    return table[1, last]
