"""Jitter of columns: its law, and the motion that it shows."""

import numpy as np
import pytest
from scipy import stats

import sensorium as sn
from sensorium.core.errors import SpecError

PATTERN = sn.patterns.Spinning(
    elevation_deg=(5.0, 0.0, -5.0), columns=1000, rate_hz=10, time_offset_s=(0.0, 1e-5, 2e-5)
)


def sweeps(count, *, jitter_s=4e-6, speed=0.0, **fields):
    scene = sn.Scene()
    scene.add(sn.shapes.box(400.0, 40.0, 20.0))
    world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 0), velocity=(0.0, speed, 0.0))}, step_s=0.1)
    env = sn.Environment(scene, world, seed=5)
    lidar = env.attach(sn.Lidar(pattern=PATTERN, timing=sn.Timing(jitter_s=jitter_s), **fields), body="car")
    found = []
    while len(found) < count:
        env.step()
        found += lidar.readings()
    return found


def test_columns_move_together_by_the_normal_law():
    plain = PATTERN.rays(0).offset_ns
    shift_ns = np.stack([scan.offset_ns - plain for scan in sweeps(8)])
    np.testing.assert_array_equal(shift_ns, np.broadcast_to(shift_ns[:, :1], shift_ns.shape))
    moved = shift_ns[:, 0, 1:].ravel() / 4e3  # the first column fires no earlier than its sweep begins
    assert moved.std() == pytest.approx(1.0, rel=5.0 / np.sqrt(2 * moved.size))
    assert stats.kstest(moved, stats.norm.cdf).pvalue > 1e-4
    assert (shift_ns[:, 0, 0] >= 0).all()
    # another for each sweep
    assert abs(np.corrcoef(shift_ns[0, 0], shift_ns[1, 0])[0, 1]) < 5.0 / np.sqrt(1000)


def test_it_is_cut_at_0_45_of_the_column_period():
    shift_ns = sweeps(1, jitter_s=1.0)[0].offset_ns - PATTERN.rays(0).offset_ns
    assert np.abs(shift_ns).max() == 45_000


def test_rays_see_the_world_at_their_own_times():
    """A car at 100 m/s towards a wall 20 m aside: the range of each ray is that of its own time."""
    scan = sweeps(1, jitter_s=2e-5, speed=100.0)[0]
    rays = PATTERN.rays(0)
    side = rays.direction_S[..., 1] > 0.5
    direction = np.where(side[..., None], rays.direction_S, 1.0).astype(np.float64)
    y = 100.0 * (scan.start_ns + scan.offset_ns) * 1e-9
    expected = (20.0 - y) / direction[..., 1]
    inside = side & (np.abs(expected * direction[..., 2]) < 9.0) & (np.abs(expected * direction[..., 0]) < 190.0)
    np.testing.assert_allclose(scan.range_m[inside], expected[inside], rtol=2e-6, atol=2e-5)
    unmoved = (20.0 - 100.0 * (scan.start_ns + rays.offset_ns) * 1e-9) / direction[..., 1]
    assert np.abs(unmoved - expected)[inside].max() > 2e-3


def test_slices_are_cut_where_columns_fire():
    whole = sweeps(2)
    parts = sweeps(40, publish="slices")
    ranges = np.concatenate([part.range_m for part in parts], axis=1)[:, :1000]
    np.testing.assert_array_equal(np.sort(ranges, axis=1), np.sort(whole[0].range_m, axis=1))


def test_refusals():
    with pytest.raises(SpecError, match=r"timing\.jitter_s is 1e-06 with motion 'snapshot'"):
        sn.Lidar(pattern=PATTERN, motion="snapshot", timing=sn.Timing(jitter_s=1e-6))
    with pytest.raises(SpecError, match=r"crosstalk is given with timing\.jitter_s"):
        sn.Lidar(pattern=PATTERN, mode="relative", crosstalk=sn.Crosstalk(), timing=sn.Timing(jitter_s=1e-6))
