import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics


def test_a_sheet_against_a_wall():
    sheet = optics.retroreflection(1.0, coefficient_per_sr=200.0)
    wall = optics.oren_nayar_monostatic(1.0, reflectance=0.5)
    assert round(float(sheet / wall)) == 1257


def test_fall_off():
    c = np.linspace(0, 1, 11)
    np.testing.assert_allclose(optics.retroreflection(c, coefficient_per_sr=200.0), 200 * c**2, rtol=1e-12)
    np.testing.assert_allclose(optics.retroreflection(c, coefficient_per_sr=2.0, exponent=0.0), 2.0)


def test_bad_input():
    with pytest.raises(SpecError, match="coefficient_per_sr is -1; it must be finite and at least 0"):
        optics.retroreflection(1.0, coefficient_per_sr=-1)
    with pytest.raises(SpecError, match="exponent is -2; it must be finite and at least 0"):
        optics.retroreflection(1.0, coefficient_per_sr=1, exponent=-2)
    with pytest.raises(SpecError, match="cos_theta is 2"):
        optics.retroreflection(2.0, coefficient_per_sr=1)
