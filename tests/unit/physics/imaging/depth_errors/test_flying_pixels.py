"""Flying pixels lie between the two surfaces they see, weighted by power."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.imaging.depth_errors import FlyingPixels, mixed_pixels, power_of_pixels, returned_power

RAYS, WIDTH, HEIGHT = 4, 10, 6


def of_pixels(rays):
    """An image of rays with those of each pixel side by side."""
    tiles = rays.reshape(1, HEIGHT, RAYS, WIDTH, RAYS).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(tiles.reshape(1, -1))


def edge(near_m, far_m, columns, *, reflectance=1.0):
    """Rays of which the first `columns` of each row meet a near surface and the others a far one."""
    ranges = np.full((1, HEIGHT * RAYS, WIDTH * RAYS), far_m, np.float32)
    ranges[..., :columns] = near_m
    hit = ranges > 0.0
    power = np.where(hit, returned_power(np.where(hit, ranges, 1.0), reflectance=reflectance), 0.0)
    mixed, mean = mixed_pixels(of_pixels(ranges), of_pixels(power.astype(np.float32)), rays=RAYS**2)
    return mixed.reshape(HEIGHT, WIDTH), mean.reshape(HEIGHT, WIDTH)


def test_only_the_pixel_on_the_edge_is_mixed_and_by_the_law():
    mixed, mean = edge(2.0, 4.0, 4 * RAYS + 3)
    np.testing.assert_allclose(mixed[:, :4], 2.0)
    np.testing.assert_allclose(mixed[:, 5:], 4.0)
    w = 3 * 2.0**-2, 1 * 4.0**-2
    np.testing.assert_allclose(mixed[:, 4], (w[0] * 2.0 + w[1] * 4.0) / sum(w), rtol=1e-6)
    np.testing.assert_allclose(mean[:, 4], sum(w) / 4.0, rtol=1e-6)


@pytest.mark.parametrize("covered", [1, 2, 3])
def test_mixed_ranges_lie_between_the_surfaces_and_nearer_to_the_brighter(covered):
    mixed, _ = edge(1.0, 5.0, 4 * RAYS + covered)
    assert ((mixed[:, 4] > 1.0) & (mixed[:, 4] < 5.0)).all()
    assert (mixed[:, 4] < 1.0 + (5.0 - 1.0) * (RAYS - covered) / RAYS).all()


def test_before_the_sky_the_surface_alone_counts_with_less_power():
    mixed, mean = edge(2.0, 0.0, 4 * RAYS + 1)
    np.testing.assert_allclose(mixed[:, 4], 2.0)
    np.testing.assert_allclose(mean[:, 4], 0.25 * 0.25, rtol=1e-6)
    assert np.isinf(mixed[:, 5:]).all()
    assert (mean[:, 5:] == 0.0).all()


def test_power_of_pixels_is_that_of_what_each_met_in_its_own_world():
    """Two worlds of two heads each, in which the same objects are made of different things."""
    rng, shape = np.random.default_rng(2), (4, 5000)
    range_m, cosine = (rng.uniform(0.2, 1.0, shape).astype(np.float32) for _ in range(2))
    object_id = rng.integers(0, 3, shape).astype(np.int32)
    table = rng.uniform(0.1, 0.9, (2, 3)).astype(np.float32)
    object_id[:, 7], range_m[:, 8], range_m[:, 9] = -1, 0.0, np.inf
    power = power_of_pixels(range_m, object_id, cosine, table, sensors=2)
    assert (power[:, 7:10] == 0.0).all()
    met = np.delete(np.arange(shape[1]), [7, 8, 9])
    for head in range(4):
        rho = table[head // 2, object_id[head, met]]
        law = returned_power(range_m[head, met], reflectance=rho, cos_incidence=cosine[head, met])
        np.testing.assert_allclose(power[head, met], law, rtol=1e-6)
    alike = power_of_pixels(range_m, object_id, cosine, table[:1], sensors=2)
    np.testing.assert_array_equal(alike[:2], power[:2])
    assert (alike[2:, met] != power[2:, met]).all()


def test_bad_figures_are_told():
    with pytest.raises(SpecError, match="rays is 1; it must be greater than or equal to 2"):
        FlyingPixels(rays=1)
    with pytest.raises(SpecError, match="range_m is 0"):
        returned_power(0.0)
