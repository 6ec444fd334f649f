"""Reflectors as data."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.core.spec import checked
from sensorium.physics import radio


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"kind": "corner", "edge_m": 0.1}, 27.633),
        ({"kind": "plate", "width_m": 0.1, "height_m": 0.1}, 82.899),
        ({"kind": "sphere", "radius_m": 1.0}, 3.14159),
        ({"kind": "cylinder", "radius_m": 0.05, "length_m": 1.0}, 80.69),
        ({"kind": "box", "length_m": 1.0, "width_m": 0.1, "height_m": 0.1}, 82.899),
    ],
)
def test_each_kind_has_its_cross_section(data, expected):
    found = checked(radio.CrossSection, data, "cross_section")
    area = found.cross_section([[1.0, 0.0, 0.0]], wavelength_m=299792458.0 / 77e9)
    assert area.shape == (1,)
    assert area[0] == pytest.approx(expected, rel=1e-4)


def test_a_number_is_a_number_and_a_negative_one_is_refused():
    assert checked(radio.CrossSection, 10.0, "cross_section") == 10.0
    with pytest.raises(SpecError, match="cross_section is -1"):
        checked(radio.CrossSection, -1.0, "cross_section")
    with pytest.raises(SpecError, match=r"kind is 'cone'"):
        checked(radio.CrossSection, {"kind": "cone"}, "cross_section")
