import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.sensors.lidar.intensity_scale import scaled

INTENSITY = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 1e6], np.float32)
WHITE = np.ones_like(INTENSITY)


def test_raw_is_left_alone():
    assert scaled(sn.IntensityScale(), INTENSITY, WHITE) is INTENSITY


def test_counts_are_whole_numbers_that_saturate():
    byte = scaled(sn.IntensityScale(kind="counts", full_scale=2.0), INTENSITY, WHITE)
    assert byte.dtype == np.uint8
    np.testing.assert_array_equal(byte, [0, 13, 64, 128, 255, 255])
    word = scaled(sn.IntensityScale(kind="counts", bits=16, full_scale=2.0), INTENSITY, WHITE)
    assert word.dtype == np.uint16
    np.testing.assert_array_equal(word, [0, 3277, 16384, 32768, 65535, 65535])


def test_reflectivity_is_per_cent_up_to_white_and_logarithmic_above():
    byte = scaled(sn.IntensityScale(kind="reflectivity"), INTENSITY, WHITE)
    assert byte[:4].tolist() == [0, 10, 50, 100]
    # a thousand times white is the top; the square root of that is half way
    assert scaled(sn.IntensityScale(kind="reflectivity"), np.float32([1000.0]), np.float32([1.0])) == 255
    half = scaled(sn.IntensityScale(kind="reflectivity"), np.float32([1000**0.5]), np.float32([1.0]))
    assert half[0] == pytest.approx(177.5, abs=1)


def test_a_lidar_reports_the_reflectance_of_diffuse_targets_at_any_range():
    scene = sn.Scene()
    for i, (reflectance, x) in enumerate([(0.1, 5.0), (0.3, 20.0), (0.8, 60.0)]):
        pose = sn.Pose.from_euler_deg((0, 0, 0), yaw=40.0 * i) @ sn.Pose((x + 0.5, 0, 0))
        scene.add(sn.shapes.box(1, 4, 4), pose=pose, material=sn.Lambertian(reflectance=reflectance))
    pattern = sn.patterns.Table(azimuth_deg=(0, 40, 80), elevation_deg=(0, 0, 0), time_s=(0, 0.01, 0.02), rate_hz=10)
    env = sn.Environment(scene)
    lidar = env.attach(sn.Lidar(pattern=pattern, mode="relative", intensity=sn.IntensityScale(kind="reflectivity")))
    for _ in env.run(0.1):
        pass
    np.testing.assert_array_equal(lidar.read().intensity[0], [10, 30, 80])


@pytest.mark.parametrize("bad", [{"kind": "loud"}, {"bits": 12}, {"full_scale": 0.0}])
def test_bad_scales(bad):
    with pytest.raises(SpecError, match=next(iter(bad))):
        sn.IntensityScale(**bad)
