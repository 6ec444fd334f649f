"""Pixels of images as they are written, or as colors."""

from types import SimpleNamespace

import numpy as np
import pytest

from sensorium.record.ros2.image import ENCODINGS, image
from sensorium.view.viewer.image_pixels import can_be_shown, pixels_of


def message(**fields):
    return SimpleNamespace(**{"is_bigendian": 0, "width": 2, "height": 2, **fields})


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_that_we_write_can_be_shown(encoding):
    kind, numbers = ENCODINGS[encoding]
    written = np.arange(6 * numbers).reshape((2, 3, numbers) if numbers > 1 else (2, 3)).astype(kind)
    shown = pixels_of(SimpleNamespace(**image(written, encoding, stamp_ns=0, frame_id="camera").fields))
    if encoding in ("32FC2", "32FC3"):
        assert (shown.shape, shown.dtype) == ((2, 3, 3), np.uint8)
    else:
        np.testing.assert_array_equal(shown, written)


def test_padding_order_and_big_endian_numbers():
    padded = message(encoding="bgr8", step=8, data=np.arange(16, dtype=np.uint8))
    np.testing.assert_array_equal(pixels_of(padded)[1], [[10, 9, 8], [13, 12, 11]])
    big = message(encoding="16UC1", step=4, is_bigendian=1, data=np.array([1, 2, 3, 4], ">u2").view(np.uint8))
    np.testing.assert_array_equal(pixels_of(big), [[1, 2], [3, 4]])
    assert pixels_of(big).dtype.isnative
    assert not can_be_shown("yuv422")


def test_vectors_become_colors():
    vectors = np.array([[[2, 0], [0, -1]], [[0, 0], [np.nan, 1]]], np.float32)
    shown = pixels_of(message(encoding="32FC2", step=16, data=vectors.view(np.uint8).reshape(-1)))
    np.testing.assert_array_equal(shown, [[[255, 128, 128], [128, 64, 128]], [[128, 128, 128], [0, 0, 0]]])
