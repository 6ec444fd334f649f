"""The lidar in watts against the lidar equation, photon statistics and the sun's own law."""

import math

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.sensors.lidar.receiver_tables import (
    detector_numbers,
    hopeless_power_W,
    power_W,
    receiver_table,
    sunlight_numbers,
)
from sensorium.tracing.kernels.light import detect as dt

C, H = 299_792_458.0, 6.62607015e-34


def wall_lidar(distance_m, *, reflectance=0.1, rays=1, sun=None, turn_deg=0.0, **options):
    """Shots straight at a wall; `rays` of them."""
    scene = sn.Scene()
    pose = sn.Pose((distance_m, 0, 0)) @ sn.Pose.from_euler_deg(yaw=turn_deg) @ sn.Pose((0.5, 0, 0))
    scene.add(sn.shapes.box(1, 300, 300), pose=pose, material=sn.Lambertian(reflectance=reflectance))
    env = sn.Environment(scene, sun=sun)
    pattern = sn.patterns.Table(
        azimuth_deg=(0.0,) * rays, elevation_deg=(0.0,) * rays, time_s=tuple(np.linspace(0, 0.05, rays)), rate_hz=10
    )
    spec = sn.Lidar(pattern=pattern, mode="radiometric", beam=sn.Beam(detector_radius_m=0.0125), **options)
    lidar = env.attach(spec)
    for _ in env.run(0.1):
        pass
    return lidar


def test_the_worked_example_of_the_lidar_equation():
    # 10 % at 100 m with a receiver of 12.5 mm radius returns 1.5625e-9 of the power
    receiver = sn.Receiver(peak_power_W=1e3, efficiency=1.0)
    scan = wall_lidar(100.0, receiver=receiver).read()
    assert scan.intensity[0, 0] == pytest.approx(1e3 * 1.5625e-9, rel=1e-4)


@pytest.mark.parametrize("distance_m", [1.0, 7.0, 50.0, 300.0])
def test_power_falls_with_the_square_of_range_and_the_cosine(distance_m):
    receiver = sn.Receiver(peak_power_W=1e6, efficiency=0.5)
    area = math.pi * 0.0125**2
    straight = wall_lidar(distance_m, receiver=receiver).read().intensity[0, 0]
    assert straight == pytest.approx(1e6 * 0.5 * 0.1 / math.pi * area / distance_m**2, rel=3e-4)
    slanted = wall_lidar(distance_m, receiver=receiver, turn_deg=60.0).read().intensity[0, 0]
    assert slanted == pytest.approx(0.5 * straight, rel=1e-3)


def test_the_table_s_near_end_is_the_whole_half_space():
    spec = sn.Lidar(
        pattern=sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10),
        mode="radiometric",
        receiver=sn.Receiver(peak_power_W=1.0, efficiency=1.0),
    )
    table = receiver_table(spec)
    assert table.values[0] == 1.0
    assert power_W(spec) == pytest.approx(math.pi)
    numbers = detector_numbers(spec)
    assert numbers[dt.D_ELECTRONS_A_WATT] == pytest.approx(5e-9 * 0.6 * 905e-9 / (H * C), rel=1e-6)
    assert 0 < hopeless_power_W(numbers) < 1e-8


def test_detection_probability_follows_the_normal_law_of_counts():
    """At the power whose electrons equal the threshold, half of the shots are seen; at one sigma more, 84 %."""
    from scipy.stats import norm

    receiver = sn.Receiver(peak_power_W=75.0, noise_electrons=200.0, false_alarm_probability=1e-9)
    shots = 20_000
    for distance_m in (95.0, 110.0, 125.0):
        lidar = wall_lidar(distance_m, rays=shots, receiver=receiver, max_range_m=200.0)
        numbers = detector_numbers(lidar.spec)
        power = 75.0 * 0.7 * 0.1 * 0.0125**2 / distance_m**2
        signal = power * float(numbers[dt.D_ELECTRONS_A_WATT])
        threshold = float(numbers[dt.D_SIGMAS]) * 200.0
        expected = norm.sf((threshold - signal) / math.sqrt(signal + 200.0**2))
        seen = lidar.read().valid.mean()
        assert seen == pytest.approx(expected, abs=4.5 * math.sqrt(expected * (1 - expected) / shots) + 2e-3)


