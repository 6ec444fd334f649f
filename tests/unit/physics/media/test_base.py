"""What all media share: the gamma law's defaults and its probability, and the union that reads plain data."""

import math

import pytest
from scipy.stats import gamma

from sensorium.core.errors import SpecError
from sensorium.core.spec import checked
from sensorium.physics import media
from sensorium.physics.media.base import assumed_return_probability


def test_gamma_law_reference_values():
    fog = media.fog(visibility_m=200.0).at(905e-9)
    law = gamma(fog.gamma_shape, scale=fog.gamma_scale_m)
    assert law.mean() == pytest.approx(4.94, abs=5e-12)
    assert law.std() == pytest.approx(1.60275, abs=5e-6)
    assert law.median() == pytest.approx(4.76779, abs=5e-6)
    assert law.cdf(5.0) == pytest.approx(0.557876, abs=5e-7)


def test_assumed_probability_runs_from_none_to_all():
    assert assumed_return_probability(0.0, 4.94) == 0.0
    assert assumed_return_probability(100.0, 4.94) == pytest.approx(1.0, abs=1e-12)
    values = [assumed_return_probability(alpha, 4.94) for alpha in (1e-4, 1e-3, 1e-2, 1e-1, 1.0)]
    assert values == sorted(values)
    assert values[1] == pytest.approx((1.0 - math.exp(-2e-3 * 4.94)) ** 2, rel=1e-12)


def test_assumed_probability_is_near_the_one_published_value():
    assert assumed_return_probability(4.02272e-4, 9.5 * 0.52) == pytest.approx(1.58899e-5, rel=0.01)


def test_a_given_probability_is_taken():
    assert media.fog(visibility_m=50.0, gamma_probability=0.0).at(905e-9).gamma_probability == 0.0
    given = media.rain(rate_mm_h=10.0, gamma_probability=0.25, gamma_shape=3.0, gamma_scale_m=2.0).at(905e-9)
    assert (given.gamma_shape, given.gamma_scale_m, given.gamma_probability) == (3.0, 2.0, 0.25)


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("gamma_shape", 0.0, "greater than 0"),
        ("gamma_shape", -1.0, "greater than 0"),
        ("gamma_scale_m", 0.0, "greater than 0"),
        ("gamma_probability", 1.01, "less than or equal to 1"),
        ("gamma_probability", -0.01, "greater than or equal to 0"),
        ("gamma_shape", math.nan, "finite number"),
        ("lidar_ratio_sr", 0.0, "greater than 0"),
        ("refractive_index", 0.9, "greater than or equal to 1"),
        ("gama_shape", 9.5, "did you mean gamma_shape?"),
    ],
)
def test_values_out_of_range_are_refused_by_name(field, value, rule):
    with pytest.raises(SpecError) as refused:
        media.fog(visibility_m=200.0, **{field: value})
    assert field in str(refused.value)
    assert rule in str(refused.value)
    if value == value:
        assert f"is {value}; " in str(refused.value)


def test_plain_data_becomes_the_medium_it_names():
    for medium in (
        media.air(),
        media.fog(visibility_m=80.0),
        media.rain(rate_mm_h=5.0, law="carbonneau"),
        media.snow(rate_mm_h=1.0, wet=True),
        media.dust(concentration_kg_m3=1e-4, grain_density_kg_m3=2650.0, grain_radius_m=1e-5),
        media.water(scattering_per_m=0.2),
        media.uniform(extinction_per_m=0.1),
    ):
        again = checked(media.Medium, medium.model_dump(), "medium")
        assert again == medium
        assert again.at(905e-9) == medium.at(905e-9)


def test_media_are_frozen():
    with pytest.raises(SpecError, match=r"visibility_m cannot become 100.0; Fog does not change once made"):
        media.fog(visibility_m=80.0).visibility_m = 100.0
