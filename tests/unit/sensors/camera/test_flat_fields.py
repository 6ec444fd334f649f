"""Flat fields: mean and variance of the pixel's model, the pattern that stays, and saturation."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.imaging import PixelNoise
from sensorium.random import Stream
from sensorium.sensors.camera.camera import Adc
from sensorium.sensors.camera.flat_fields import FlatFields

NOISE = PixelNoise(read_noise_e=8.0, dark_current_e_s=100.0, prnu=0.02, dsnu_e=5.0)


def fields(shape=(200, 300)):
    adc = Adc(bits=12, gain_dn_e=0.25, black_dn=30.0)
    return FlatFields(NOISE, adc, full_well_e=12_000.0, shape=shape, stream=Stream(3, "flats"))


def test_mean_variance_and_pattern_are_those_of_the_model():
    chip = fields()
    a, b = (chip.codes(4000.0, exposure_s=0.5, tick=tick).astype(float) for tick in (0, 1))
    assert a.mean() == pytest.approx(0.25 * 4050.0 + 30.0, rel=1e-3)
    assert np.var(a - b) / 2.0 == pytest.approx(0.25**2 * (4050.0 + 64.0) + 1 / 12, rel=0.03)
    assert np.cov(a.ravel(), b.ravel())[0, 1] == pytest.approx(0.25**2 * (80.0**2 + 25.0), rel=0.03)


def test_bright_pixels_are_at_the_full_well():
    codes = fields().codes(40_000.0, exposure_s=0.5, tick=0)
    assert codes.shape == (200, 300)
    assert np.unique(codes).tolist() == [0.25 * 12_000 + 30]


def test_the_same_tick_gives_the_same_image():
    one, other = fields(), fields()
    np.testing.assert_array_equal(one.codes(50.0, exposure_s=0.0, tick=7), other.codes(50.0, exposure_s=0.0, tick=7))


def test_light_is_a_number():
    with pytest.raises(SpecError, match="electrons is nan"):
        fields((2, 2)).codes(np.nan, exposure_s=0.1, tick=0)
