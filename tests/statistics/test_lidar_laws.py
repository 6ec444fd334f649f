"""The laws of a lidar's errors and of returns from the air, over a million rays.

Seeds are fixed, so a test passes or fails for good; a p-value below 1e-4 would mean a wrong law.
"""

import numpy as np
import pytest
from scipy import stats

import sensorium as sn

COUNT = 1_000_000
SMALLEST_P = 1e-4


def fire(scene, *, count=COUNT, atmosphere=None, pose=None, seed=1, **options):
    """Many times the same ray along x."""
    columns = count // 64
    pattern = sn.patterns.Raster(
        height=64, width=columns, horizontal_fov_deg=(-1e-6, 1e-6), vertical_fov_deg=(-1e-6, 1e-6), rate_hz=10
    )
    env = sn.Environment(scene, atmosphere=atmosphere, seed=seed)
    lidar = env.attach(sn.Lidar(pattern=pattern, mode="relative", **options), pose=pose)
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read()


def wall(distance_m, size_m=60.0):
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, size_m, size_m), pose=sn.Pose((distance_m + 0.5, 0, 0)))
    return scene


def test_range_noise_is_normal_with_the_deviation_of_its_formula():
    noise = sn.RangeNoise(base_m=5e-4, slope=4.44e-4)
    error = fire(wall(100.0), noise=noise).range_m.astype(np.float64).ravel() - 100.0
    assert error.std() == pytest.approx(0.0449, abs=5e-5)
    assert abs(error.mean()) < 5 * 0.0449 / np.sqrt(COUNT)
    # float32 rounds 100 m to 8 um: spread over that step, the law is smooth again
    smooth = error + np.random.default_rng(1).uniform(-3.8e-6, 3.8e-6, error.size)
    assert stats.kstest(smooth, stats.norm(0, 0.0449).cdf).pvalue > SMALLEST_P


@pytest.mark.parametrize("distance_m", [5.0, 50.0])
def test_range_noise_grows_with_base_slope_and_square(distance_m):
    noise = sn.RangeNoise(base_m=0.01, slope=1e-3, square_per_m=2e-5, bias_m=0.3)
    error = fire(wall(distance_m), count=64 * 3000, noise=noise).range_m - distance_m
    sigma = 0.01 + 1e-3 * distance_m + 2e-5 * distance_m**2
    assert error.std() == pytest.approx(sigma, rel=5 / np.sqrt(2 * error.size))
    assert error.mean() == pytest.approx(0.3, abs=5 * sigma / np.sqrt(error.size))


def test_what_noise_takes_to_a_range_of_0_or_less_is_no_return():
    scan = fire(wall(0.01), count=64 * 1000, noise=sn.RangeNoise(base_m=0.02))
    assert (scan.range_m[scan.valid] > 0.0).all()
    assert not scan.range_m[~scan.valid].any()
    assert (~scan.valid).mean() == pytest.approx(stats.norm.cdf(-0.5), abs=0.01)


@pytest.mark.parametrize("dropout", [0.003, 0.25])
def test_dropout_takes_its_share(dropout):
    gone = int((~fire(wall(20.0), noise=sn.RangeNoise(dropout=dropout)).valid).sum())
    total = COUNT // 64 * 64
    low, high = stats.binom.interval(1 - SMALLEST_P, total, dropout)
    assert low <= gone <= high


