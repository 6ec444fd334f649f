"""The digitizer: background, shot noise, electronic noise, gain, saturation.

A sample of power P holds n = P k electrons, with k electrons per watt. Photon counts are random, so n is the mean of a
Poisson number, and the electronics add a normal one. If their noise exceeds a few electrons the sum of the two is close
enough to normal (the skewness of the sum, n / (n + sigma^2)^1.5, is below 1/8 for every n), and one number of variance
P / k + sigma^2 is drawn. Otherwise electrons are counted.
"""

import math

import numpy as np

from sensorium.random import draw_words, normal_pair_f32, poisson_quantile, uniform_f64
from sensorium.runtime import jit
from sensorium.tracing.kernels.waveform import tables as wt

# purposes of the draws; part of the counter, beside those of light/shade.py, light/detect.py and returns.py
STAGE_SAMPLES, STAGE_SHOTS = np.int64(6), np.int64(8)

# bins that share a draw
_A_DRAW = 4

# Electrons are counted below this noise of the electronics: 2 / 3^1.5 / sigma, the largest skewness, is 1/8 there
COUNTED_BELOW_E = 16.0 / 3.0**1.5


@jit.inlined
def noise_of(number, background):
    """Root mean square of a sample without signal [W], at a background [W]: electronics, and the background's shots."""
    variance = number[wt.W_NOISE_W] * number[wt.W_NOISE_W]
    if number[wt.W_ELECTRONS_A_WATT] > np.float32(0.0):
        variance += background / number[wt.W_ELECTRONS_A_WATT]
    return math.sqrt(variance)


@jit.function
def new_draws(pulses, length):
    """Arrays for the draws of a batch: pulse and number of each, and its normal numbers."""
    most = pulses * (length // _A_DRAW + 2)
    return np.zeros(most, np.int32), np.zeros(most, np.int32), np.zeros(_A_DRAW * most, np.float32)


@jit.inlined
def plan_draws(pulse_of, draw_of, planned, k, pads, low, high):
    """Plan the draws of bins low .. high of pulse k; returns where the first bin's number will be, and how many now.

    Args:
        pulse_of, draw_of: Of `new_draws`.
        planned: Draws planned so far, of other pulses.
        k: Pulse, counted from the element that is given to `draw_normals`.
        pads: Bins before the window.
        low, high: Bins to draw for, none before the window and at least one.
    """
    first = (low - pads) // _A_DRAW
    count = (high - 1 - pads) // _A_DRAW - first + 1
    begin = np.uint32(planned)
    for i in range(np.uint32(count)):
        pulse_of[begin + i], draw_of[begin + i] = k, first + i
    return _A_DRAW * planned + (low - pads) - _A_DRAW * first, planned + count


@jit.function
def draw_normals(pulse_of, draw_of, normals, planned, draws):
    """Draw the planned numbers, pulses together, so that vectors are full; each bin has its own number.

    Args:
        pulse_of, draw_of, normals: Of `new_draws`; the last is filled.
        planned: How many draws.
        draws: `BlockDraws`, whose element is pulse 0.
    """
    key, tick, element, world = draws
    k0, k1 = key[0], key[1]
    for i in range(np.uint32(planned)):
        w0, w1, w2, w3 = draw_words(k0, k1, element + pulse_of[i], STAGE_SAMPLES, draw_of[i], tick, world)
        n0, n1 = normal_pair_f32(w0, w1)
        n2, n3 = normal_pair_f32(w2, w3)
        at = np.uint32(_A_DRAW) * np.uint32(i)
        normals[at], normals[at + np.uint32(1)] = n0, n1
        normals[at + np.uint32(2)], normals[at + np.uint32(3)] = n2, n3


@jit.inlined
def digitize(power, p, samples, normals, at, number, background, pads, low, high, key, element, tick, world):
    """Samples low .. high of one pulse: (P + B + noise) g, clipped to the full scale, less the level B g.

    Args:
        power: Signal of pulses [W], (pulses, length); p: the pulse.
        samples: Filled, (length,).
        normals: Normal numbers; that of bin `low` at place `at`.
        number: Of `WaveformTables`.
        background: Sunlight [W].
        pads: Bins before the window.
        low, high: Bins to fill, none before the window.
        key, element, tick, world: Where further random numbers come from, for electrons that are counted.
    """
    gain, full = number[wt.W_GAIN], number[wt.W_FULL_SCALE]
    own, electrons = number[wt.W_NOISE_W], number[wt.W_ELECTRONS_A_WATT]
    level, zero = background * gain, np.float32(0.0)
    full = full if full > zero else np.float32(np.inf)
    first, begin, count = np.uint32(low), np.uint32(at), np.uint32(high - low)
    if number[wt.W_COUNTED] > zero:
        _count_electrons(power, p, samples, electrons, background, pads, low, high, key, element, tick, world)
        for i in range(count):
            samples[first + i] = min((samples[first + i] + normals[begin + i] * own) * gain, full) - level
    elif own > zero or electrons > zero:
        floor, shots = own * own, np.float32(1.0) / electrons if electrons > zero else zero
        for i in range(count):
            light = power[p, first + i] + background
            noisy = light + normals[begin + i] * math.sqrt(floor + light * shots)
            samples[first + i] = min(noisy * gain, full) - level
    else:
        for i in range(count):
            samples[first + i] = min((power[p, first + i] + background) * gain, full) - level


@jit.function
def _count_electrons(power, p, samples, electrons, background, pads, low, high, key, element, tick, world):
    """Samples [W] of a Poisson number of electrons each, without the electronics' own noise."""
    for b in range(low, high):
        mean = (np.float64(power[p, b]) + background) * electrons
        w0, w1, _, _ = draw_words(key[0], key[1], element, STAGE_SHOTS, b - pads, tick, world)
        samples[b] = poisson_quantile(uniform_f64(w0, w1), mean) / electrons if mean > 0.0 else 0.0
