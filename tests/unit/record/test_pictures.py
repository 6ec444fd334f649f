"""PNG and TIFF files: read back equal by another reader, the same bytes every time, whole or not at all."""

import matplotlib.image
import numpy as np
import pytest
from PIL import Image

import sensorium as sn
from sensorium.core.errors import SpecError


def pixels_of(kind, shape=(31, 17)):
    return (np.random.default_rng(1).random(shape) * (60000 if kind == np.uint16 else 255)).astype(kind)


@pytest.mark.parametrize(
    "pixels",
    [pixels_of(np.uint8), pixels_of(np.uint16), pixels_of(np.uint8, (31, 17, 3)), pixels_of(np.uint16)[:, ::2]],
    ids=["gray 8", "gray 16", "color", "strided"],
)
@pytest.mark.parametrize("ending", ["png", "tiff"])
def test_pixels_come_back(tmp_path, pixels, ending):
    save = sn.record.save_png if ending == "png" else sn.record.save_tiff
    save(tmp_path / f"a.{ending}", pixels)
    save(tmp_path / f"b.{ending}", pixels)
    assert np.array_equal(np.asarray(Image.open(tmp_path / f"a.{ending}")).astype(pixels.dtype), pixels)
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {f"a.{ending}", f"b.{ending}"}
    if ending == "png":
        # Matplotlib gives shares of the largest number
        shares = matplotlib.image.imread(tmp_path / "a.png")
        assert np.allclose(shares * np.iinfo(pixels.dtype).max, pixels, atol=0.01)


def test_depths_come_back_bit_for_bit_nan_and_all(tmp_path):
    depth = pixels_of(np.float32)
    depth[3, 4], depth[5, 6] = np.nan, np.inf
    sn.record.save_tiff(tmp_path / "depth.tiff", depth)
    back = np.asarray(Image.open(tmp_path / "depth.tiff"))
    assert back.dtype == np.float32
    assert back.tobytes() == depth.tobytes()


def test_what_a_format_lacks_is_refused_and_nothing_written(tmp_path):
    for save, wrong in (
        (sn.record.save_png, pixels_of(np.float32)),
        (sn.record.save_png, pixels_of(np.uint16, (4, 4, 3))),
        (sn.record.save_png, np.zeros((0, 4), np.uint8)),
        (sn.record.save_tiff, np.zeros((4, 4))),
        (sn.record.save_tiff, np.zeros((4, 4, 4), np.uint8)),
    ):
        with pytest.raises(SpecError, match="pixels have shape"):
            save(tmp_path / "wrong", wrong)
    with pytest.raises(SpecError, match="folder does not exist"):
        sn.record.save_png(tmp_path / "no" / "a.png", pixels_of(np.uint8))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("save", [sn.record.save_png, sn.record.save_tiff])
def test_pixels_before_the_path_are_told(tmp_path, save):
    with pytest.raises(SpecError, match="path is a ndarray; it must be a string or a path, and come before the pixels"):
        save(pixels_of(np.uint8), tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
