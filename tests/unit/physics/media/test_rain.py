"""Rain: the law against the drops it comes from."""

import math

import pytest
from scipy.integrate import quad

from sensorium.core.errors import SpecError
from sensorium.physics import media
from sensorium.physics.media.rain import DROPS_PER_M3_MM, SLOPE_EXPONENT, SLOPE_PER_MM


def test_reference_values():
    assert media.rain(rate_mm_h=10.0).at(905e-9).extinction_per_m == pytest.approx(1.557e-3, abs=5e-7)
    for rate, marshall, carbonneau in ((1.0, 0.365, 0.248), (25.0, 2.773, 2.141), (100.0, 6.642, 5.420)):
        assert media.rain(rate_mm_h=rate).at(905e-9).extinction_per_m == pytest.approx(marshall * 1e-3, rel=5e-4)
        fit = media.rain(rate_mm_h=rate, law="carbonneau").at(905e-9).extinction_per_m
        assert fit == pytest.approx(carbonneau * 1e-3, rel=1e-3)


def test_carbonneau_in_decibels():
    fit = media.rain(rate_mm_h=1.0, law="carbonneau").at(905e-9).extinction_per_m
    assert fit * 1e4 / math.log(10.0) == pytest.approx(1.076, rel=1e-3)


@pytest.mark.parametrize("rate_mm_h", [0.5, 5.0, 50.0])
def test_the_law_is_the_drops_with_efficiency_two(rate_mm_h):
    slope = SLOPE_PER_MM * rate_mm_h**SLOPE_EXPONENT
    area_mm2, _ = quad(lambda d: 0.25 * math.pi * d**2 * DROPS_PER_M3_MM * math.exp(-slope * d), 0.0, 60.0 / slope)
    alpha = media.rain(rate_mm_h=rate_mm_h).at(905e-9).extinction_per_m
    assert alpha == pytest.approx(2.0 * area_mm2 * 1e-6, rel=2e-3)

    count, _ = quad(lambda d: DROPS_PER_M3_MM * math.exp(-slope * d), 0.0, 60.0 / slope)
    assert media.rain(rate_mm_h=rate_mm_h).drop_density_per_m3 == pytest.approx(count, rel=1e-9)


def test_no_rain_is_clear():
    dry = media.rain(rate_mm_h=0.0)
    assert dry.at(905e-9).extinction_per_m == dry.at(905e-9).gamma_probability == dry.drop_density_per_m3 == 0.0


def test_negative_rain_is_refused():
    with pytest.raises(SpecError, match="rate_mm_h"):
        media.rain(rate_mm_h=-1.0)
