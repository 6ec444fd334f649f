import math

import pytest

from sensorium.analysis.units import data_sheet, is_unit, si_unit
from sensorium.core.errors import SpecError


@pytest.mark.parametrize(
    ("unit", "si", "factor"),
    [
        ("rad/s", "rad/s", 1.0),
        ("deg/s", "rad/s", math.pi / 180),
        ("°/s", "rad/s", math.pi / 180),
        ("dps", "rad/s", math.pi / 180),
        ("rad s^-1", "rad/s", 1.0),
        ("deg/hr", "rad/s", math.pi / 648000),
        ("m s^-2", "m/s^2", 1.0),
        ("m/s²", "m/s^2", 1.0),
        ("g", "m/s^2", 9.80665),
        ("mg", "m/s^2", 9.80665e-3),
        ("µg", "m/s^2", 9.80665e-6),
        ("gauss", "T", 1e-4),
        ("μT", "T", 1e-6),
    ],
)
def test_units_have_their_si_unit(unit, si, factor):
    assert is_unit(unit)
    assert si_unit(unit)[0] == si
    assert si_unit(unit)[1] == pytest.approx(factor, rel=1e-12)


@pytest.mark.parametrize("unit", ["", "furlong", "kg"])
def test_other_units_are_refused(unit):
    assert not is_unit(unit)
    with pytest.raises(SpecError, match=f"unit is '{unit}'; it must be one of rad/s"):
        si_unit(unit)


def test_data_sheets_of_a_vn100():
    """0.0035 deg/s/sqrt(Hz) one-sided is 6.10865e-5 rad/s/sqrt(Hz), and sqrt(2) times the N that gives it (E-19)."""
    two_sided = 6.10865e-5 / math.sqrt(2)
    density, walk = data_sheet("rad/s", "N", two_sided)
    assert density == ("density", pytest.approx(0.0035, rel=1e-5), "°/s/√Hz")
    assert walk == ("random walk", pytest.approx(0.0035 / math.sqrt(2) * 60, rel=1e-5), "°/√h")
    density, walk = data_sheet("m/s^2", "N", 1.37293e-3 / math.sqrt(2))
    assert density == ("density", pytest.approx(140.0, rel=1e-5), "µg/√Hz")
    assert walk == ("random walk", pytest.approx(1.37293e-3 / math.sqrt(2) * 60, rel=1e-9), "m/s/√h")


def test_floors_and_walks():
    """A gyroscope of 10 deg/h of floor has B = 10 / 0.664282 deg/h."""
    assert data_sheet("rad/s", "B", math.radians(10 / 3600) / 0.664282)[0][1] == pytest.approx(10.0, rel=1e-6)
    assert data_sheet("m/s^2", "B", 9.80665e-6)[0] == ("floor", pytest.approx(0.664282, rel=1e-6), "µg")
    # 1 deg/h/sqrt(h) is 1 / 3600 / 60 deg/s/sqrt(s)
    assert data_sheet("rad/s", "K", math.radians(1 / 216000))[0] == ("rate walk", pytest.approx(1.0), "°/h/√h")
    assert data_sheet("T", "N", 1e-9)[0][1] == pytest.approx(math.sqrt(2))


def test_what_data_sheets_do_not_give():
    assert data_sheet("", "N", 1.0) == []
    assert data_sheet("rad/s", "R", 1.0) == []
