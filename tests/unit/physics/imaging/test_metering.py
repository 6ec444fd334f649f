"""What automatics look at, and how bright it is."""

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from sensorium.physics.imaging import metered_level, region_of
from sensorium.physics.imaging.metering import WHOLE, Region


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
