"""Automatic exposure: the law of the loop, and its limits."""

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from sensorium.core.errors import SpecError
from sensorium.physics.imaging import AutoExposure, metered_level, next_exposure, region_of
from sensorium.physics.imaging.auto_exposure import WHOLE, Region


def followed(auto, light, *, frames=60, exposure_s=1e-3, response=1.0):
    """Exposures and gains of a camera whose level is light times exposure and gain, at most 1."""
    gain, told = 1.0, []
    for _ in range(frames):
        level = min((light * exposure_s * gain) ** response, 1.0)
        told.append((exposure_s, gain, level))
        exposure_s, gain = next_exposure(auto, level, exposure_s=exposure_s, gain=gain)
    return np.array(told)


@pytest.mark.parametrize("speed", [0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("light", [20.0, 700.0])
def test_the_error_in_stops_shrinks_by_one_minus_speed_an_image(speed, light):
    auto = AutoExposure(speed=speed, max_exposure_s=1.0, max_step_stops=100.0)
    stops = np.log2(followed(auto, light)[:, 2] / auto.target)
    np.testing.assert_allclose(stops, stops[0] * (1.0 - speed) ** np.arange(60), atol=1e-9)


def test_random_cameras_come_to_their_target_or_to_a_limit():
    rng = np.random.default_rng(3)
    limits = 0
    for _ in range(300):
        low, high = np.sort(10.0 ** rng.uniform(-5, -1, 2))
        auto = AutoExposure(
            target=rng.uniform(0.05, 0.9),
            speed=rng.uniform(0.1, 1.0),
            max_step_stops=rng.uniform(0.5, 4.0),
            min_exposure_s=low,
            max_exposure_s=high,
            max_gain=rng.uniform(1.0, 16.0),
        )
        light = 10.0 ** rng.uniform(-1, 6)
        told = followed(auto, light, frames=400, exposure_s=np.sqrt(low * high))
        exposure_s, gain, level = told[-1]
        wanted = np.clip(auto.target / light, low, high * auto.max_gain)
        assert exposure_s * gain == pytest.approx(wanted, rel=1e-3)
        assert ((told[:, 0] >= low) & (told[:, 0] <= high)).all()
        assert ((told[:, 1] >= 1.0) & (told[:, 1] <= auto.max_gain)).all()
        # Gain only where the time is at its longest
        assert (told[told[:, 1] > 1.0, 0] == high).all()
        steps = np.abs(np.diff(np.log2(told[:, 0] * told[:, 1])))
        assert steps.max() <= auto.max_step_stops + 1e-9
        limits += not np.isclose(level, auto.target, rtol=1e-2)
    assert 50 < limits < 250


def test_black_images_are_lengthened_by_the_greatest_step():
    auto = AutoExposure(max_step_stops=2.0, max_exposure_s=1.0)
    assert next_exposure(auto, 0.0, exposure_s=1e-3, gain=1.0) == (4e-3, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "max_exposure_s"),
        ({"max_exposure_s": 1e-3, "min_exposure_s": 1e-2}, "min_exposure_s is 0.01 and max_exposure_s 0.001"),
        ({"max_exposure_s": 1e-3, "target": 1.0}, "target is 1.0"),
        ({"max_exposure_s": 1e-3, "speed": 0.0}, "speed is 0.0"),
        ({"max_exposure_s": 1e-3, "max_gain": 0.5}, "max_gain is 0.5"),
        ({"max_exposure_s": 1e-3, "percentile": 101.0}, "percentile is 101.0"),
        ({"max_exposure_s": 1e-3, "region": (0.6, 0.0, 0.5, 1.0)}, r"region is \(0.6, 0.0, 0.5, 1.0\); left must be"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(SpecError, match=message):
        AutoExposure(**options)


@pytest.mark.parametrize(
    ("region", "rows", "columns"),
    [
        (WHOLE, slice(0, 10), slice(0, 20)),
        ((0.25, 0.5, 0.75, 1.0), slice(5, 10), slice(5, 15)),
        ((0.26, 0.51, 0.74, 0.99), slice(5, 10), slice(5, 15)),
        ((0.999, 0.999, 1.0, 1.0), slice(9, 10), slice(19, 20)),
    ],
)
def test_a_region_is_the_pixels_that_it_touches(region, rows, columns):
    assert region_of(region, 10, 20) == (rows, columns)


def test_levels_are_those_of_numpy():
    shares = np.random.default_rng(1).uniform(size=(40, 30, 3)).astype(np.float32)
    assert metered_level(shares, None) == pytest.approx(shares.astype(float).mean(), rel=1e-12)
    for percentile in (1.0, 50.0, 99.5, 100.0):
        assert metered_level(shares, percentile) == pytest.approx(np.quantile(shares, percentile / 100), rel=1e-6)


@pytest.mark.parametrize("region", [(0.5, 0.0, 0.5, 1.0), (0.0, 0.8, 1.0, 0.2), (0.0, 0.0, 1.1, 1.0)])
def test_regions_without_pixels_are_refused(region):
    with pytest.raises(ValidationError):
        TypeAdapter(Region).validate_python(region)
