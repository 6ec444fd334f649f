"""Measuring: what becomes of distances, in order, without and with noise."""

import numpy as np

from sensorium.tracing.kernels.depth import measure as ms

NUMBERS = np.array([0.5, 8.0, -8.0, 9.0, 0.25, 0.125, 0.0, 0.0], np.float32)
DISTANCE = np.array([0.0, 0.25, 0.5, 4.0, 8.0, 8.5, np.inf], np.float32)
PLACE = np.arange(7, dtype=np.uint32)[::-1].copy()
KEY = np.array([1, 2], np.uint32)


def measured(numbers):
    scratch = np.zeros(2 * ms.BLOCK, np.float32)
    ms.measure_block(DISTANCE, PLACE, numbers, KEY, 3, 0, 0, 7, scratch)
    return scratch


def test_each_kind_of_pixel_shows_its_value_at_its_place():
    out = np.zeros(7, np.float32)
    ms.write_range(measured(NUMBERS), PLACE, np.float32(0.125), 7, out)
    lost, near, far = 0.25, -8.0, 9.0
    # Distances are scaled; what stands for none is shown as it is
    np.testing.assert_array_equal(out[::-1], [lost, near, 0.5 / 8.0, 4.0 / 8.0, 8.0 / 8.0, far, far])
    axial = np.full(7, 0.5, np.float32)
    ms.write_depth(measured(NUMBERS), axial, PLACE, np.float32(1.0), 7, out)
    np.testing.assert_array_equal(out[::-1], [lost, near, 0.25, 2.0, 4.0, far, far])


def test_a_tiny_noise_changes_no_kind_and_dropout_overrules_all():
    noisy = NUMBERS.copy()
    noisy[ms.NOISE] = 1e-3
    scratch = measured(noisy)
    np.testing.assert_array_equal(scratch[ms.M_RANGE : ms.M_RANGE + 2], 0.0)
    np.testing.assert_allclose(scratch[ms.M_RANGE + 3], 4.0, rtol=5e-3)
    assert scratch[ms.M_RANGE + 3] != 4.0
    np.testing.assert_array_equal(scratch[ms.M_SHOWN + 5 : ms.M_SHOWN + 7], 9.0)
    noisy[ms.DROPOUT] = 1.0
    scratch = measured(noisy)
    np.testing.assert_array_equal(scratch[:7], 0.0)
    np.testing.assert_array_equal(scratch[ms.M_SHOWN : ms.M_SHOWN + 7], 0.25)
