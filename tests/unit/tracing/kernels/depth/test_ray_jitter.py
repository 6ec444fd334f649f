import numpy as np
import pytest
from scipy import stats

from sensorium.tracing.kernels.depth.ray_jitter import RayJitter, jitter_rays

PIXELS = 4000


def turned(std=1e-2, *, head=0, sensors=1, pixel=None, tick=0, first_world=0):
    """Unit rays along x, one a pixel, after the jitter."""
    jitter = RayJitter(np.float32(std), np.array([3, 5], np.uint32), np.full(8, tick, np.int64), first_world, PIXELS)
    which = np.arange(PIXELS) if pixel is None else np.asarray(pixel)
    x, y, z = np.ones(len(which), np.float32), *np.zeros((2, len(which)), np.float32)
    jitter_rays(jitter, head, sensors, which, len(which), x, y, z)
    return np.stack([x, y, z], axis=-1)


def test_rays_are_turned_by_normal_angles_about_both_axes_across_them():
    rays = turned(1e-2)
    np.testing.assert_allclose(np.linalg.norm(rays, axis=1), 1.0, atol=3e-7)
    for across in (rays[:, 1], rays[:, 2]):
        assert across.std() == pytest.approx(1e-2, rel=0.05)
        assert stats.kstest(across / 1e-2, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(rays[:, 1], rays[:, 2])[0, 1]) < 0.06


def test_the_angle_belongs_to_pixel_camera_world_and_draw():
    rays = turned()
    np.testing.assert_array_equal(turned(pixel=[7, 7, 9]), rays[[7, 7, 9]])  # parts of a pixel are turned alike
    for other in (turned(tick=1), turned(head=1), turned(head=1, sensors=2), turned(first_world=1)):
        assert (other != rays).any(axis=1).all()
    np.testing.assert_array_equal(turned(head=1), turned(first_world=1))  # the world counts among all


def test_without_jitter_rays_stay_as_they_are():
    np.testing.assert_array_equal(turned(0.0), np.tile(np.float32([1, 0, 0]), (PIXELS, 1)))