def test_range_noise_is_that_of_the_signal_to_noise_ratio():
    receiver = sn.Receiver(noise_electrons=100.0, rise_time_s=2e-9)
    lidar = wall_lidar(40.0, rays=20_000, receiver=receiver)
    rate = float(detector_numbers(lidar.spec)[dt.D_ELECTRONS_A_WATT])
    signal = rate * 75.0 * 0.7 * 0.1 * 0.0125**2 / 40.0**2
    snr = signal**2 / (signal + 100.0**2)
    scan = lidar.read()
    error = scan.range_m[scan.valid] - 40.0
    assert error.std() == pytest.approx(C * 2e-9 / 2 / math.sqrt(2 * snr), rel=0.03)
    assert abs(error.mean()) < 5 * error.std() / math.sqrt(len(error)) + 5e-6


def test_false_alarms_are_as_many_as_asked_for_and_lie_anywhere():
    receiver = sn.Receiver(false_alarm_probability=0.02)
    lidar = wall_lidar(1500.0, rays=50_000, receiver=receiver, max_range_m=100.0)
    scan = lidar.read()
    alarms = scan.cause == sn.Cause.FALSE_ALARM
    assert alarms.mean() == pytest.approx(0.02, abs=4 * math.sqrt(0.02 / 50_000))
    assert (scan.cause[~alarms] == sn.Cause.NONE).all()
    assert (scan.object_id == -1).all()
    found = np.sort(scan.range_m[alarms]) / 100.0
    steps = np.arange(1, len(found) + 1) / len(found)
    assert np.abs(found - steps).max() < 1.95 / math.sqrt(len(found))  # Kolmogorov-Smirnov, 0.1 %
    assert not lidar.truth().valid.any()


def test_sunlight_on_a_wall_is_what_the_receiver_s_field_holds():
    sun = sn.fields.Sun(elevation_deg=0.001, azimuth_deg=180.0)  # behind the sensor, straight at the wall
    lidar = wall_lidar(50.0, sun=sun, reflectance=0.4)
    receiver = lidar.spec.receiver
    gathered = (
        math.pi * receiver.half_field_rad**2 * math.pi * 0.0125**2 * receiver.efficiency * receiver.filter_width_m
    )
    direct = sun.spectral_irradiance(905e-9) * 0.4 / math.pi * gathered
    sky = sun.sky_radiance(905e-9) * 0.4 * gathered
    assert lidar.read().ambient[0, 0] == pytest.approx(direct + sky, rel=1e-3)
    assert sunlight_numbers(lidar.spec, sun)[3] == pytest.approx(sun.spectral_irradiance(905e-9) * gathered, rel=1e-5)

    # From the other side the wall is in its own shadow: only the sky lights it
    behind = sn.fields.Sun(elevation_deg=0.001, azimuth_deg=0.0)
    assert wall_lidar(50.0, sun=behind, reflectance=0.4).read().ambient[0, 0] == pytest.approx(sky, rel=1e-3)


def test_a_body_in_the_way_casts_a_shadow():
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0), material=sn.Lambertian(reflectance=0.3), label="ground")
    scene.add(sn.shapes.box(2, 2, 0.1), pose=sn.Pose((0, 0, 3)), material=sn.Lambertian(reflectance=0.3))
    env = sn.Environment(scene, sun=sn.fields.Sun(elevation_deg=90.0))
    pattern = sn.patterns.Table(azimuth_deg=(0.0, 0.0), elevation_deg=(-45.0, -14.0), time_s=(0.0, 0.01), rate_hz=10)
    lidar = env.attach(sn.Lidar(pattern=pattern, mode="radiometric"), pose=sn.Pose((-1.5, 0, 1.5)))
    for _ in env.run(0.1):
        pass
    shaded, lit = lidar.read().ambient[0]
    assert lit > 3 * shaded > 0


def test_sunlight_hides_weak_returns():
    receiver = sn.Receiver(peak_power_W=30.0, noise_electrons=20.0, filter_width_m=40e-9, half_field_rad=5e-3)
    dark = wall_lidar(180.0, rays=5000, receiver=receiver, max_range_m=300.0)
    sun = sn.fields.Sun(elevation_deg=0.001, azimuth_deg=180.0)
    bright = wall_lidar(180.0, rays=5000, receiver=receiver, max_range_m=300.0, sun=sun)
    surface = [np.mean(lidar.read().cause == sn.Cause.SURFACE) for lidar in (dark, bright)]
    assert surface[0] > surface[1] + 0.1


@pytest.mark.parametrize(
    "bad", [{"efficiency": 1.5}, {"quantum_efficiency": 0.0}, {"peak_power_W": -1.0}, {"false_alarm_probability": 0.0}]
)
def test_bad_receivers(bad):
    with pytest.raises(SpecError, match=next(iter(bad))):
        sn.Receiver(**bad)
