"""Range noise by range, signal and reflectance, and its tails: against the law in float64."""

import numpy as np
import pytest
from scipy import stats

import sensorium as sn
from sensorium.core.errors import SpecError

RAYS = 64 * 1000
PATTERN = sn.patterns.Raster(
    height=64, width=1000, horizontal_fov_deg=(-1e-6, 1e-6), vertical_fov_deg=(-1e-6, 1e-6), rate_hz=10
)


def errors_m(distance_m, reflectance=0.5, *, seed=1, mode="relative", tilt_deg=0.0, noise, **fields):
    """Errors of many equal rays to a wall, (returns, rays)."""
    scene = sn.Scene()
    facing = sn.Pose.from_euler_deg((distance_m, 0.0, 0.0), pitch=-90.0 + tilt_deg)
    scene.add(sn.shapes.plane(200.0), pose=facing, material=sn.Lambertian(reflectance=reflectance))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), seed=seed)
    light = {} if mode == "geometric" else {"detection": None}
    lidar = env.attach(sn.Lidar(pattern=PATTERN, mode=mode, noise=noise, **light, **fields))
    env.step()
    return lidar.read().range_m.astype(np.float64).reshape(-1, RAYS) - distance_m


def close(sigma):
    """To five standard deviations of the estimate; twice that for tails."""
    return pytest.approx(sigma, rel=8.0 / np.sqrt(2.0 * RAYS))


@pytest.mark.parametrize("rays", [1, 3])
def test_noise_by_signal_falls_with_the_root_of_the_intensity(rays):
    rng, beam = np.random.default_rng(3), sn.Beam(rays=rays)
    for _ in range(6):
        distance_m, reflectance, tilt_deg = rng.uniform(1.0, 90.0), rng.uniform(0.05, 0.9), rng.uniform(0.0, 70.0)
        stated = sn.SignalNoise(
            std_m=rng.uniform(0.002, 0.02), reflectance=rng.uniform(0.05, 1.0), range_m=rng.uniform(2.0, 60.0)
        )
        noise = sn.RangeNoise(base_m=rng.uniform(0.0, 0.01), slope=rng.uniform(0.0, 2e-4), by_signal=stated)
        seen = reflectance * np.cos(np.radians(tilt_deg)) * beam.captured(distance_m)
        ratio = stated.reflectance * beam.captured(stated.range_m) / seen
        sigma = np.sqrt((noise.base_m + noise.slope * distance_m) ** 2 + stated.std_m**2 * ratio)
        error = errors_m(distance_m, reflectance, tilt_deg=tilt_deg if rays == 1 else 0.0, noise=noise, beam=beam)
        if rays > 1:
            sigma = np.sqrt(
                (noise.base_m + noise.slope * distance_m) ** 2
                + stated.std_m**2 * ratio * np.cos(np.radians(tilt_deg))
            )
        assert error.std() == close(sigma)
        assert stats.kstest((error / sigma)[0, ::7], stats.norm.cdf).pvalue > 1e-4


@pytest.mark.parametrize("mode", ["geometric", "relative", "radiometric", "waveform"])
def test_noise_by_range_is_interpolated_in_every_mode(mode):
    rng, pairs = np.random.default_rng(5), ((2.0, 3.0), (10.0, 1.0), (30.0, 2.0))
    sure = {"receiver": sn.Receiver(rise_time_s=1e-13)} if mode == "radiometric" else {}
    if mode == "waveform":
        sure = {"max_range_m": 60.0, "waveform": {"shot_noise": False}, "receiver": {"noise_electrons": 0.0}}
    noise = sn.RangeNoise(base_m=0.05, slope=1e-3, by_range=pairs)
    for distance_m in (1.5, *rng.uniform(2.0, 40.0, 3)):
        error = errors_m(distance_m, noise=noise, mode=mode, **sure)
        factor = np.interp(distance_m, *np.array(pairs).T)
        assert error.std() == close(factor * (0.05 + 1e-3 * distance_m))


def test_noise_by_reflectance_is_interpolated_over_its_logarithm():
    rng, pairs = np.random.default_rng(4), ((0.02, 2.0), (0.1, 1.5), (0.4, 1.0))
    noise = sn.RangeNoise(base_m=0.005, slope=1e-4, by_reflectance=pairs)
    places, factors = np.array(pairs).T
    for reflectance in (0.01, 0.02, *rng.uniform(0.02, 0.5, 4), 0.9):
        distance_m, tilt_deg = rng.uniform(1.0, 60.0), rng.uniform(0.0, 60.0)
        shown = reflectance * np.cos(np.radians(tilt_deg))
        factor = np.interp(np.log(shown), np.log(places), factors)
        error = errors_m(distance_m, reflectance, tilt_deg=tilt_deg, noise=noise)
        assert error.std() == close(factor * (0.005 + 1e-4 * distance_m))


