"""A pane as one sheet."""

import math

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.materials import ThinGlass
from sensorium.physics.materials.row import FIXED_R, INNER_INDEX, KIND, PANE, PANE_OPL, PANE_TAU, R0, N
from sensorium.physics.optics import pane


def test_reference_values_of_a_clear_pane():
    row = ThinGlass(refractive_index=1.5, thickness_m=0.004).row(905e-9)
    assert row[KIND] == PANE
    assert row[R0] == pytest.approx(0.076923, abs=5e-7)
    transmitted, reflected = pane(1.0, n=row[N], optical_depth=row[PANE_TAU])
    assert transmitted == pytest.approx(0.923077, abs=5e-7)
    assert transmitted**2 == pytest.approx(0.852071, abs=5e-7)
    assert reflected == row[R0]
    assert row[PANE_OPL] == pytest.approx(0.5 * 0.004)
    assert (row[FIXED_R], row[INNER_INDEX]) == (-1.0, 1.0)


def test_absorption_inside():
    row = ThinGlass(refractive_index=1.5, thickness_m=0.01, absorption_per_m=((9e-7, 40.0), (1e-6, 60.0))).row(950e-9)
    assert row[PANE_TAU] == pytest.approx(0.5)
    a, face = math.exp(-0.5), 0.04
    assert row[R0] == pytest.approx(face + (1 - face) ** 2 * a**2 * face / (1 - face**2 * a**2), rel=1e-12)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"refractive_index": 0.99}, "refractive_index is 0.99; a dielectric has at least 1"),
        ({"thickness_m": -0.001}, "greater than or equal to 0"),
        ({"absorption_per_m": -1.0}, "greater than or equal to 0"),
        ({"roughness": 0.06}, "less than or equal to 0.05"),
    ],
)
def test_what_cannot_be_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        ThinGlass(**fields)
