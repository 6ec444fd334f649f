"""Extinction from visibility: the 5 % contrast definition, and Kim's exponent."""

import math

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.media.visibility import kim_exponent, visibility_extinction


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
