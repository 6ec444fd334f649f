"""Sums of magnetic sources, and any magnetic field from plain data."""

import datetime as dt

import numpy as np
import pytest
from pydantic import TypeAdapter

from sensorium.core.errors import SpecError
from sensorium.physics.fields import Magnetic, MagneticDipole, MagneticSum, UniformMagnetic, WorldMagneticModel

ANY = TypeAdapter(Magnetic)
EARTH = WorldMagneticModel(latitude_deg=47.0, longitude_deg=8.0, date=dt.date(2026, 3, 1))


def test_the_sum_is_the_sum():
    sources = (
        UniformMagnetic((20e-6, 0, -44e-6)),
        MagneticDipole(moment=(1, 0, 0)),
        MagneticDipole(moment=(0, 2, 0), position=(9, 9, 9)),
        EARTH,
    )
    p = np.random.default_rng(1).normal(size=(3, 4, 3))
    year_ns = 365 * 86400 * 10**9
    together = MagneticSum(sources).at(p, time_ns=year_ns)
    np.testing.assert_allclose(together, sum(source.at(p, year_ns) for source in sources), rtol=1e-14)
    nested = MagneticSum((MagneticSum(sources[:2]), MagneticSum(sources[2:])))
    np.testing.assert_allclose(nested.at(p, time_ns=year_ns), together, rtol=1e-14)


def test_two_opposite_dipoles_cancel():
    pair = MagneticSum([MagneticDipole(moment=(1, 2, 3)), MagneticDipole(moment=(-1, -2, -3))])
    np.testing.assert_array_equal(pair.at((1, 1, 1)), np.zeros(3))


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"kind": "uniform", "field_W": [0, 2e-5, -4e-5]}, UniformMagnetic((0, 2e-5, -4e-5))),
        ({"kind": "dipole", "moment": [0, 0, 1]}, MagneticDipole(moment=(0, 0, 1))),
        (
            {
                "kind": "sum",
                "sources": [{"kind": "dipole", "moment": [0, 0, 1]}, {"kind": "uniform", "field_W": [0, 0, 0]}],
            },
            MagneticSum((MagneticDipole(moment=(0, 0, 1)), UniformMagnetic((0, 0, 0)))),
        ),
        (
            {"kind": "world_magnetic_model", "latitude_deg": 47, "longitude_deg": 8, "date": "2026-03-01"},
            EARTH,
        ),
    ],
)
def test_a_kind_and_its_fields_make_the_field_and_back(data, field):
    assert ANY.validate_python(data) == field
    assert ANY.validate_json(field.model_dump_json()) == field


def test_what_is_no_source_is_refused():
    with pytest.raises(SpecError, match=r"sources is \(\); it must hold at least one field"):
        MagneticSum(())
    with pytest.raises(SpecError, match=r"MagneticSum.sources is missing"):
        MagneticSum()
    with pytest.raises(SpecError, match="'monopole'"):
        MagneticSum([{"kind": "monopole"}])
    with pytest.raises(SpecError, match=r"MagneticDipole.position"):
        MagneticSum((MagneticDipole(moment=(1, 0, 0)),)).at((0, 0, 0))
