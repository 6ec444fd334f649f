import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.optics.detection.capture_table import captured_from_table
from sensorium.runtime import jit

DISTANCES = np.concatenate([[0.0], np.logspace(-3, 4, 3000)]).astype(np.float32)


@jit.kernel
def read(table, z, inverse_z0, out):
    for i in range(z.size):
        out[i] = captured_from_table(table, z[i], inverse_z0)


def from_table(table, z):
    out = np.zeros_like(z)
    read(table.values, z, z.dtype.type(table.inverse_z0), out)
    return out


BEAMS = [
    {"detector_radius_m": 0.01, "exit_radius_m": 0.01, "half_divergence_rad": 1.5e-3},
    {"detector_radius_m": 0.01, "exit_radius_m": 0.0, "half_divergence_rad": 1.5e-3},
    {"detector_radius_m": 0.1, "exit_radius_m": 0.001, "half_divergence_rad": 1e-4},
    {"detector_radius_m": 0.01, "detector_offset_m": 0.02, "exit_radius_m": 0.005, "half_divergence_rad": 1.5e-3},
    {"detector_radius_m": 0.0042, "detector_offset_m": 0.03, "exit_radius_m": 0.0042, "half_divergence_rad": 2.25e-3},
    {"detector_radius_m": 0.01, "exit_radius_m": 0.002, "half_divergence_rad": 2.4e-3, "half_divergence_y_rad": 2.6e-4},
    {"detector_radius_m": 0.01, "detector_offset_m": 0.03, "exit_radius_m": 0.004, "half_divergence_rad": 2.6e-4,
     "half_divergence_y_rad": 2.4e-3},
    {"detector_radius_m": 0.02, "exit_radius_m": 0.01, "half_divergence_rad": 1.5e-3, "model": "agx"},
    {"detector_radius_m": 0.1, "detector_offset_m": 0.005, "exit_radius_m": 0.001, "half_divergence_rad": 1e-3,
     "model": "agx"},
]  # fmt: skip


@pytest.mark.parametrize("beam", BEAMS)
def test_float32_and_straight_lines_keep_four_digits(beam):
    exact = optics.captured_fraction(DISTANCES.astype(np.float64), **beam)
    table = from_table(optics.capture_table(**beam), DISTANCES)
    assert table.dtype == np.float32
    np.testing.assert_array_less(np.abs(table - exact), 1e-4 * np.maximum(exact, 1e-6 * exact.max()))


def test_float64_reads_the_same_table():
    table = optics.capture_table(**BEAMS[0])
    exact = optics.captured_fraction(DISTANCES.astype(np.float64), **BEAMS[0])
    np.testing.assert_allclose(from_table(table, DISTANCES.astype(np.float64)), exact, rtol=5e-5)


def test_nothing_comes_back_from_infinity():
    table = optics.capture_table(**BEAMS[0])
    assert from_table(table, np.array([np.inf], np.float32)) == 0.0


def test_a_detector_on_the_axis_needs_a_small_table():
    assert optics.capture_table(**BEAMS[0]).values.shape == (257,)
    assert optics.capture_table(**BEAMS[0]).values.dtype == np.float32


def test_bad_input():
    with pytest.raises(SpecError, match=r"half_divergence_rad is 0.0; for a table it must be above 0"):
        optics.capture_table(**{**BEAMS[0], "half_divergence_rad": 0.0})
    with pytest.raises(SpecError, match="detector_radius_m is -1; it must be finite and above 0"):
        optics.capture_table(**{**BEAMS[0], "detector_radius_m": -1})
    with pytest.raises(SpecError, match="the agx model knows round beams only"):
        optics.capture_table(**BEAMS[5], model="agx")
    with pytest.raises(SpecError, match="lengths or angles differ too much"):
        optics.capture_table(**{**BEAMS[0], "half_divergence_rad": 1e-7, "half_divergence_y_rad": 0.1})
