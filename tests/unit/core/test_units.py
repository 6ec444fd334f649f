import math

import pytest

from sensorium.core.units import FLOOR, SIGNALS, plain


@pytest.mark.parametrize(
    ("unit", "expected"), [("µg", "ug"), ("m / s^2", "m/s^2"), ("°/hr", "deg/h"), ("gauss", "G"), ("kg", "kg")]
)
def test_spellings(unit, expected):
    assert plain(unit) == expected


def test_units_of_one_quantity_agree():
    assert SIGNALS["deg/s"][1] == pytest.approx(3600.0 * SIGNALS["deg/h"][1])
    assert SIGNALS["g"][1] == pytest.approx(1e6 * SIGNALS["ug"][1])
    assert SIGNALS["G"][1] == pytest.approx(100.0 * SIGNALS["uT"][1])
    assert SIGNALS["mG"][1] == pytest.approx(1000.0 * SIGNALS["uG"][1])


def test_the_floor_of_an_allan_plot():
    assert pytest.approx(0.664282, abs=1e-6) == FLOOR
    assert pytest.approx(2.0 * math.log(2.0) / math.pi) == FLOOR**2