@pytest.mark.parametrize("mode", ["geometric", "relative", "radiometric"])
def test_tails_have_their_kurtosis_and_leave_the_deviation(mode):
    quiet = {"receiver": sn.Receiver(rise_time_s=1e-13)} if mode == "radiometric" else {}
    normal = errors_m(10.0, noise=sn.RangeNoise(base_m=0.01), mode=mode, **quiet)[0]
    heavy = errors_m(10.0, noise=sn.RangeNoise(base_m=0.01, excess_kurtosis=1.5), mode=mode, **quiet)[0]
    assert heavy.std() == close(0.01)
    shape = np.sqrt(0.5 * np.log(np.sqrt(7.0) - 1.0))
    law = stats.johnsonsu(0.0, 1.0 / shape)
    assert law.stats("k") == pytest.approx(1.5, rel=1e-6)
    assert stats.kstest(heavy / 0.01 * law.std(), law.cdf).pvalue > 1e-4
    # the same numbers, stretched
    np.testing.assert_array_equal(np.argsort(normal, kind="stable")[:100], np.argsort(heavy, kind="stable")[:100])


def test_several_returns_have_independent_noise_by_their_own_light():
    """Two walls that share a beam: returns of different strength, each with its own part by signal."""
    scene = sn.Scene()
    for x, y, reflectance in ((5.0, 2.0, 0.1), (8.0, -2.0, 0.8)):  # each fills half of a beam of many rays
        half, matt = sn.shapes.box(0.01, 4.0, 4.0), sn.Lambertian(reflectance=reflectance)
        scene.add(half, pose=sn.Pose((x, y, 0.0)), material=matt)
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), seed=2)
    stated = sn.SignalNoise(std_m=0.02, reflectance=0.1, range_m=5.0)
    beam = sn.Beam(rays=12, separation_m=0.5)
    lidar = env.attach(
        sn.Lidar(
            pattern=PATTERN, mode="relative", detection=None, returns="all", max_returns=2, beam=beam,
            noise=sn.RangeNoise(by_signal=stated),
        )
    )  # fmt: skip
    env.step()
    scan = lidar.read()
    near, far = (scan.range_m[j].ravel().astype(np.float64) for j in (0, 1))
    powers = [float(scan.intensity[j].mean()) for j in (0, 1)]
    known = 0.1 / np.pi * beam.captured(5.0)
    assert near.std() == close(0.02 * np.sqrt(known / powers[0]))
    assert far.std() == close(0.02 * np.sqrt(known / powers[1]))
    assert abs(np.corrcoef(near, far)[0, 1]) < 5.0 / np.sqrt(RAYS)


def test_what_is_off_leaves_every_byte():
    plain = errors_m(7.0, noise=sn.RangeNoise(base_m=0.01))
    one = sn.RangeNoise(base_m=0.01, by_reflectance=((0.5, 1.0),))
    np.testing.assert_allclose(errors_m(7.0, noise=one), plain, atol=1e-6)
    assert sn.RangeNoise(base_m=0.01) == sn.RangeNoise(base_m=0.01, by_signal=None, by_reflectance=())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"base_m": -1e-3}, r"base_m is -0\.001; it must be greater than or equal to 0"),
        ({"slope": -1.0}, r"slope.*greater than or equal to 0"),
        ({"square_per_m": -1.0}, r"square_per_m.*greater than or equal to 0"),
        ({"dropout": 1.1}, r"dropout is 1\.1; it must be less than or equal to 1"),
        ({"angle_std_rad": 0.1}, r"angle_std_rad.*less than 0\.1"),
        ({"bias_m": float("inf")}, r"bias_m.*finite"),
        ({"sigma": 0.1}, "sigma is 0.1; there is no such field"),
        ({"excess_kurtosis": -0.5}, r"excess_kurtosis is -0\.5; it must be greater than or equal to 0"),
        ({"by_reflectance": ((0.2, 1.0), (0.1, 2.0))}, r"by_reflectance is for \[0\.2, 0\.1\]; they must rise"),
        ({"by_range": ((2.0, 1.0), (2.0, 2.0))}, r"by_range is for \[2\.0, 2\.0\]; they must rise"),
        ({"by_signal": {"std_m": 0.0}}, r"by_signal\.std_m is 0\.0; it must be greater than 0"),
    ],
)
def test_refusals_name_value_and_rule(fields, message):
    with pytest.raises(SpecError, match=message):
        sn.RangeNoise(**fields)


@pytest.mark.parametrize("mode", ["geometric", "radiometric", "waveform"])
def test_noise_by_light_acts_where_intensity_is_relative(mode):
    for noise in (sn.RangeNoise(by_signal=sn.SignalNoise(std_m=0.01)), sn.RangeNoise(by_reflectance=((0.5, 1.0),))):
        with pytest.raises(SpecError, match=rf"noise\.by_.* with mode '{mode}'; it acts in mode 'relative' alone"):
            sn.Lidar(pattern=PATTERN, mode=mode, noise=noise)


def test_there_is_none_by_default():
    assert not any(sn.RangeNoise().model_dump().values())
    assert not sn.RangeNoise().moves_ranges
