"""Fog."""

import math

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import media
from sensorium.physics.media.particles import kim_exponent, visibility_extinction


def test_dense_fog_is_the_same_at_all_wavelengths():
    fog = media.fog(visibility_m=200.0)
    assert fog.at(905e-9).extinction_per_m == fog.at(1550e-9).extinction_per_m == pytest.approx(0.0149787, abs=5e-8)


def test_haze_is_clearer_in_the_infrared():
    haze = media.fog(visibility_m=3000.0)
    ratio = haze.at(1550e-9).extinction_per_m / haze.at(905e-9).extinction_per_m
    assert ratio == pytest.approx((1550 / 905) ** -0.82, rel=1e-12)


def test_backscatter_by_the_lidar_ratio():
    fog = media.fog(visibility_m=200.0).at(905e-9)
    assert fog.backscatter_per_m_sr == pytest.approx(fog.extinction_per_m / 20.0, rel=1e-12)
    table = media.fog(visibility_m=200.0, lidar_ratio_sr=-math.log(0.05) / 0.046).at(905e-9)
    assert table.backscatter_per_m_sr == pytest.approx(0.046 / 200.0, rel=1e-12)


def test_denser_fog_answers_more_rays():
    share = [media.fog(visibility_m=v).at(905e-9).gamma_probability for v in (1000.0, 200.0, 50.0, 10.0)]
    assert 0.0 < share[0] < share[1] < share[2] < share[3] < 1.0


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


def test_values_at_905_nm():
    # 5.545 S^1.38 dB/km = 1.277 1/km dry, 3.878 S^0.72 dB/km = 0.893 1/km wet, at 1 mm/h
    assert media.snow(rate_mm_h=1.0).at(905e-9).extinction_per_m == pytest.approx(1.277e-3, abs=5e-7)
    assert media.snow(rate_mm_h=1.0, wet=True).at(905e-9).extinction_per_m == pytest.approx(0.893e-3, abs=5e-7)


def test_decibels_per_kilometer():
    alpha = media.snow(rate_mm_h=3.0).at(1550e-9).extinction_per_m
    loss_db = -10.0 * math.log10(math.exp(-alpha * 1000.0))
    assert loss_db == pytest.approx((5.42e-5 * 1550 + 5.4958776) * 3.0**1.38, rel=1e-12)


def test_exponents():
    for wet, exponent in ((False, 1.38), (True, 0.72)):
        one, four = (media.snow(rate_mm_h=rate, wet=wet).at(905e-9).extinction_per_m for rate in (1.0, 4.0))
        assert math.log(four / one, 4.0) == pytest.approx(exponent, rel=1e-12)


def test_clear_air_takes_little_and_returns_nothing():
    air = media.air().at(905e-9)
    assert air.extinction_per_m == visibility_extinction(23_000.0, 905e-9)
    assert air.extinction_per_m == pytest.approx(8.90e-5 * 2.9957 / 3.912, rel=2e-3)
    assert air.backscatter_per_m_sr == pytest.approx(air.extinction_per_m / 20.0)
    assert air.gamma_probability == 0.0
    assert air.refractive_index == 1.000273


def test_contrast_at_the_visibility_is_five_percent():
    for visibility_m in (20.0, 200.0, 7447.03, 23_000.0):
        assert math.exp(-visibility_extinction(visibility_m, 550e-9) * visibility_m) == pytest.approx(0.05, rel=1e-12)


def test_reference_values():
    assert visibility_extinction(1.0, 550e-9) == pytest.approx(2.9957, abs=5e-5)
    assert visibility_extinction(200.0, 550e-9) == pytest.approx(0.0149787, abs=5e-8)
    assert math.exp(-2.0 * 50.0 * visibility_extinction(200.0, 550e-9)) == pytest.approx(0.223607, abs=5e-7)
    assert visibility_extinction(7447.03, 550e-9) == pytest.approx(4.02272e-4, abs=5e-10)


@pytest.mark.parametrize(
    ("visibility_m", "exponent"),
    [(60e3, 1.6), (23e3, 1.3), (6001.0, 1.3), (3e3, 0.82), (1e3, 0.5), (750.0, 0.25), (500.0, 0.0), (50.0, 0.0)],
)
def test_kim_exponent(visibility_m, exponent):
    assert kim_exponent(visibility_m) == pytest.approx(exponent, abs=1e-12)


@pytest.mark.parametrize("edge_m", [500.0, 1000.0, 6000.0])
def test_kim_exponent_is_continuous_below_50_km(edge_m):
    assert kim_exponent(edge_m * (1 - 1e-12)) == pytest.approx(kim_exponent(edge_m * (1 + 1e-12)), abs=1e-9)


@pytest.mark.parametrize(
    ("visibility_m", "at_905", "at_1550"),
    # The table of Koschmieder's 2 % law, 3.912 / V, rescaled to 5 %
    [(50.0, 0.0782, 0.0782), (1e3, 3.05e-3, 2.33e-3), (2e3, 1.41e-3, 9.87e-4), (1e4, 2.05e-4, 1.02e-4)],
)
def test_published_table_with_two_percent_contrast(visibility_m, at_905, at_1550):
    scale = 3.912 / -math.log(0.05)
    assert scale * visibility_extinction(visibility_m, 905e-9) == pytest.approx(at_905, rel=5e-3)
    assert scale * visibility_extinction(visibility_m, 1550e-9) == pytest.approx(at_1550, rel=5e-3)


@pytest.mark.parametrize("visibility_m", [0.0, -1.0, math.inf, math.nan])
def test_bad_visibility_is_refused(visibility_m):
    with pytest.raises(SpecError, match=r"visibility_m is .*; it must be finite and positive"):
        visibility_extinction(visibility_m, 905e-9)
