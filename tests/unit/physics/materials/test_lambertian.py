"""A matt surface, through the optics kernels use."""

import math

import pytest

from sensorium.physics.materials import Lambertian
from sensorium.physics.materials.row import FIXED_R, INNER_INDEX, KIND, R0, SURFACE


@pytest.mark.parametrize(("angle_deg", "value"), [(0.0, 0.159155), (30.0, 0.137832), (60.0, 0.079577)])
def test_reference_values(angle_deg, value, monostatic):
    row = Lambertian(reflectance=0.5).row(905e-9)
    assert monostatic(row, angle_deg) == pytest.approx(value, abs=5e-7)
    assert monostatic(row, angle_deg) == pytest.approx(0.5 / math.pi * math.cos(math.radians(angle_deg)), rel=1e-12)


def test_it_has_no_gloss():
    row = Lambertian(reflectance=0.5).row(905e-9)
    assert row[R0] == 0.0
    assert row[KIND] == SURFACE
    assert row[FIXED_R] == -1.0
    assert row[INNER_INDEX] == 1.0
