"""What images of ranges show, for depth cameras and lidars alike."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.sensors.common.range_values import in_meters, range_values

LENS = sn.patterns.Pinhole.from_fov(4, 4, 60.0, rate_hz=10.0)
RAY = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10.0)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (-8.0, 8.0, 1.0)),
        ({"normalize": True}, (-8.0, 8.0, 8.0)),
        ({"near_value_m": 0.0, "far_value_m": 99.0}, (0.0, 99.0, 1.0)),
        ({"near_value_m": 0.5, "far_value_m": 8.0, "normalize": True}, (0.5, 8.0, 8.0)),
    ],
)
def test_values_are_the_same_for_cameras_and_lidars(options, expected):
    limits = {"min_range_m": 0.5, "max_range_m": 8.0}
    camera, lidar = sn.DepthCamera(pattern=LENS, **limits, **options), sn.Lidar(pattern=RAY, **limits, **options)
    assert range_values(camera) == range_values(lidar) == expected
    assert (camera.near_m, camera.far_m, camera.scale_m) == expected


def test_meters_are_shown_times_scale_but_for_values():
    rng = np.random.default_rng(0)
    share = rng.uniform(0.05, 0.9, 50).astype(np.float32)
    share[[3, 7, 9]] = -1.0, 1.0, 0.0
    meanings = ((1.0, np.inf), (-1.0, -np.inf), (0.0, np.nan))
    meters = in_meters(share, 20.0, meanings)
    assert meters[3] == -np.inf
    assert meters[7] == np.inf
    assert np.isnan(meters[9])
    others = np.delete(np.arange(50), [3, 7, 9])
    np.testing.assert_allclose(meters[others], 20.0 * share[others].astype(np.float64), rtol=1e-6)
    assert share[3] == -1.0  # what was given stays
