"""A closed clear body and what is inside."""

import math

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import media
from sensorium.physics.materials import Dielectric
from sensorium.physics.materials.row import ALPHA2, DIELECTRIC, INNER_INDEX, KIND, R0, C, K, N


def test_a_glass_body():
    row = Dielectric(refractive_index=1.5).row(905e-9)
    assert (row[KIND], row[N], row[K], row[INNER_INDEX], row[C]) == (DIELECTRIC, 1.5, 0.0, 1.5, 0.0)
    assert row[R0] == pytest.approx(0.04, abs=1e-15)
    assert row[ALPHA2] == pytest.approx(2e-8)

    # In and out of two faces, there and back: 0.96^4
    assert (1.0 - row[R0]) ** 4 == pytest.approx(0.849347, abs=5e-7)


def test_its_own_substance_absorbs_by_k():
    inside = Dielectric(refractive_index=1.5, extinction_coefficient=1e-6).inside(905e-9)
    assert inside.refractive_index == 1.5
    assert inside.extinction_per_m == pytest.approx(4.0 * math.pi * 1e-6 / 905e-9, rel=1e-12)
    assert inside.gamma_probability == inside.backscatter_per_m_sr == 0.0


def test_a_medium_inside_says_all_of_it():
    water = media.water(scattering_per_m=0.5)
    tank = Dielectric(medium=water)
    assert tank.inside(905e-9) == water.at(905e-9)
    assert tank.row(905e-9)[N] == tank.row(905e-9)[INNER_INDEX] == water.at(905e-9).refractive_index


def test_an_index_given_twice_must_agree():
    assert Dielectric(refractive_index=1.328, medium=media.water()).row(905e-9)[N] == pytest.approx(1.328, abs=1e-3)
    wrong = Dielectric(refractive_index=1.5, medium=media.water())
    for ask in (wrong.row, wrong.inside):
        with pytest.raises(SpecError, match=r"refractive_index is 1.5 and that of the medium inside 1.32\d* at 905 nm"):
            ask(905e-9)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"refractive_index": 0.9}, r"refractive_index is 0.9; a dielectric has at least 1"),
        (
            {"refractive_index": 1.5, "extinction_coefficient": 0.2},
            r"extinction_coefficient is 0.2; a transparent",
        ),
        ({}, "a dielectric needs one of them"),
        ({"medium": media.water(), "extinction_coefficient": 1e-6}, "with a medium it must be 0"),
        ({"refractive_index": 1.5, "roughness": 0.1}, "less than or equal to 0.05"),
    ],
)
def test_what_cannot_be_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        Dielectric(**fields)
