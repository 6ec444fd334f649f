"""Rays of lidars that follow light whose first surface is too near: against distances and noise by hand."""

import numpy as np
import pytest

import sensorium as sn

LEAST_M = 1.0
RAYS = 400


def image(mode, noise=None, distance_m=None, **options):
    """The range image of rays that each meet a post at a distance of its own, in meters."""
    scene = sn.Scene()
    azimuth_deg = np.linspace(-180.0, 180.0, RAYS, endpoint=False)
    for angle, distance in zip(azimuth_deg, distance_m, strict=True):
        at = sn.Pose.from_euler_deg(yaw=angle) @ sn.Pose((distance + 0.001, 0.0, 0.0))
        scene.add(sn.shapes.box(0.002, 0.9 * distance * 2 * np.pi / RAYS, 0.5), pose=at)
    pattern = sn.patterns.Table(
        azimuth_deg=tuple(azimuth_deg), elevation_deg=(0.0,) * RAYS, time_s=(0.0,) * RAYS, rate_hz=10.0
    )
    lidar = sn.Lidar(
        pattern=pattern,
        mode=mode,
        detection=None,
        min_range_m=LEAST_M,
        max_range_m=20.0,
        normalize=False,
        noise=noise or sn.RangeNoise(),
        **options,
    )
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1))
    sensor = env.attach(lidar)
    env.step()
    return sensor.read().range_image, sensor.truth().range_image


@pytest.mark.parametrize("mode", ["relative", "radiometric", "waveform"])
def test_without_noise_it_is_the_distance_that_decides(mode):
    distance_m = np.random.default_rng(1).uniform(0.3, 2.0, RAYS)
    read, true = image(mode, distance_m=distance_m)
    near = distance_m < LEAST_M
    np.testing.assert_array_equal((true.values == -20.0).reshape(-1), near)
    clear = np.abs(distance_m - LEAST_M) > 0.1  # photons and digitizers have noise of their own
    np.testing.assert_array_equal((read.values == -20.0).reshape(-1)[clear], near[clear])


def test_noise_takes_surfaces_below_the_least_range_and_dropout_none():
    """All posts at 1.2 m: a normal number of sigma 0.3 m is below -0.2 m for 25 %, less those that drop out."""
    noise = sn.RangeNoise(base_m=0.3, dropout=0.4)
    read, true = image("relative", noise, np.full(RAYS, 1.2))
    shown = read.values.reshape(-1)
    near, nothing = (shown == -20.0).mean(), (shown == 20.0).mean()
    assert near == pytest.approx(0.6 * 0.2525, abs=0.06)
    assert nothing == pytest.approx(0.4, abs=0.08)
    assert (np.abs(true.values - 1.2) < 1e-4).all()


def test_a_bias_moves_the_limit():
    distance_m = np.random.default_rng(2).uniform(0.3, 2.0, RAYS)
    read, _ = image("relative", sn.RangeNoise(bias_m=-0.5), distance_m)
    np.testing.assert_array_equal((read.values == -20.0).reshape(-1), distance_m - 0.5 < LEAST_M)
