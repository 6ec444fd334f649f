"""Range noise that more than a polynomial of range describes: by range, by signal, by the reflectance that is shown."""

import math

import numpy as np

from sensorium.physics.optics.detection.capture_table import captured_from_table
from sensorium.random import log_f32
from sensorium.runtime import jit
from sensorium.tracing.kernels.geometry.ray_errors import interpolated
from sensorium.tracing.kernels.light import choose
from sensorium.tracing.kernels.light import tables as tb

_PI = np.float32(math.pi)
_TINY = np.float32(1e-30)


@jit.function
def scale_noise(block, slot_f, light, j, normals, used):
    """Turn a row of numbers of unit variance into errors of range of return j [m].

    sigma^2 = (f(rho) g(x) (base + slope x + square x^2))^2 + N_NOISE_SIGNAL / I, with the tables f and g, the intensity
    I of the return and its reflectance rho = I over the intensity of a white diffuse target at the same range x.
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
        if light.noise_by_range.shape[1] > 0:
            sigma *= interpolated(light.noise_by_range, x)
        if light.noise_by_reflectance.shape[1] > 0:
            white = captured_from_table(light.capture, x, number[tb.N_INVERSE_Z0]) * number[tb.N_POWER] / _PI
            sigma *= interpolated(light.noise_by_reflectance, log_f32(max(intensity / max(white, _TINY), _TINY)))
        normal[k] *= math.sqrt(sigma * sigma + signal / max(intensity, _TINY))
