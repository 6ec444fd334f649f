"""Spectra: linear between their points, an error outside of them."""

import copy
import pickle

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.optics.spectra import Spectrum, checked_wavelength, extremes

PAIRS = ((532e-9, 0.070), (905e-9, 0.106), (1550e-9, 0.136))


def test_pairs_and_columns_are_the_same():
    columns = Spectrum(wavelength_m=(532e-9, 905e-9, 1550e-9), value=(0.070, 0.106, 0.136))
    assert Spectrum.model_validate(PAIRS) == columns
    assert Spectrum.model_validate([list(pair) for pair in PAIRS]) == columns
    assert Spectrum.model_validate(columns.model_dump()) == columns


def test_points_are_met_and_lines_join_them():
    spectrum = Spectrum.model_validate(PAIRS)
    for wavelength_m, value in PAIRS:
        assert spectrum.at(wavelength_m) == value
    assert spectrum.at(0.25 * 532e-9 + 0.75 * 905e-9) == pytest.approx(0.25 * 0.070 + 0.75 * 0.106, rel=1e-12)


def test_rounding_at_the_ends_is_forgiven():
    assert 1550 * 1e-9 > 1550e-9
    assert Spectrum.model_validate(PAIRS).at(1550 * 1e-9) == 0.136


@pytest.mark.parametrize("wavelength_m", [531e-9, 1551e-9, float("nan")])
def test_outside_is_an_error_that_names_the_range(wavelength_m):
    with pytest.raises(SpecError, match=r"reflectance is asked for at .* nm; its spectrum covers 532 to 1550 nm"):
        Spectrum.model_validate(PAIRS).at(wavelength_m, "reflectance")


def test_integral_of_straight_lines():
    spectrum = Spectrum.model_validate(((400e-9, 0.0), (500e-9, 1.0), (600e-9, 1.0)))
    assert spectrum.integral(400e-9, 600e-9) == pytest.approx(150e-9, rel=1e-12)
    assert spectrum.integral(450e-9, 550e-9) == pytest.approx(37.5e-9 + 50e-9, rel=1e-12)
    parts = spectrum.integral(410e-9, 520e-9) + spectrum.integral(520e-9, 590e-9)
    assert spectrum.integral(410e-9, 590e-9) == pytest.approx(parts, rel=1e-12)


@pytest.mark.parametrize(
    ("pairs", "rule"),
    [
        ((), "it must be pairs"),
        ((905e-9, 0.1), "it must be pairs"),
        (((905e-9, 0.1), (905e-9, 0.2)), "it must increase"),
        (((905e-9, -0.1),), "must not be negative"),
        (((905.0, 0.1),), "wavelength_m is 905.0"),
        (((905e-9, float("nan")),), "finite number"),
    ],
)
def test_bad_tables_are_refused(pairs, rule):
    with pytest.raises(SpecError, match=rule):
        Spectrum.model_validate(pairs)


def test_columns_must_be_of_one_length():
    with pytest.raises(SpecError, match="2 wavelengths and 1 values"):
        Spectrum(wavelength_m=(500e-9, 600e-9), value=(0.1,))


def test_wavelengths_in_nanometers_or_micrometers_are_refused():
    assert checked_wavelength(905e-9) == 905e-9
    for slip in (905.0, 0.905, 0.0, float("nan"), float("inf")):
        with pytest.raises(SpecError, match=r"must be between 1e-07 and 0.0001 meters"):
            checked_wavelength(slip)


def test_a_spectrum_stays_a_value_after_use():
    used, fresh = Spectrum.model_validate(PAIRS), Spectrum.model_validate(PAIRS)
    used.at(905e-9)
    used.integral(600e-9, 700e-9)
    assert used == fresh
    assert hash(used) == hash(fresh)
    assert pickle.loads(pickle.dumps(used)) == copy.deepcopy(used) == fresh


def test_extremes():
    assert extremes(0.3) == (0.3, 0.3)
    assert extremes(Spectrum.model_validate(PAIRS)) == (0.070, 0.136)
