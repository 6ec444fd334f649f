"""Biases of channels: given or drawn, the same in every sweep, in a batch and alone."""

import numpy as np
import pytest
from scipy import stats

import sensorium as sn
from sensorium.core.errors import SpecError

CHANNELS = 16
PATTERN = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(-10.0, 10.0, CHANNELS)), columns=40, rate_hz=10)


def scans(noise, *, worlds=None, first_world=0, sweeps=2, mode="geometric", **fields):
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(8.0, 4))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), worlds=worlds, first_world=first_world, seed=3)
    lidar = env.attach(sn.Lidar(pattern=PATTERN, mode=mode, noise=noise, **fields), name="top")
    found = []
    for _ in range(sweeps):
        env.step()
        found.append((lidar.read(), lidar.truth()))
    return found


@pytest.mark.parametrize("mode", ["geometric", "relative", "radiometric"])
def test_given_biases_are_added_to_ranges_and_points(mode):
    given = tuple(np.random.default_rng(1).normal(0.0, 0.05, CHANNELS))
    quiet = {} if mode == "geometric" else {"detection": None}
    plain = scans(sn.RangeNoise(base_m=0.01), mode=mode, **quiet)
    biased = scans(sn.RangeNoise(base_m=0.01, channel_bias_m=given), mode=mode, **quiet)
    for (scan, _), (before, _) in zip(biased, plain, strict=True):
        both = scan.valid & before.valid
        np.testing.assert_array_equal(scan.valid, before.valid)
        expected = before.range_m + np.array(given)[:, None]
        np.testing.assert_allclose(scan.range_m[both], expected[both], atol=2e-6)
        reached = np.linalg.norm(scan.points.astype(np.float64), axis=-1)
        np.testing.assert_allclose(reached[both], scan.range_m[both], atol=3e-6)


def test_drawn_biases_are_fixed_and_of_their_deviation():
    (first, truth), (second, later) = scans(sn.RangeNoise(channel_bias_std_m=0.03), worlds=200)
    bias = (first.range_m - truth.range_m).mean(axis=-1)  # (worlds, channels)
    np.testing.assert_allclose(second.range_m - later.range_m, first.range_m - truth.range_m, atol=3e-6)
    everywhere = np.broadcast_to(bias[..., None], first.range_m.shape)
    np.testing.assert_allclose(first.range_m - truth.range_m, everywhere, atol=3e-6)
    assert bias.std() == pytest.approx(0.03, rel=5.0 / np.sqrt(2 * bias.size))
    assert stats.kstest(bias.ravel() / 0.03, stats.norm.cdf).pvalue > 1e-4
    alone = scans(sn.RangeNoise(channel_bias_std_m=0.03), worlds=1, first_world=7)[0][0]
    np.testing.assert_array_equal(alone.range_m[0], first.range_m[7])


def test_all_returns_of_a_ray_have_the_same_bias():
    noise = sn.RangeNoise(channel_bias_std_m=0.03)
    with_two = scans(noise, mode="relative", returns="dual", max_depth=1, detection=None)[0][0]
    alone, truth = scans(noise, mode="relative", detection=None)[0]
    np.testing.assert_array_equal(with_two.range_m[0], alone.range_m)
    assert (alone.range_m - truth.range_m).std() > 0.01


def test_refusals():
    with pytest.raises(SpecError, match=r"noise\.channel_bias_m has 3 entries; it needs one per channel, 16"):
        sn.Lidar(pattern=PATTERN, noise=sn.RangeNoise(channel_bias_m=(0.1, 0.2, 0.3)))
    with pytest.raises(SpecError, match="publish is 'slices' with a bias of channels"):
        sn.Lidar(pattern=PATTERN, publish="slices", noise=sn.RangeNoise(channel_bias_std_m=0.01))
