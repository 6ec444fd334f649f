"""Fog."""

import math

import pytest

from sensorium.physics import media


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
