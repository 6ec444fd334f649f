"""Bayer mosaics and bilinear colors."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.imaging import LAYOUTS, demosaiced, mosaic


@pytest.mark.parametrize("layout", LAYOUTS)
def test_letters_name_the_pixels_row_by_row(layout):
    image = np.zeros((4, 6, 3), np.uint8) + np.array([10, 20, 30], np.uint8)
    raw = mosaic(image, layout)
    found = raw[:2, :2].ravel()
    np.testing.assert_array_equal(found, [{"r": 10, "g": 20, "b": 30}[letter] for letter in layout])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_even_colors_come_back_exactly(layout):
    image = np.zeros((2, 6, 8, 3), np.uint16) + np.array([1000, 2000, 3000], np.uint16)
    np.testing.assert_array_equal(demosaiced(mosaic(image, layout), layout), image)


def test_ramps_come_back_inside_and_what_was_seen_is_kept():
    y, x = np.mgrid[:8, :10].astype(np.float32)
    image = np.stack([x, y, x + y], axis=-1)
    back = demosaiced(mosaic(image, "rggb"), "rggb")
    np.testing.assert_allclose(back[1:-1, 1:-1], image[1:-1, 1:-1], atol=1e-5)
    np.testing.assert_array_equal(mosaic(back, "rggb"), mosaic(image, "rggb"))


def test_unknown_layouts_and_bands_are_refused():
    with pytest.raises(SpecError, match="layout is 'rgbw' for 3 bands; it must be one of rggb"):
        mosaic(np.zeros((2, 2, 3)), "rgbw")
    with pytest.raises(SpecError, match="layout is 'rggb' for 4 bands"):
        mosaic(np.zeros((2, 2, 4)), "rggb")
