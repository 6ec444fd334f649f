"""What the electronics make of the light: background, shot noise, noise of their own, gain, saturation."""

import math

import numpy as np

from sensorium import jit
from sensorium.random import draw_words, normal_pair_f32
from sensorium.trace.waveform import tables as wt

# what the draws are for; part of the counter, beside those of light/shade.py and light/detect.py
STAGE_SAMPLES = np.int64(6)


@jit.function
def noise_of(number, background):
    """Root mean square of a sample without signal [W], at a background [W]: electronics, and the background's shots."""
    variance = number[wt.W_NOISE_W] * number[wt.W_NOISE_W]
    if number[wt.W_ELECTRONS_A_WATT] > np.float32(0.0):
        variance += background / number[wt.W_ELECTRONS_A_WATT]
    return math.sqrt(variance)


@jit.function
def digitise(power, samples, number, background, pads, low, high, key, element, tick, world):
    """Samples low .. high of one pulse: (P + B + noise) g, clipped to the full scale, less the level B g.

    A sample of power P holds P k electrons, k electrons a watt; its shot noise is taken as normal, of variance P / k
    in watts, and the electronics add their own. Bins count from the histogram's start, `pads` before the window.

    Args:
        power: Signal of the pulse [W], (length,).
        samples: Filled, (length,).
        number: Of `WaveformTables`.
        background: Sunlight [W].
        pads: Bins before the window.
        low, high: Bins to fill.
        key, element, tick, world: Where random numbers come from; each bin has its own.
    """
    gain, full, level = number[wt.W_GAIN], number[wt.W_FULL_SCALE], background * number[wt.W_GAIN]
    own, electrons = number[wt.W_NOISE_W], number[wt.W_ELECTRONS_A_WATT]
    shots = np.float32(1.0) / electrons if electrons > np.float32(0.0) else np.float32(0.0)
    for b in range(low, high):
        samples[b] = (power[b] + background) * gain
    if own > np.float32(0.0) or shots > np.float32(0.0):
        # Four neighbouring bins share a draw, wherever the stretch begins
        for draw in range((low - pads) // 4, (high - 1 - pads) // 4 + 1):
            w0, w1, w2, w3 = draw_words(key[0], key[1], element, STAGE_SAMPLES, draw, tick, world)
            n0, n1 = normal_pair_f32(w0, w1)
            n2, n3 = normal_pair_f32(w2, w3)
            first = 4 * draw + pads
            _add_noise(samples, power, gain, own, shots, background, first, low, high, n0)
            _add_noise(samples, power, gain, own, shots, background, first + 1, low, high, n1)
            _add_noise(samples, power, gain, own, shots, background, first + 2, low, high, n2)
            _add_noise(samples, power, gain, own, shots, background, first + 3, low, high, n3)
    if full > np.float32(0.0):
        for b in range(low, high):
            samples[b] = min(samples[b], full)
    for b in range(low, high):
        samples[b] -= level


@jit.function
def _add_noise(samples, power, gain, own, shots, background, b, low, high, normal):
    if low <= b < high:
        samples[b] += gain * normal * math.sqrt(own * own + (power[b] + background) * shots)
