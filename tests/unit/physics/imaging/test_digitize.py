"""Gain, converter, gamma and rounding."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.imaging import digitized

RAMP = np.linspace(0.0, 12_000.0, 1200, dtype=np.float32)[:, None]


def test_full_well_is_full_scale_and_everything_above_is_white():
    image, codes = digitized(RAMP, gain=(1.0,), full_well_e=10_000, bits=8)
    assert codes is None
    assert image.dtype == np.uint8
    np.testing.assert_array_equal(image[:, 0], np.rint(np.clip(RAMP[:, 0] / np.float32(1e4), 0, 1) * np.float32(255)))


def test_gamma_of_a_half_brightens_shadows_and_leaves_the_ends():
    plain, _ = digitized(RAMP, gain=(1.0,), full_well_e=10_000, bits=8)
    bright, _ = digitized(RAMP, gain=(1.0,), full_well_e=10_000, bits=8, gamma=0.5)
    assert (bright >= plain).all()
    assert bright[0] == 0
    assert bright[-1] == 255
    assert bright[250] == round(255 * float(RAMP[250, 0] / 1e4) ** 0.5)


def test_gain_may_differ_between_bands():
    image, _ = digitized(np.full((4, 3), 1001.0, np.float32), gain=(1.0, 2.0, 0.5), full_well_e=10_000, bits=16)
    np.testing.assert_array_equal(image, np.tile(np.rint([6560.05, 13120.1, 3280.03]), (4, 1)))


def test_a_converter_rounds_before_gamma_and_keeps_its_codes():
    image, codes = digitized(RAMP, gain=(1.0,), full_well_e=10_000, bits=8, adc_bits=4, black_dn=1.0)
    assert codes.max() == 15
    assert codes[0] == 1
    assert len(np.unique(image)) == 15
    assert image[0] == 0
    linear, codes = digitized(RAMP, gain=(1.0,), full_well_e=10_000, bits=12, adc_bits=12)
    np.testing.assert_array_equal(linear, codes)


def test_too_many_bits_are_refused():
    with pytest.raises(SpecError, match="bits is 17; an image has 1 to 16"):
        digitized(RAMP, gain=(1.0,), full_well_e=1.0, bits=17)
