"""Flat ground: Fresnel's amplitude, roughness, and the two ways of an echo."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics, radio


def test_the_square_of_the_amplitude_is_fresnels_reflectance():
    grazing, eps = np.linspace(0.01, 1.5, 20), 5.24 - 0.32j
    index = np.sqrt(eps)
    s, p = optics.fresnel_polarized(np.sin(grazing), n=complex(index.real, -index.imag))
    for name, expected in (("horizontal", s), ("vertical", p)):
        found = radio.reflection_coefficient(grazing, relative_permittivity=eps, polarization=name)
        np.testing.assert_allclose(np.abs(found) ** 2, expected, rtol=1e-9)


def test_grazing_waves_are_turned_over():
    for name in ("horizontal", "vertical"):
        found = radio.reflection_coefficient(0.0, relative_permittivity=4.0, polarization=name)
        assert found == pytest.approx(-1.0)


def test_rough_ground_mirrors_less():
    smooth, rough = (radio.roughness_factor(0.1, roughness_m=s, wavelength_m=0.0039) for s in (0.0, 0.003))
    assert smooth == 1.0
    assert rough == pytest.approx(np.exp(-0.5 * (4 * np.pi * 0.003 * np.sin(0.1) / 0.0039) ** 2))


def test_the_image_is_as_far_below_as_the_target_is_above():
    direct, image, grazing = radio.image_path(40.0, 0.5, 1.0)
    assert direct == pytest.approx(np.hypot(40.0, 0.5))
    assert image == pytest.approx(np.hypot(40.0, 1.5))
    assert grazing == pytest.approx(np.arctan2(1.5, 40.0))
    assert image - direct == pytest.approx(2 * 0.5 * 1.0 / 40.0, rel=1e-3)


def test_two_ways_add_up_or_cancel():
    wave = 0.004
    assert radio.two_ray_factor(-1.0, 0.5 * wave, wavelength_m=wave) == pytest.approx(16.0)
    assert radio.two_ray_factor(-1.0, wave, wavelength_m=wave) == pytest.approx(0.0, abs=1e-12)
    assert radio.two_ray_factor(0.0, 0.3, wavelength_m=wave) == 1.0


def test_impossible_ground_is_refused():
    with pytest.raises(SpecError, match="relative_permittivity is"):
        radio.reflection_coefficient(0.1, relative_permittivity=0.5)
    with pytest.raises(SpecError, match="polarization is 'left'"):
        radio.reflection_coefficient(0.1, relative_permittivity=4.0, polarization="left")
