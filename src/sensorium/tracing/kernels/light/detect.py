"""Detection from power: photons counted against noise, range noise by signal to noise, false alarms.

A return of power P gives S = P t eta_q lambda / (h c) electrons within a pulse of duration t, sunlight gives B, and the
electronics a noise of rms sigma_e. A return is detected where a Poisson draw of S + B electrons plus the electronics'
noise reaches the threshold; its range is off by a normal of (c t_r / 2) / sqrt(2 SNR), SNR = S^2 / (S + B + sigma_e^2).
A receiver without noise detects where it counts an electron or more, with the probability 1 - exp(-S), and has no
false alarms.
"""

import math

import numpy as np

from sensorium.random import draw_words, normal_pair_f32, poisson_quantile, uniform_f32, uniform_f64
from sensorium.runtime import jit
from sensorium.tracing.kernels.geometry.ray_errors import FIRST_DRAW
from sensorium.tracing.kernels.light import choose, rows
from sensorium.tracing.kernels.light import tables as tb

_STAGE_DETECT, _STAGE_FALSE = np.int64(4), np.int64(5)

# entries of LightTables.detector
D_ELECTRONS_A_WATT, D_NOISE_ELECTRONS, D_SIGMAS, D_RISE_M, D_FALSE_ALARM = range(5)
DETECTOR_NUMBERS = 5

# from here on a Poisson law is normal to within what matters
_MANY = 1000.0

# a threshold that no electron at all does not reach
_HALF_ELECTRON = 0.5


@jit.function
def detect_block(block, slots, detector, number, draws, returns, used):
    """Empty the slots of returns that are not detected, shift the others along their rays, add false alarms.

    Args:
        block: Scratch with the sunlight of each shot [W] in row AMBIENT.
        slots: `ReturnSlots`, intensities in watts.
        detector: float32 (DETECTOR_NUMBERS,), see D_ above; number: float32 numbers of the sensor.
        draws: `BlockDraws`.
        returns: How many returns of a ray are reported.
        used: Rays in the block.
    """
    slot_f, slot_i = slots
    key, tick, element, world = draws
    rate, noise = np.float64(detector[D_ELECTRONS_A_WATT]), np.float64(detector[D_NOISE_ELECTRONS])
    scale = np.float64(number[tb.N_CALIBRATED_INDEX])
    near, far = np.float64(number[tb.N_LEAST]), np.float64(number[tb.N_MOST])
    for k in range(used):
        background = rate * block[rows.AMBIENT + k]
        threshold = threshold_of(background, noise, detector[D_SIGMAS])
        seen = False
        for j in range(returns):
            f = j * choose.FLOATS_A_SLOT + k
            if slot_f[f + choose.KEY] == choose.NONE:
                continue
            signal = rate * slot_f[f + choose.INTENSITY]
            w0, w1, w2, w3 = draw_words(key[0], key[1], element + k, _STAGE_DETECT, j, tick, world)
            g0, g1 = normal_pair_f32(w2, w3)
            if counted(signal + background, w0, w1) + noise * g0 < threshold:
                slot_f[f + choose.KEY] = choose.NONE
                continue
            seen = True
            snr = signal * signal / (signal + background + noise * noise)
            slot_f[f + choose.OPL] += scale * detector[D_RISE_M] / math.sqrt(2.0 * snr) * g1

        # Noise alone may cross the threshold somewhere in an empty shot, unless a reset made the shot void
        if not seen and block[rows.UNIFORM + k] < np.float32(1.0) and background + noise > 0.0:
            w0, w1, _, _ = draw_words(key[0], key[1], element + k, _STAGE_FALSE, FIRST_DRAW, tick, world)
            power = np.float32((threshold - background) / rate)
            if uniform_f32(w0) < detector[D_FALSE_ALARM] and power >= number[tb.N_THRESHOLD]:
                opl = np.float32(scale * (near + (far - near) * uniform_f32(w1)))
                cause, zero, nobody = tb.BY_FALSE_ALARM, np.int32(0), choose.NOBODY
                choose.put(slot_f, slot_i, zero, np.int32(k), power, power, opl, cause, zero, nobody, nobody, nobody)


@jit.inlined
def threshold_of(background, noise, sigmas):
    """Electrons that a return must reach, sigmas above a background; at least one, however quiet the receiver is."""
    return max(background + sigmas * math.sqrt(background + noise * noise), _HALF_ELECTRON)


@jit.function
def counted(mean, w0, w1):
    """A Poisson draw; beyond a thousand electrons, its normal approximation."""
    if mean > _MANY:
        g0, _ = normal_pair_f32(w0, w1)
        return mean + math.sqrt(mean) * g0
    return np.float64(poisson_quantile(uniform_f64(w0, w1), mean))
