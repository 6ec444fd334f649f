"""Coefficient files: read as they are written, and the right edition for a date."""

import datetime as dt

import pytest
from pygeomag.wmm.wmm_2025 import WMM_2025

from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.physics.fields import WorldMagneticModel, magnetic_coefficients
from sensorium.physics.fields.magnetic_coefficients import model_for


def test_the_numbers_are_those_of_the_file():
    model = model_for(2026.0)
    (epoch, name, _), table = WMM_2025
    assert (model.name, model.epoch) == (name, epoch) == ("WMM-2025", 2025.0)
    assert model.released == dt.date(2024, 11, 13)
    assert len(table) == 90
    assert model.g.shape == (13, 13)
    for n, m, *values in table:
        read = [array[n, m] for array in (model.g, model.h, model.g_rate, model.h_rate)]
        assert read == pytest.approx([value * 1e-9 for value in values], rel=1e-14, abs=0)
    assert model.g[1, 0] == pytest.approx(-29351.8e-9)


@pytest.mark.parametrize(
    ("year", "name"),
    [
        (2010.0, "WMM-2010"),
        (2014.99, "WMM-2010"),
        # The second edition of 2015 took the place of the first
        (2016.0, "WMM-2015v2"),
        (2020.0, "WMM-2020"),
        (2024.999, "WMM-2020"),
        (2025.0, "WMM-2025"),
        (2030.0, "WMM-2025"),
    ],
)
def test_the_newest_edition_made_for_the_date_is_taken(year, name):
    assert model_for(year).name == name


@pytest.mark.parametrize("year", [2009.99, 2030.01])
def test_there_is_no_model_for_other_years(year):
    with pytest.raises(SpecError, match=rf"date is {year}00 as a year; .* hold from 2010.0 to 2030.0"):
        model_for(year)


def test_without_pygeomag_the_error_says_what_to_install(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name)

    magnetic_coefficients._models.cache_clear()
    monkeypatch.setattr(magnetic_coefficients.resources, "files", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'sensorium\[earth\]'"):
        WorldMagneticModel(latitude_deg=0, longitude_deg=0, date=2026.0)
