"""Any gravity field from plain data."""

import pytest
from pydantic import TypeAdapter

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
