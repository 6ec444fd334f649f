"""EMVA 1288 image sets: read as written, images that are missing, and what is refused."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.record.pictures import save_png
from sensorium.recordings.readers.emva1288 import DESCRIPTOR, ImageGroup, read_emva1288, write_descriptor


def write_set(folder, text, images=()):
    (folder / "images").mkdir(exist_ok=True)
    (folder / DESCRIPTOR).write_text(text)
    for name, pixels in images:
        save_png(folder / "images" / name, pixels)
    return folder / DESCRIPTOR


PIXELS = np.arange(12, dtype=np.uint16).reshape(3, 4) * 300


def test_a_descriptor_written_is_read_again(tmp_path):
    (tmp_path / "images").mkdir()
    rng = np.random.default_rng(5)
    groups = []
    for number in range(6):
        paths = []
        for k in range(2):
            paths.append(tmp_path / "images" / f"{number}_{k}.png")
            save_png(paths[-1], PIXELS)
        kind = "bd"[number % 2]
        groups.append((kind, ImageGroup(rng.random(), rng.random() * 1e4 if kind == "b" else 0.0, tuple(paths))))
    path = tmp_path / DESCRIPTOR
    write_descriptor(path, bits=12, width=4, height=3, groups=groups)
    found = read_emva1288(tmp_path)
    assert (found.bits, found.width, found.height, found.missing) == (12, 4, 3, 0)
    for kind, read in (("b", found.bright), ("d", found.dark)):
        wanted = [group for each, group in groups if each == kind]
        np.testing.assert_allclose([group.exposure_s for group in read], [group.exposure_s for group in wanted], 1e-12)
        assert [group.photons for group in read] == [group.photons for group in wanted]
        assert [group.images for group in read] == [group.images for group in wanted]
    np.testing.assert_array_equal(found.read(found.bright[0].images[0]), PIXELS)


def test_backslashes_comments_and_images_that_are_missing(tmp_path):
    text = "# made by hand\nv 3.0\nn 12 4 3\nb 40000.0 120.0\ni images\\a.png\ni images\\b.png\n"
    text += "d 40000.0\ni images\\c.png\n"
    path = write_set(tmp_path, text, [("a.png", PIXELS)])
    found = read_emva1288(path)
    assert found.bright[0].exposure_s == pytest.approx(4e-5)
    assert [image.name for image in found.bright[0].images] == ["a.png"]
    assert (found.missing, found.dark[0].missing) == (2, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n 12 4 3\n", "none of the 0 images"),
        ("b 1 2\ni images/a.png\n", "has no line n"),
        ("n 12 4\n", "must have 3 finite numbers"),
        ("n 17 4 3\n", "17 bits, 4 x 3 pixels; it must be 1 to 16 bits"),
        ("n 12 400000 300000\n", "at most 134217728 pixels"),
        ("n 12 4 3\nb 1\n", "line 2 .* must have 2 finite numbers"),
        ("n 12 4 3\nb nan 1\n", "must have 2 finite numbers"),
        ("n 12 4 3\nb -1 1\n", "at least 0"),
        ("n 12 4 3\ni images/a.png\n", "an image without a group"),
        ("n 12 4 3\nx 1\n", "begins with 'x'"),
        ("n 12 4 3\nb 1 1\ni ../../etc/passwd\n", "leaves its folder"),
        ("n 12 4 3\nb 1 1\ni images/none.png\n", "none of the 1 images"),
    ],
)
def test_a_wrong_descriptor_is_refused_in_one_sentence(tmp_path, text, says):
    path = write_set(tmp_path, text, [("a.png", PIXELS)])
    with pytest.raises(SpecError, match=says) as error:
        read_emva1288(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("pixels", "says"),
    [
        (PIXELS[:, :3], "3 x 3 pixels of mode I;16; it must have 4 x 3 of gray"),
        (np.zeros((3, 4, 3), np.uint8), "mode RGB; it must"),
        (PIXELS * 2, "a pixel of 6600; .* gives 12 bits"),
    ],
)
def test_an_image_that_does_not_fit_is_refused(tmp_path, pixels, says):
    path = write_set(tmp_path, "n 12 4 3\nb 1 1\ni images/a.png\n", [("a.png", pixels)])
    found = read_emva1288(path)
    with pytest.raises(SpecError, match=says):
        found.read(found.bright[0].images[0])


def test_broken_image_bytes_are_refused(tmp_path):
    path = write_set(tmp_path, "n 12 4 3\nb 1 1\ni images/a.png\n", [("a.png", PIXELS)])
    image = tmp_path / "images" / "a.png"
    data = image.read_bytes()
    found = read_emva1288(path)
    for broken in (b"", b"no image", data[: len(data) // 2], data[:40] + b"\x00\x00" + data[42:]):
        image.write_bytes(broken)
        with pytest.raises(SpecError):
            found.read(image)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SpecError, match=r"'EMVA1288_Data.txt' cannot be read: No such file"):
        read_emva1288(tmp_path)


def test_an_image_that_unpacks_to_far_more_than_it_has_is_refused(tmp_path):
    black = np.zeros((8000, 5000), np.uint8)
    path = write_set(tmp_path, "n 8 5000 8000\nb 1 1\ni images/a.png\n", [("a.png", black)])
    found = read_emva1288(path)
    with pytest.raises(SpecError, match=r"5000 x 8000 pixels; it may unpack to \d+ bytes"):
        found.read(found.bright[0].images[0])