@pytest.mark.parametrize("axis", ["y", "z"])
def test_angle_jitter_is_normal_about_both_axes(axis):
    """Seen through range alone: the ray (1, u, v) meets a wall at 45 degrees, 10 m away, at 10 / (1 - v) to 1e-7."""
    scene, sigma = sn.Scene(), 2e-4
    turned = sn.Pose.from_euler_deg((0, 0, 0), roll=90.0 if axis == "y" else 0.0)
    scene.add(sn.shapes.plane(40.0), pose=turned @ sn.Pose.from_euler_deg((10, 0, 0), pitch=-45))
    scan = fire(scene, noise=sn.RangeNoise(angle_std_rad=sigma), pose=turned if axis == "z" else None)
    v = 1.0 - 10.0 / scan.range_m.astype(np.float64).ravel()
    assert v.std() == pytest.approx(sigma, rel=5 / np.sqrt(2 * v.size))
    assert abs(v.mean()) < 6 * sigma / np.sqrt(v.size)
    smooth = v + np.random.default_rng(1).uniform(-4.8e-8, 4.8e-8, v.size)
    assert stats.kstest(smooth, stats.norm(0, sigma).cdf).pvalue > SMALLEST_P
    # the sensor does not know: points lie on the ray it meant to send
    np.testing.assert_allclose(scan.points[..., 1:], 0.0, atol=1e-6)


@pytest.mark.parametrize(("shape", "scale_m"), [(9.5, 0.52), (1.2, 3.0)])
def test_returns_from_the_air_follow_the_gamma_law(shape, scale_m):
    """With priority: distances by the gamma law cut off at the wall, and the share p F(d) of the rays."""
    distance_m, probability = 5.0, 0.7
    fog = sn.media.fog(
        visibility_m=100.0,
        refractive_index=1.0,
        gamma_shape=shape,
        gamma_scale_m=scale_m,
        gamma_probability=probability,
    )
    scan = fire(wall(distance_m), atmosphere=fog, atmospheric_returns="priority")
    air = scan.cause == sn.Cause.ATMOSPHERE
    law = stats.gamma(shape, scale=scale_m)

    share, total = probability * law.cdf(distance_m), air.size
    low, high = stats.binom.interval(1 - SMALLEST_P, total, share)
    assert low <= air.sum() <= high
    distances = scan.range_m[air].astype(np.float64)
    assert distances.max() < distance_m
    assert stats.kstest(distances, lambda x: law.cdf(x) / law.cdf(distance_m)).pvalue > SMALLEST_P
    # all others see the wall
    assert (scan.cause[~air] == sn.Cause.SURFACE).all()
    np.testing.assert_allclose(scan.range_m[~air], distance_m, rtol=1e-6)


def test_a_lidar_s_own_law_without_a_wall():
    law = {"atmospheric_law": (9.5, 0.52, 1.0), "detection": None}
    scan = fire(sn.Scene(), atmosphere=sn.media.fog(visibility_m=50.0), **law)
    assert scan.valid.all()
    law = stats.gamma(9.5, scale=0.52)
    assert stats.kstest(scan.range_m.ravel().astype(np.float64), law.cdf).pvalue > SMALLEST_P
    assert np.median(scan.range_m) == pytest.approx(4.76779, abs=0.01)
    assert scan.range_m.std() == pytest.approx(1.60275, rel=5e-3)


def test_noise_jitter_and_air_are_independent():
    fog = sn.media.fog(visibility_m=100.0, gamma_probability=0.5)
    options = {"returns": "all", "max_returns": 2, "noise": sn.RangeNoise(base_m=0.01, dropout=0.2)}
    scan = fire(wall(20.0), count=64 * 4000, atmosphere=fog, **options)
    plain = fire(wall(20.0), count=64 * 4000, atmosphere=fog, returns="all", max_returns=2)
    air = scan.cause[0] == sn.Cause.ATMOSPHERE
    at_wall = np.where(air, scan.range_m[1], scan.range_m[0])
    error = at_wall - np.where(plain.cause[0] == sn.Cause.ATMOSPHERE, plain.range_m[1], plain.range_m[0])
    seen = scan.valid[0]
    # whether the air answers says nothing about the noise at the wall, nor about dropout
    with_air, without = error[seen & air], error[seen & ~air]
    assert stats.ks_2samp(with_air, without).pvalue > SMALLEST_P
    answered = plain.cause[0] == sn.Cause.ATMOSPHERE
    table = [[(seen & answered).sum(), (seen & ~answered).sum()], [(~seen & answered).sum(), (~seen & ~answered).sum()]]
    assert stats.chi2_contingency(table).pvalue > SMALLEST_P
