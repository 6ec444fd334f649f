"""The order of tiles: every pixel once, packets square."""

import numpy as np
import pytest

from sensorium.sensors.depth_camera.rays import in_tiles
from sensorium.tracing.embree.packet import WIDTH


@pytest.mark.parametrize(("width", "height"), [(64, 64), (33, 25), (1, 7), (5, 1)])
def test_every_pixel_comes_once(width, height):
    np.testing.assert_array_equal(np.sort(in_tiles(width, height)), np.arange(width * height))


def test_a_packet_of_a_whole_image_is_a_tile():
    v, u = np.divmod(in_tiles(64, 64).astype(int).reshape(-1, WIDTH), 64)
    assert (np.ptp(u, axis=1) == 3 if WIDTH > 4 else np.ptp(u, axis=1) == 1).all()
    assert (np.ptp(v, axis=1) == WIDTH // (4 if WIDTH > 4 else 2) - 1).all()
