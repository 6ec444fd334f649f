"""The union of all materials: each is in it, and plain data finds its own by its kind."""

import inspect

import pytest

from sensorium.core.errors import SpecError
from sensorium.core.spec import checked
from sensorium.physics import materials
from sensorium.physics.materials.union import Material

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
