"""What the electronics make of the light: background, shot noise, noise of their own, gain, saturation."""

import math

import numpy as np

from sensorium import jit
from sensorium.random import draw_words, normal_pair_f32
from sensorium.trace.waveform import tables as wt

# what the draws are for; part of the counter, beside those of light/shade.py and light/detect.py
STAGE_SAMPLES = np.int64(6)

# Bins that share a draw, and draws made together: as many as vectors hold
_A_DRAW, _TOGETHER = 4, 8


@jit.inlined
def noise_of(number, background):
    """Root mean square of a sample without signal [W], at a background [W]: electronics, and the background's shots."""
    variance = number[wt.W_NOISE_W] * number[wt.W_NOISE_W]
    if number[wt.W_ELECTRONS_A_WATT] > np.float32(0.0):
        variance += background / number[wt.W_ELECTRONS_A_WATT]
    return math.sqrt(variance)


@jit.function
def new_samples(length):
    """Room for samples and normal numbers of a histogram's length, and a little more: draws are made together."""
    return np.zeros(length, np.float32), np.zeros(length + 2 * _A_DRAW * _TOGETHER, np.float32)


@jit.inlined
def digitise(power, p, samples, normals, number, background, pads, low, high, key, element, tick, world):
    """Samples low .. high of one pulse: (P + B + noise) g, clipped to the full scale, less the level B g.

    A sample of power P holds P k electrons, k electrons a watt; its shot noise is taken as normal, of variance P / k
    in watts, and the electronics add their own. Bins count from the histogram's start, `pads` before the window.

    Args:
        power: Signal of pulses [W], (pulses, length); p: the pulse.
        samples, normals: Of `new_samples`; the first is filled.
        number: Of `WaveformTables`.
        background: Sunlight [W].
        pads: Bins before the window.
        low, high: Bins to fill, none before the window.
        key, element, tick, world: Where random numbers come from; each bin has its own, whoever else is filled.
    """
    gain, full = number[wt.W_GAIN], number[wt.W_FULL_SCALE]
    own, electrons = number[wt.W_NOISE_W], number[wt.W_ELECTRONS_A_WATT]
    shots = np.float32(1.0) / electrons if electrons > np.float32(0.0) else np.float32(0.0)
    for b in range(low, high):
        samples[b] = power[p, b] + background
    if own > np.float32(0.0) or shots > np.float32(0.0):
        first = (low - pads) // _A_DRAW
        draws = -(-((high - pads + _A_DRAW - 1) // _A_DRAW - first) // _TOGETHER) * _TOGETHER
        for i in range(draws):
            w0, w1, w2, w3 = draw_words(key[0], key[1], element, STAGE_SAMPLES, first + i, tick, world)
            n0, n1 = normal_pair_f32(w0, w1)
            n2, n3 = normal_pair_f32(w2, w3)
            normals[4 * i], normals[4 * i + 1], normals[4 * i + 2], normals[4 * i + 3] = n0, n1, n2, n3
        before = pads + _A_DRAW * first
        for b in range(low, high):
            samples[b] += normals[b - before] * math.sqrt(own * own + samples[b] * shots)
    full = full if full > np.float32(0.0) else np.float32(np.inf)
    for b in range(low, high):
        samples[b] = min(samples[b] * gain, full) - background * gain
