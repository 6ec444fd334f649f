"""The library: everything loads, says where it comes from, and gives the published values back."""

import inspect
import json

import pytest

from sensorium.core.errors import SpecError
from sensorium.core.spec import checked
from sensorium.physics import materials
from sensorium.physics.materials.library import GRADES, Material, name_of
from sensorium.physics.materials.row import FIXED_R, R0, RETRO, C, K, N

LIDAR_WAVELENGTHS_M = (850e-9, 865e-9, 905e-9, 1064e-9, 1550e-9)
COLORS_M = (450e-9, 532e-9, 650e-9)


@pytest.mark.parametrize("name", materials.names())
def test_every_material_works_at_every_lidar_wavelength(name):
    entry = materials.describe(name)
    for wavelength_m in LIDAR_WAVELENGTHS_M:
        row = entry.material.row(wavelength_m)
        assert 0.0 <= row[C] <= 1.0
        assert 0.0 <= row[R0] < 1.0
        assert row[R0] + row[C] + row[RETRO] > 0.0


@pytest.mark.parametrize("name", materials.names())
def test_every_material_says_where_it_comes_from(name):
    entry = materials.describe(name)
    assert entry.grade in GRADES
    assert len(entry.source) > 20
    assert set(entry.estimated) <= set(type(entry.material).model_fields)
    if entry.grade == "M":
        assert entry.source.startswith("estimate")
        assert entry.estimated
    for part in (name, entry.description, entry.source, GRADES[entry.grade], *entry.estimated):
        assert part in str(entry)


@pytest.mark.parametrize("name", materials.names())
def test_every_material_survives_as_plain_data(name):
    material = materials.load(name)
    assert checked(materials.Material, material.model_dump(), name) == material
    assert checked(materials.Material, json.loads(material.model_dump_json()), name) == material


def test_one_name_is_one_object():
    assert materials.load("asphalt") is materials.load("asphalt")


@pytest.mark.parametrize(
    ("name", "wavelength_m", "reflectance"),
    [
        ("asphalt", 905e-9, 0.106),
        ("concrete", 1550e-9, 0.380),
        ("grass", 905e-9, 0.705),
        ("grass", 650e-9, 0.044),
        ("brick", 1064e-9, 0.403),
        ("soil", 532e-9, 0.114),
        ("asphalt", 450e-9, 0.057),
        ("grass", 450e-9, 0.036),
        ("wood", 850e-9, 0.788),
        ("asphalt", 865e-9, 0.102 + (0.106 - 0.102) * 15.0 / 55.0),
    ],
)
def test_published_reflectance(name, wavelength_m, reflectance):
    assert materials.load(name).row(wavelength_m)[C] == pytest.approx(reflectance, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "n", "k", "at_normal"),
    # refractiveindex.info at 905 nm, and the reflectance that follows
    [
        ("aluminium", 2.052, 8.257, 0.894),
        ("gold", 0.177, 5.760, 0.980),
        ("silver", 0.040, 6.408, 0.996),
        ("copper", 0.303, 5.860, 0.966),
        ("iron", 2.954, 3.593, 0.586),
        ("chromium", 3.316, 3.527, 0.573),
        ("nickel", 2.411, 5.275, 0.756),
        ("titanium", 3.299, 3.961, 0.614),
        ("optical_glass", 1.5089, 0.0, 0.0411),
        ("glass", 1.5152, 3.8e-6, 0.0420),
        ("water", 1.3280, 0.0, 0.0199),
        ("ice", 1.3031, 4.32e-7, 0.0173),
    ],
)
def test_published_indices(name, n, k, at_normal):
    row = materials.load(name).row(905e-9)
    assert row[N] == pytest.approx(n, abs=1e-4)
    assert row[K] == pytest.approx(k, abs=1e-12)
    assert row[R0] == pytest.approx(at_normal, abs=6e-4 if at_normal > 0.1 else 6e-5)


def test_metals_and_glass_have_their_colors():
    blue, green, red = (materials.load("gold").row(wavelength_m)[R0] for wavelength_m in COLORS_M)
    assert blue < 0.45 < green < 0.8 < red, "gold is yellow"
    blue, green, red = (materials.load("copper").row(wavelength_m)[R0] for wavelength_m in COLORS_M)
    assert blue < 0.65 < 0.9 < red
    assert all(materials.load("silver").row(wavelength_m)[R0] > 0.95 for wavelength_m in COLORS_M)
    for name in ("glass", "window"):
        indices = [materials.load(name).row(wavelength_m)[N] for wavelength_m in (*COLORS_M, 905e-9)]
        assert indices == sorted(indices, reverse=True), "glass bends blue most"


def test_the_mirror_is_the_aluminium_it_is_made_of():
    for wavelength_m in (*COLORS_M, *LIDAR_WAVELENGTHS_M):
        metal = materials.load("aluminium").row(wavelength_m)[R0]
        assert materials.load("mirror").row(wavelength_m)[FIXED_R] == pytest.approx(metal, abs=6e-4)


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(SpecError, match=r"material is 'asfalt'; .* did you mean 'asphalt'\?"):
        materials.load("asfalt")
    with pytest.raises(SpecError, match=r"material is 'zzz'; .* it has aluminium, asphalt"):
        materials.describe("zzz")


def test_outside_the_measured_range():
    with pytest.raises(SpecError, match="its spectrum covers 450 to 1550 nm"):
        materials.load("asphalt").row(2e-6)


def test_a_material_knows_its_name_and_others_have_none():
    assert name_of(materials.load("glass")) == "glass"
    assert name_of(materials.Lambertian(reflectance=0.5)) is None
    assert name_of(None) is None


EXAMPLES = [
    materials.Lambertian(reflectance=0.5),
    materials.TwoLayer(refractive_index=1.5, roughness=0.1, reflectance=((905e-9, 0.2), (1550e-9, 0.4))),
    materials.Dielectric(medium={"kind": "water", "scattering_per_m": 0.1}),
    materials.ThinGlass(thickness_m=0.006),
    materials.Mirror(reflectance=materials.Bands(limits_m=((8e-7, 1e-6),), value=(0.9,))),
    materials.Retroreflector(coefficient=200.0),
]


def test_no_material_is_left_out():
    models = {
        cls for _, cls in inspect.getmembers(materials, inspect.isclass) if issubclass(cls, materials.AbstractMaterial)
    }
    assert {type(example) for example in EXAMPLES} == {model for model in models if not inspect.isabstract(model)}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_plain_data_becomes_the_material_it_names(example):
    again = checked(Material, example.model_dump(mode="json"), "material")
    assert type(again) is type(example)
    assert again == example


def test_an_unknown_kind_is_told_the_known_ones():
    with pytest.raises(SpecError, match=r"paint.kind is 'glossy'; it must be one of 'lambertian', 'two_layer', 'diel"):
        checked(Material, {"kind": "glossy"}, "paint")
