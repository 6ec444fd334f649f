"""Any gravity field from plain data."""

import numpy as np
import pytest
from pydantic import TypeAdapter

from sensorium.core.errors import SpecError
from sensorium.physics.fields import Gravity, J2Gravity, PointMassGravity, UniformGravity

ANY = TypeAdapter(Gravity)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"kind": "uniform", "gravity_W": [0, 0, -1.62]}, UniformGravity((0, 0, -1.62))),
        ({"kind": "uniform"}, UniformGravity()),
        ({"kind": "point_mass", "center": [0, 0, -6.4e6]}, PointMassGravity(center=(0, 0, -6.4e6))),
        (
            {"kind": "j2", "mu": 4.282837e13, "radius_m": 3396190.0, "j2": 1.96045e-3},
            J2Gravity(mu=4.282837e13, radius_m=3396190.0, j2=1.96045e-3),
        ),
    ],
)
def test_a_kind_and_its_fields_make_the_field_and_back(data, field):
    assert ANY.validate_python(data) == field
    assert ANY.validate_json(field.model_dump_json()) == field


@pytest.mark.parametrize("data", [{"kind": "dark"}, {}, {"kind": "uniform", "mu": 1.0}])
def test_what_is_no_gravity_field_is_refused(data):
    with pytest.raises(ValueError, match=r"kind|mu"):
        ANY.validate_python(data)


def test_standard_gravity_points_down():
    np.testing.assert_array_equal(UniformGravity().at((7, 8, 9)), [0, 0, -9.80665])


def test_it_is_the_same_everywhere_and_each_answer_is_one_s_own():
    field = UniformGravity((1, 2, -3))
    g_W = field.at(np.random.default_rng(0).normal(size=(4, 5, 3)))
    np.testing.assert_array_equal(g_W, np.broadcast_to([1, 2, -3], (4, 5, 3)))
    g_W[...] = 0.0
    np.testing.assert_array_equal(field.at((0, 0, 0)), [1, 2, -3])


def test_values_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match="gravity_W"):
        UniformGravity((0, 0, np.nan))
    with pytest.raises(SpecError, match="gravity_W"):
        UniformGravity((0, -9.81))
    with pytest.raises(SpecError, match=r"UniformGravity.direction"):
        UniformGravity(direction="down")


def test_it_does_not_change_once_made():
    field = UniformGravity()
    with pytest.raises(SpecError, match=r"frozen|does not change"):
        field.gravity_W = (0, 0, 0)
    assert field == UniformGravity((0, 0, -9.80665))
