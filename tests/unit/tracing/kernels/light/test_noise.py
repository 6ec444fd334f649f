"""Noise by light of one block: against the formula in float64."""

from collections import namedtuple

import numpy as np

from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import choose, noise, rows
from sensorium.tracing.kernels.light import tables as tb

# The part of `LightTables` that noise needs
NoiseTables = namedtuple("NoiseTables", ["number", "noise_by_range", "noise_by_reflectance", "capture"])


def test_errors_are_the_normals_times_sigma_and_empty_slots_are_left():
    rng = np.random.default_rng(7)
    block, _ = rows.new_scratch()
    x, intensity, normal = rng.uniform(0.5, 80.0, BLOCK), rng.uniform(1e-6, 0.5, BLOCK), rng.normal(size=BLOCK)
    # captured power of z0 = 2 m: A = (1 - v)^2 g(v) with a straight g
    values = np.linspace(0.3, 0.6, 33)
    number = np.zeros(tb.NUMBERS)
    number[tb.N_CALIBRATED_INDEX], number[tb.N_INVERSE_Z0], number[tb.N_POWER] = 1.1, 0.5, 7.0
    number[tb.N_NOISE_BASE], number[tb.N_NOISE_SLOPE], number[tb.N_NOISE_SQUARE] = 0.01, 1e-3, 1e-5
    number[tb.N_NOISE_SIGNAL] = 3e-6
    places, factors = np.log([0.01, 0.2, 3.0]), np.array([4.0, 2.0, 0.5])
    ranges, growth = np.array([2.0, 30.0, 40.0]), np.array([0.5, 1.5, 1.0])
    light = NoiseTables(
        number.astype(np.float32),
        np.stack([ranges, growth]).astype(np.float32),
        np.stack([places, factors]).astype(np.float32),
        values.astype(np.float32),
    )
    floats, _ = choose.new_slots(2)
    slot = choose.FLOATS_A_SLOT
    there = rng.random(BLOCK) < 0.8
    floats[slot + choose.KEY : slot + choose.KEY + BLOCK] = np.where(there, 1.0, choose.NONE)
    floats[slot + choose.OPL : slot + choose.OPL + BLOCK] = 1.1 * x
    floats[slot + choose.INTENSITY : slot + choose.INTENSITY + BLOCK] = intensity
    block[rows.NORMAL_2 : rows.NORMAL_2 + BLOCK] = normal
    noise.scale_noise(block, floats, light, 1, np.int64(rows.NORMAL_2), BLOCK)

    rest = 1.0 / (1.0 + 0.5 * x)
    white = np.interp(1.0 - rest, np.linspace(0.0, 1.0, 33), values) * rest**2 * 7.0 / np.pi
    factor = np.interp(np.log(intensity / white), places, factors) * np.interp(x, ranges, growth)
    sigma = np.sqrt((factor * (0.01 + 1e-3 * x + 1e-5 * x**2)) ** 2 + 3e-6 / intensity)
    expected = np.where(there, sigma * normal, normal)
    np.testing.assert_allclose(block[rows.NORMAL_2 : rows.NORMAL_2 + BLOCK], expected, rtol=2e-4)
