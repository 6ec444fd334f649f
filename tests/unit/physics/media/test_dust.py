"""Dust: extinction is twice the shadow of the grains."""

import math

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import media


def test_twice_the_shadow_of_the_grains():
    radius_m, density, concentration = 5e-6, 2650.0, 1e-3
    grains_per_m3 = concentration / (density * 4.0 / 3.0 * math.pi * radius_m**3)
    dust = media.dust(concentration_kg_m3=concentration, grain_density_kg_m3=density, grain_radius_m=radius_m)
    alpha = dust.at(905e-9).extinction_per_m
    assert alpha == pytest.approx(2.0 * grains_per_m3 * math.pi * radius_m**2, rel=1e-12)
    assert alpha == pytest.approx(0.113208, abs=5e-7)


def test_grains_have_no_defaults():
    with pytest.raises(SpecError, match="grain_radius_m"):
        media.dust(concentration_kg_m3=1e-3, grain_density_kg_m3=2650.0)
