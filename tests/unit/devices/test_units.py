"""Each conversion of data-sheet units and meanings against a number worked by hand."""

import math

import pytest

from sensorium.core.errors import SpecError
from sensorium.devices.units import COUNTS, DENSITY, DIVERGENCE, SENSE, SPREAD, STABILITY, WIDTH, converted, scaled


@pytest.mark.parametrize(
    ("value", "unit", "wanted", "expected"),
    [
        # VN-100: 0.14e-3 * 9.80665
        (0.14, "mg/sqrt(Hz)", "m/s^2/sqrt(Hz)", 1.372931e-3),
        (140.0, "ug/sqrt(Hz)", "m/s^2/sqrt(Hz)", 1.372931e-3),
        (140.0, "µg/sqrt(Hz)", "m/s^2/sqrt(Hz)", 1.372931e-3),
        # 0.0035 * pi / 180
        (0.0035, "deg/s/sqrt(Hz)", "rad/s/sqrt(Hz)", 6.108652e-5),
        (140.0, "uG/sqrt(Hz)", "T/sqrt(Hz)", 1.4e-8),
        # 10 * pi / 180 / 3600
        (10.0, "deg/h", "rad/s", 4.848137e-5),
        # 0.15 * pi / 180 / 60, since a root of an hour is 60 roots of a second
        (0.15, "deg/sqrt(h)", "rad/s/sqrt(Hz)", 4.363323e-5),
        (0.012, "m/s/sqrt(h)", "m/s^2/sqrt(Hz)", 2.0e-4),
        # Codes: a g is 16384 of them, so that one is 9.80665 / 16384
        (16384.0, "LSB/g", "m/s^2", 5.985504e-4),
        (131.0, "LSB/(deg/s)", "rad/s", 1.332312e-4),
        (1090.0, "LSB/G", "T", 9.174312e-8),
        (75.0, "LSB/uT", "T", 1.333333e-8),
        (1.3, "gauss", "T", 1.3e-4),
        (4800.0, "uT", "T", 4.8e-3),
        (3.0, "mrad", "rad", 3.0e-3),
        (0.18, "deg", "rad", 3.141593e-3),
        (3.0, "mrad", "deg", 0.1718873),
        (905.0, "nm", "m", 9.05e-7),
        (55.296, "us", "s", 5.5296e-5),
        (7294.0, "rpm", "Hz", 121.566667),
        (0.444, "mm/m", "1", 4.44e-4),
        (2.0, "%", "1", 0.02),
        (2048.0, "counts/rev", "1", 2048.0),
        (100.0, "kHz", "Hz", 1e5),
    ],
)
def test_units(value, unit, wanted, expected):
    assert converted(value, unit, wanted) == pytest.approx(expected, rel=1e-6)


def test_degrees_that_stay_degrees_keep_their_bits():
    assert converted((0.1, -15.639), "deg", "deg") == (0.1, -15.639)


def test_several_numbers_are_converted_one_by_one():
    assert converted([160, 160, 190], "ug/sqrt(Hz)", "m/s^2/sqrt(Hz)") == pytest.approx(
        (1.569064e-3, 1.569064e-3, 1.863264e-3)
    )
    assert scaled((1.0, 2.0), 3.0) == (3.0, 6.0)


@pytest.mark.parametrize(
    ("unit", "wanted", "message"),
    [
        ("furlong", "m", "unit is 'furlong'; it must be one of rad/s"),
        ("mm", "rad", "unit is 'mm'; it must be one of rad, such as rad, mrad, deg"),
        ("deg/s", "rad/s/sqrt(Hz)", "such as rad/s/sqrt\\(Hz\\), mrad/s/sqrt\\(Hz\\), deg/s/sqrt\\(Hz\\)"),
        ("LSB/mm", "m", "unit is 'LSB/mm'"),
    ],
)
def test_other_units_are_refused(unit, wanted, message):
    with pytest.raises(SpecError, match=message):
        converted(1.0, unit, wanted)


def test_no_code_for_each_unit_is_no_size_of_a_code():
    for value in (0, 0.0, (16.0, 0.0)):
        with pytest.raises(SpecError, match=r"value is 0.* LSB/uT; codes for each unit must not be zero"):
            converted(value, "LSB/uT", "T")


def test_a_full_angle_is_halved():
    assert 3.0 * DIVERGENCE["full 1/e^2"] == 1.5
    assert 3.0 * DIVERGENCE["full"] == 1.5
    assert 1.5 * DIVERGENCE["half 1/e^2"] == 1.5


def test_half_power_is_narrower_than_1_over_e_squared():
    """exp(-2 r^2 / w^2) = 1/2 at r = 0.588705 w: a full 0.18 deg makes a half angle of 0.152878 deg."""
    assert 0.18 * DIVERGENCE["full FWHM"] == pytest.approx(0.152878, rel=1e-5)
    assert math.exp(-2.0 * (0.5 / DIVERGENCE["full FWHM"]) ** 2) == pytest.approx(0.5, rel=1e-12)
    assert 9.5 * WIDTH["diameter"] == 4.75
    assert 9.5 * WIDTH["diameter FWHM"] == pytest.approx(8.06856, rel=1e-5)
    assert 4.2 * WIDTH["radius 1/e^2"] == 4.2


def test_densities_of_data_sheets_are_one_sided():
    """0.15 deg/sqrt(h) is 0.0025 deg/s/sqrt(Hz) two-sided, that is 0.00353553 one-sided: an ADIS16475 prints 0.003."""
    assert DENSITY["one-sided"] == 1.0
    assert 0.15 / 60.0 * DENSITY["two-sided"] == pytest.approx(0.00353553, rel=1e-5)


def test_in_run_bias_is_the_floor_of_an_allan_plot():
    """The floor is 0.664282 B, so that 10 deg/h make B = 15.0538 deg/h."""
    assert 10.0 * STABILITY["allan floor"] == pytest.approx(15.0538, rel=1e-5)
    assert 10.0 * STABILITY["coefficient B"] == 10.0


def test_typical_accuracy_is_not_one_sigma():
    """+-3 cm without a coverage is a uniform law: 3 cm / sqrt(3) = 1.73205 cm."""
    assert 3.0 * SPREAD["limits"] == pytest.approx(1.73205, rel=1e-5)
    assert 3.0 * SPREAD["1 sigma"] == 3.0
    assert 3.0 * SPREAD["2 sigma"] == 1.5
    assert 3.0 * SPREAD["3 sigma"] == pytest.approx(1.0)


def test_senses_and_counts():
    assert 4.2 * SENSE["clockwise"] == -4.2
    assert 2048 * COUNTS["periods"] == 8192
    assert 4096 * COUNTS["counts"] == 4096
