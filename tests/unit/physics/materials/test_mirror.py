"""A mirror of fixed reflectance."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.materials import Mirror
from sensorium.physics.materials.row import ALPHA2, FIXED_R, KIND, R0, SURFACE, C


def test_the_reflectance_holds_at_every_angle():
    row = Mirror(reflectance=0.92).row(905e-9)
    assert row[FIXED_R] == row[R0] == 0.92
    assert row[ALPHA2] == pytest.approx(2e-8)
    assert (row[KIND], row[C]) == (SURFACE, 0.0)


def test_the_reflectance_may_be_a_spectrum():
    row = Mirror(reflectance=((900e-9, 0.8), (1000e-9, 0.9))).row(950e-9)
    assert row[FIXED_R] == row[R0] == pytest.approx(0.85)


def test_a_rough_mirror_is_none():
    with pytest.raises(SpecError, match=r"roughness is 0.3; it must be less than or equal to 0.05"):
        Mirror(reflectance=0.9, roughness=0.3)
    with pytest.raises(SpecError, match=r"is 1.01; it must be less than or equal to 1"):
        Mirror(reflectance=1.01)
