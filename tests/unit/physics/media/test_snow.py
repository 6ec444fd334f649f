"""Snow: ITU-R P.1817, in nepers."""

import math

import pytest

from sensorium.physics import media


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
