"""Gloss over a rough base: rows against the reference values, and the rules of what may lie over what."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.materials import TwoLayer
from sensorium.physics.materials.row import (
    ALPHA2,
    LAYERING,
    LAYERINGS,
    ON_A0,
    ON_A1,
    ON_B,
    PLASTIC_FI,
    PLASTIC_N2,
    R0,
    C,
    K,
    N,
)

GLOSSY = {"refractive_index": 1.5, "roughness": 0.3, "reflectance": 0.5, "diffuse_roughness": 0.3}


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        (GLOSSY | {"layering": "agx"}, (0.159415, 0.135673, 0.098110)),
        (GLOSSY | {"layering": "two_way"}, (0.153746, 0.130020, 0.084980)),
        (GLOSSY | {"refractive_index": 1.0}, (0.147637, 0.136810, 0.100676)),
    ],
)
def test_reference_values(fields, values, monostatic):
    row = TwoLayer(**fields).row(905e-9)
    for angle_deg, value in zip((0.0, 30.0, 60.0), values, strict=True):
        assert monostatic(row, angle_deg) == pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize(
    ("k", "values"), [(0.0, (0.0176839, 0.00433528, 0.00146103)), (7.0, (0.394087, 0.0966121, 0.0325591))]
)
def test_reference_values_of_the_gloss_alone(k, values, monostatic):
    row = TwoLayer(refractive_index=1.5, extinction_coefficient=k, roughness=0.3, reflectance=0.0).row(905e-9)
    for angle_deg, value in zip((0.0, 30.0, 60.0), values, strict=True):
        assert monostatic(row, angle_deg) == pytest.approx(value, rel=3e-6)


def test_the_row_holds_the_parameters():
    row = TwoLayer(**GLOSSY).row(905e-9)
    assert (row[N], row[K], row[C]) == (1.5, 0.0, 0.5)
    assert row[R0] == pytest.approx(0.04, abs=1e-15)
    assert row[ALPHA2] == pytest.approx(2.0 * 0.3**2, rel=1e-15)
    assert row[ON_A0] == pytest.approx(1.0 - 0.5 * 0.09 / 0.42)
    assert row[ON_A1] == pytest.approx(0.17 * 0.09 / 0.22)
    assert row[ON_B] == pytest.approx(0.45 * 0.09 / 0.18)
    assert (row[LAYERING], row[PLASTIC_N2], row[PLASTIC_FI]) == (LAYERINGS["two_way"], 1.0, 0.0)


def test_plastic_counts_light_thrown_back_inside(monostatic):
    row = TwoLayer(**GLOSSY, layering="plastic").row(905e-9)
    assert row[LAYERING] == LAYERINGS["plastic"]
    assert row[PLASTIC_N2] == pytest.approx(2.25)
    assert row[PLASTIC_FI] == pytest.approx(0.596346, abs=5e-7)
    two_way = TwoLayer(**GLOSSY).row(905e-9)
    gloss = TwoLayer(**GLOSSY | {"reflectance": 0.0}).row(905e-9)
    base = monostatic(two_way, 40.0) - monostatic(gloss, 40.0)
    expected = base / (2.25 * (1.0 - 0.5 * 0.596346))
    assert monostatic(row, 40.0) - monostatic(gloss, 40.0) == pytest.approx(expected, rel=1e-6)


def test_index_and_extinction_may_be_spectra():
    metal = TwoLayer(
        refractive_index=((905e-9, 2.0), (1064e-9, 1.4)),
        extinction_coefficient=((905e-9, 8.0), (1064e-9, 10.0)),
        roughness=0.1,
        reflectance=0.0,
    )
    row = metal.row(0.5 * (905e-9 + 1064e-9))
    assert row[N] == pytest.approx(1.7)
    assert row[K] == pytest.approx(9.0)
    assert row[R0] == pytest.approx((0.7**2 + 81.0) / (2.7**2 + 81.0), rel=1e-12)
    with pytest.raises(SpecError, match="refractive_index is asked for at 1550 nm"):
        metal.row(1550e-9)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"refractive_index": 0.9}, r"refractive_index is 0.9; a dielectric has at least 1"),
        ({"refractive_index": ((9e-7, 1.2), (1e-6, 0.8))}, r"refractive_index is 0.8; a dielectric has at least 1"),
        ({"refractive_index": 0.0}, "greater than 0"),
        ({"extinction_coefficient": -0.1}, "is -0.1; it must be greater than or equal to 0"),
        ({"extinction_coefficient": 7.0}, r"extinction_coefficient is 7.0 and reflectance 0.5; above k = 0.1"),
        ({"extinction_coefficient": 7.0, "reflectance": "paint"}, r"and reflectance paint; above k = 0.1"),
        ({"extinction_coefficient": ((9e-7, 0.0), (1e-6, 0.2))}, r"extinction_coefficient is 0.2 and reflectance 0.5"),
        ({"reflectance": 0.98}, r"reflectance is 0.98 with diffuse_roughness 0.3; a rough base has at most 0.97"),
        ({"reflectance": ((9e-7, 0.5), (1e-6, 0.99))}, r"reflectance is 0.99 with diffuse_roughness 0.3"),
        ({"roughness": 0.0}, "is 0.0; it must be greater than or equal to 0.000001"),
        ({"roughness": 0.71}, "is 0.71; it must be less than or equal to 0.7"),
        ({"diffuse_roughness": -0.1}, "greater than or equal to 0"),
        ({"layering": "glued"}, "'two_way', 'agx' or 'plastic'"),
        ({"rougness": 0.3}, "rougness is 0.3; did you mean roughness"),
    ],
)
def test_what_cannot_be_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        TwoLayer(**GLOSSY | fields)


def test_the_limits_themselves_are_allowed():
    TwoLayer(refractive_index=0.16, extinction_coefficient=5.3, roughness=0.7, reflectance=0.0).row(905e-9)
    TwoLayer(refractive_index=1.5, extinction_coefficient=0.1, roughness=0.1, reflectance=0.3).row(905e-9)
    TwoLayer(refractive_index=1.5, roughness=0.1, reflectance=1.0).row(905e-9)
    assert TwoLayer(**GLOSSY).max_reflectance == 0.97
    assert TwoLayer(refractive_index=1.5, roughness=0.1, reflectance="paint").max_reflectance == 1.0
