import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.optics.surfaces import layers

MATERIAL = {"n": 1.5, "roughness": 0.3, "reflectance": 0.5, "diffuse_roughness": 0.3}


def direction(theta, phi=0.0):
    return np.stack(np.broadcast_arrays(np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)), -1)


@pytest.mark.parametrize(
    ("layering", "values"),
    [("agx", ("0.159415", "0.135673", "0.098110")), ("two_way", ("0.153746", "0.130020", "0.084980"))],
)
def test_monostatic_reference_values(printed, layering, values):
    for angle, value in zip((0, 30, 60), values, strict=True):
        c, beam = np.cos(np.radians(angle)), direction(np.radians(angle))
        assert optics.two_layer_monostatic(c, **MATERIAL, layering=layering) == printed(value)
        assert optics.two_layer(beam, beam, **MATERIAL, layering=layering) * c == printed(value)


def test_layers_add_up():
    """Coat plus base, each by its own function, and the base's light through the coat twice."""
    c = np.linspace(0.01, 1, 40)
    coat = optics.ggx_monostatic(c, n=1.5, roughness=0.3)
    base = optics.oren_nayar_monostatic(c, reflectance=0.5, diffuse_roughness=0.3)
    through = optics.fresnel_transmittance(c, n=1.5)
    two_way = coat + through**2 * base
    np.testing.assert_allclose(optics.two_layer_monostatic(c, **MATERIAL), two_way, rtol=1e-12)
    inner = optics.internal_diffuse_reflectance(1.5)
    plastic = coat + through**2 * base / (1.5**2 * (1 - 0.5 * inner))
    np.testing.assert_allclose(optics.two_layer_monostatic(c, **MATERIAL, layering="plastic"), plastic, rtol=1e-12)
    agx = coat + 0.96 * base
    np.testing.assert_allclose(optics.two_layer_monostatic(c, **MATERIAL, layering="agx"), agx, rtol=1e-12)


def test_without_a_coat_only_the_base_remains():
    c = np.linspace(0, 1, 11)
    bare = optics.two_layer_monostatic(c, n=1.0, roughness=0.3, reflectance=0.5, diffuse_roughness=0.3)
    np.testing.assert_allclose(
        bare, optics.oren_nayar_monostatic(c, reflectance=0.5, diffuse_roughness=0.3), rtol=1e-12
    )


@pytest.mark.parametrize("layering", ["two_way", "plastic", "agx"])
@given(theta_l=st.floats(0.0, 1.55), theta_v=st.floats(0.0, 1.55), phi=st.floats(0.0, 6.3))
def test_reciprocity(layering, theta_l, theta_v, phi):
    l, v = direction(theta_l), direction(theta_v, phi)  # noqa: E741
    there = optics.two_layer(l, v, **MATERIAL, layering=layering)
    assert optics.two_layer(v, l, **MATERIAL, layering=layering) == pytest.approx(there, rel=1e-6)


@pytest.mark.parametrize("layering", ["two_way", "plastic", "agx"])
def test_nothing_comes_from_below_the_horizon(layering):
    up, down = direction(0.4), direction(2.0)
    for source, detector in ((up, down), (down, up), (down, -down)):
        assert optics.two_layer(source, detector, **MATERIAL, layering=layering) == 0.0


def test_return_and_mirror_ray_come_from_one_call():
    cone2, alpha2 = 1e-6, 2e-6
    a, b = layers.diffuse_terms(0.5, 0.9, 0.1, 0.2, 1.0, 0.0)
    back, R, share = layers.monostatic_and_mirror(0.6, 1.5, 0.0, 0.04, alpha2, a, b, 0.0, -1.0, cone2)
    assert back == pytest.approx(layers.monostatic(0.6, 1.5, 0.0, 0.04, alpha2, 0.5, 0.9, 0.1, 0.2, 0.0, 1.0, 0.0))
    assert pytest.approx(optics.fresnel(0.6, n=1.5)) == R
    assert share == pytest.approx(cone2 / (alpha2 * 0.6 + cone2))
    # A mirror's own reflectance takes the place of Fresnel's law
    assert layers.monostatic_and_mirror(0.6, 1.5, 0.0, 0.9, 0.0, 0.0, 0.0, 0.0, 0.9, cone2) == pytest.approx(
        (0, 0.9, 1)
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layering": "three_way"}, "layering is 'three_way'; it must be one of two_way, agx, plastic"),
        ({"reflectance": 1.5}, "reflectance is 1.5; it must be finite and at least 0 and at most 1"),
        ({"n": 1.5 + 7j}, "reflectance is 0.5 under a coat of extinction 7; above 0.1 no light reaches a base"),
        ({"n": 0.8, "layering": "plastic"}, "n is 0.8; it must be finite and at least 1"),
        ({"roughness": -1}, "roughness is -1; it must be finite and at least 0"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(SpecError, match=message):
        optics.two_layer_monostatic(1.0, **{**MATERIAL, **change})
    with pytest.raises(SpecError, match=message):
        optics.two_layer((0, 0, 1), (0, 0, 1), **{**MATERIAL, **change})


def test_a_metal_without_a_base_is_fine():
    metal = {"n": 1.5 + 7j, "roughness": 0.3}
    expected = optics.ggx_monostatic(0.7, **metal)
    assert optics.two_layer_monostatic(0.7, **metal, reflectance=0.0) == pytest.approx(expected, rel=1e-12)
