"""Water: measured absorption, and what is suspended."""

import math

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import media


@pytest.mark.parametrize(
    ("wavelength_m", "index", "k"),
    [(850e-9, 1.3290, 2.96e-7), (905e-9, 1.3280, 5.1e-7), (1064e-9, 1.3260, 1.28e-6), (1550e-9, 1.3180, 1.336e-4)],
)
def test_published_index(wavelength_m, index, k):
    water = media.water().at(wavelength_m)
    assert water.refractive_index == pytest.approx(index, abs=6e-4)
    assert water.extinction_per_m == pytest.approx(4.0 * math.pi * k / wavelength_m, rel=5e-3)


def test_green_goes_deep_and_infrared_does_not():
    assert 1.0 / media.water().at(532e-9).extinction_per_m == pytest.approx(23.3, abs=0.1)
    assert 1.0 / media.water().at(905e-9).extinction_per_m == pytest.approx(0.141, abs=1e-3)


def test_suspended_matter_adds_and_scatters_back():
    clear, turbid = media.water().at(532e-9), media.water(scattering_per_m=2.0).at(532e-9)
    assert turbid.extinction_per_m - clear.extinction_per_m == pytest.approx(2.0)
    assert clear.backscatter_per_m_sr == 0.0
    assert turbid.backscatter_per_m_sr == pytest.approx(0.1)


def test_a_given_index_is_taken():
    assert media.water(refractive_index=1.33).at(905e-9).refractive_index == 1.33


def test_outside_of_the_measured_range():
    with pytest.raises(SpecError, match="covers 400 to 1600 nm"):
        media.water().at(2e-6)
