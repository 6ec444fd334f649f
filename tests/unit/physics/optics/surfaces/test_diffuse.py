import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorium.core.errors import SpecError
from sensorium.physics import optics

ANGLES = (0, 30, 60)


def direction(theta, phi=0.0):
    return np.stack(np.broadcast_arrays(np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)), -1)


@pytest.mark.parametrize(
    ("sigma", "values"),
    [(0.0, ("0.159155", "0.137832", "0.079577")), (0.3, ("0.147637", "0.136810", "0.100676"))],
)
def test_monostatic_reference_values(printed, sigma, values):
    for angle, value in zip(ANGLES, values, strict=True):
        c = np.cos(np.radians(angle))
        assert optics.oren_nayar_monostatic(c, reflectance=0.5, diffuse_roughness=sigma) == printed(value)
        beam = direction(np.radians(angle))
        assert optics.oren_nayar(beam, beam, reflectance=0.5, diffuse_roughness=sigma) * c == printed(value)


def test_without_roughness_it_is_lamberts_law():
    rng = np.random.default_rng(2)
    l, v = (direction(rng.uniform(0, 1.5, 50), rng.uniform(0, 6, 50)) for _ in range(2))  # noqa: E741
    np.testing.assert_allclose(optics.oren_nayar(l, v, reflectance=0.7), 0.7 / np.pi, rtol=1e-12)


def test_the_lidar_equation_for_a_wall(printed):
    """A 10 % wall at 100 m sends this share of the power into a receiver of 12.5 mm radius."""
    solid_angle = np.pi * 0.0125**2 / 100.0**2
    assert optics.oren_nayar_monostatic(1.0, reflectance=0.1) * solid_angle == printed("1.5625e-9")


@given(theta_l=st.floats(0.0, 1.55), theta_v=st.floats(0.0, 1.55), phi=st.floats(0.0, 6.3), sigma=st.floats(0.0, 1.5))
def test_reciprocity(theta_l, theta_v, phi, sigma):
    l, v = direction(theta_l), direction(theta_v, phi)  # noqa: E741
    there = optics.oren_nayar(l, v, reflectance=0.6, diffuse_roughness=sigma)
    assert optics.oren_nayar(v, l, reflectance=0.6, diffuse_roughness=sigma) == pytest.approx(there, rel=1e-6)
    assert there >= 0.0


def test_rough_surfaces_are_flatter_and_brighter_towards_the_source():
    theta = np.radians(60)
    back, forth = direction(theta), direction(theta, np.pi)
    assert optics.oren_nayar(back, back, reflectance=0.5, diffuse_roughness=0.5) > 0.5 / np.pi
    assert optics.oren_nayar(back, forth, reflectance=0.5, diffuse_roughness=0.5) < 0.5 / np.pi


def test_nothing_comes_from_below_the_horizon():
    assert optics.oren_nayar(direction(0.4), direction(2.0), reflectance=0.5, diffuse_roughness=0.3) == 0.0
    assert optics.oren_nayar(direction(2.0), direction(0.4), reflectance=0.5, diffuse_roughness=0.3) == 0.0


@pytest.mark.parametrize("reflectance", [-0.1, 1.1, np.inf])
def test_reflectance_is_a_share(reflectance):
    message = rf"reflectance is {reflectance:g}; it must be finite and at least 0 and at most 1"
    with pytest.raises(SpecError, match=message):
        optics.oren_nayar_monostatic(1.0, reflectance=reflectance)
    with pytest.raises(SpecError, match=message):
        optics.oren_nayar((0, 0, 1), (0, 0, 1), reflectance=reflectance)


def test_roughness_is_not_negative():
    with pytest.raises(SpecError, match="diffuse_roughness is -1; it must be finite and at least 0"):
        optics.oren_nayar_coefficients(-1.0)
