from collections import namedtuple

import numpy as np
import pytest

from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import choose, rows, write
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.labels import LabelTables

# The part of `LightTables` that ranges need
NoiseTables = namedtuple("NoiseTables", ["number", "noise_by_range", "noise_by_reflectance", "capture"])


def finish(opl, normal, drop, **numbers):
    """Ranges of one block, and the causes that are left."""
    block, _ = rows.new_scratch()
    number = np.zeros(tb.NUMBERS, np.float32)
    number[tb.N_CALIBRATED_INDEX], number[tb.N_MOST] = 1.0, 1e6
    for name, value in numbers.items():
        number[getattr(tb, f"N_{name}")] = value
    floats, words = choose.new_slots(1)
    floats[choose.KEY : choose.KEY + BLOCK] = floats[choose.INTENSITY : choose.INTENSITY + BLOCK] = 0.5
    floats[choose.OPL : choose.OPL + BLOCK] = opl
    words[choose.CAUSE : choose.CAUSE + BLOCK] = tb.BY_SURFACE
    block[rows.NORMAL : rows.NORMAL + BLOCK], block[rows.DROPOUT : rows.DROPOUT + BLOCK] = normal, drop
    range_m, intensity, none = np.zeros(BLOCK, np.float32), np.zeros(BLOCK, np.float32), np.zeros(0, np.uint8)
    light = NoiseTables(number, *np.zeros((2, 2, 0), np.float32), np.zeros(2, np.float32))
    write.finish_ranges(block, floats, light, 0, rows.NORMAL, range_m, intensity, BLOCK)
    cause, ids = np.zeros(BLOCK, np.uint8), np.zeros((4, BLOCK), np.int32)
    labels = LabelTables(np.zeros((1, 1), np.int32), np.full((1, 1), -1), np.zeros(0, np.int32))
    write.write_returns(block, words, labels, 0, 0, BLOCK, cause, none, ids[0], ids[1], ids[2], ids[3])
    assert ((ids[[0, 1, 3]] == -1) | (cause != tb.NO_CAUSE)).all()
    return range_m, cause, intensity


RNG = np.random.default_rng(2)
OPL, NORMAL, DROP = RNG.uniform(5, 200, BLOCK), RNG.normal(size=BLOCK), RNG.uniform(size=BLOCK)


def test_noise_and_bias_along_the_ray():
    numbers = {"NOISE_BASE": 0.01, "NOISE_SLOPE": 1e-3, "NOISE_SQUARE": 1e-5, "BIAS": -0.4, "CALIBRATED_INDEX": 1.25}
    range_m, cause, _ = finish(OPL, NORMAL, DROP, **numbers)
    x = OPL / 1.25
    np.testing.assert_allclose(range_m, x - 0.4 + (0.01 + 1e-3 * x + 1e-5 * x**2) * NORMAL, rtol=1e-5)
    assert (cause == tb.BY_SURFACE).all()


def test_ranges_outside_of_the_limits_are_no_returns():
    range_m, cause, intensity = finish(OPL, NORMAL, DROP, BIAS=-100.0, NOISE_BASE=1.0, LEAST=1e-38, MOST=60.0)
    noisy = OPL - 100.0 + NORMAL
    inside = (noisy > 0.0) & (noisy <= 60.0)
    assert 0.2 < inside.mean() < 0.8
    np.testing.assert_allclose(range_m, np.where(inside, noisy, 0.0), atol=1e-4)
    np.testing.assert_array_equal(cause == tb.BY_SURFACE, inside)
    np.testing.assert_array_equal(intensity > 0.0, inside)


@pytest.mark.parametrize("dropout", [0.0, 0.3, 1.0])
def test_what_drops_out_is_emptied(dropout):
    range_m, cause, intensity = finish(OPL, NORMAL, DROP, DROPOUT=dropout)
    gone = dropout > DROP
    np.testing.assert_array_equal(cause == tb.NO_CAUSE, gone)
    np.testing.assert_array_equal(range_m == 0.0, gone)
    np.testing.assert_array_equal(intensity == 0.0, gone)
