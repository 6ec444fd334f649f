"""Images of glTF files: sizes that headers claim, counted by hand, and formats that are not opened."""

import base64
import io
import re
import struct
import warnings
import zlib
from pathlib import Path

import pytest

from sensorium.errors import SceneError
from sensorium.scene.gltf_images import check_images, inline_data
from sensorium.scene.textures import PaintError

NOWHERE = Path("/no/such/folder")


def packed(form: str, size: tuple[int, int]) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", size).save(file, form)
    return file.getvalue()


def claimed(width: int, height: int) -> bytes:
    """A PNG that says its size, and has nothing of it: W3C PNG, 11.2.1."""
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", b""), (b"IEND", b""))
    parts = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def inline(data: bytes) -> dict[str, str]:
    return {"uri": "data:image/png;base64," + base64.b64encode(data).decode()}


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_the_three_formats_of_gltf_pass_up_to_the_very_byte(form: str) -> None:
    """16 bytes for each of 7 x 5 pixels, whatever its name says it is."""
    header = {"images": [{**inline(packed(form, (7, 5))), "mimeType": "image/png"}]}
    check_images(header, NOWHERE, b"", 560)
    told = "image 0 has 7 x 5 pixels; unpacked, all take 560 bytes, the most is 559"
    with pytest.raises(PaintError, match=f"^{re.escape(told)}$"):
        check_images(header, NOWHERE, b"", 559)


@pytest.mark.parametrize("form", ["BMP", "GIF", "TIFF", "EPS", "PPM"])
def test_images_of_other_formats_are_refused_by_number(form: str) -> None:
    header = {"images": [inline(packed("PNG", (1, 1))), {**inline(packed(form, (1, 1))), "mimeType": "image/png"}]}
    with pytest.raises(PaintError, match=r"^image 1 is no PNG or JPEG or WEBP; glTF has no others$"):
        check_images(header, NOWHERE, b"", 1 << 30)


@pytest.mark.parametrize("data", [b"", b"no image at all"])
def test_what_is_no_image_is_refused(data: bytes) -> None:
    with pytest.raises(PaintError, match=r"^image 0 is no PNG"):
        check_images({"images": [inline(data)]}, NOWHERE, b"", 1 << 30)


def test_headers_are_believed_without_unpacking() -> None:
    """An image of 12000 x 9000 pixels in 69 bytes takes 1.728 GB; nothing warns of it."""
    data = claimed(12_000, 9_000)
    assert len(data) < 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_images({"images": [inline(data)]}, NOWHERE, b"", 1_728_000_000)
    with pytest.raises(PaintError, match="image 0 has 12000 x 9000 pixels; unpacked, all take 1728000000 bytes"):
        check_images({"images": [inline(data)]}, NOWHERE, b"", 1_727_999_999)


def test_all_images_count_together() -> None:
    """4 x 4, 2 x 3 and 1 x 5 pixels are 27, which is 432 bytes; the one that is too much is named."""
    header = {"images": [inline(claimed(*size)) for size in ((4, 4), (2, 3), (1, 5))]}
    check_images(header, NOWHERE, b"", 432)
    with pytest.raises(PaintError, match=r"^image 2 has 1 x 5 pixels; unpacked, all take 432 bytes, the most is 431$"):
        check_images(header, NOWHERE, b"", 431)
    with pytest.raises(PaintError, match=r"^image 1 has 2 x 3 pixels; unpacked, all take 352 bytes"):
        check_images(header, NOWHERE, b"", 351)


def test_pixels_of_shiny_materials_take_four_times_as_much() -> None:
    """Shininess is converted to roughness, in 64 bytes a pixel, where any material has it."""
    shiny = {"extensions": {"KHR_materials_pbrSpecularGlossiness": {}}}
    header = {"images": [inline(claimed(3, 2))], "materials": [{"name": "plain"}, shiny]}
    check_images(header, NOWHERE, b"", 384)
    with pytest.raises(PaintError, match="all take 384 bytes, the most is 383"):
        check_images(header, NOWHERE, b"", 383)
    check_images({**header, "materials": [{"name": "plain"}]}, NOWHERE, b"", 96)


def test_images_are_found_wherever_a_file_may_keep_them(tmp_path: Path) -> None:
    """Beside it, in its binary chunk, and in buffers inside and outside of it: each from its view's first byte on."""
    sizes = ((1, 1), (1, 2), (1, 3), (1, 4))
    beside, chunk, inner, outer = (claimed(*size) for size in sizes)
    (tmp_path / "looks").mkdir()
    (tmp_path / "looks" / "a.png").write_bytes(beside)
    (tmp_path / "b.bin").write_bytes(b"before" + outer)
    header = {
        "images": [{"uri": "looks/a.png"}, {"bufferView": 1}, {"bufferView": 2}, {"bufferView": 0}],
        "bufferViews": [
            {"buffer": 2, "byteOffset": 6, "byteLength": len(outer)},
            {"buffer": 0, "byteOffset": 3, "byteLength": len(chunk)},
            {"buffer": 1, "byteLength": len(inner)},
        ],
        "buffers": [{}, inline(inner), {"uri": "b.bin"}],
    }
    pixels = 0
    for number, (_, high) in enumerate(sizes):
        pixels += high
        some = {**header, "images": header["images"][: number + 1]}
        check_images(some, tmp_path, b"\0\0\0" + chunk + b"behind", 16 * pixels)
        with pytest.raises(PaintError, match=f"^image {number} has 1 x {high} pixels; .* all take {16 * pixels} bytes"):
            check_images(some, tmp_path, b"\0\0\0" + chunk + b"behind", 16 * pixels - 1)


def test_a_view_ends_where_it_says() -> None:
    """What lies behind it in the buffer is no part of the image."""
    data = claimed(3, 3)
    header = {"images": [{"bufferView": 0}], "bufferViews": [{"buffer": 0, "byteLength": 4}], "buffers": [{}]}
    with pytest.raises(PaintError, match=r"^image 0 is no PNG"):
        check_images(header, NOWHERE, data, 1 << 30)


def test_what_is_missing_or_never_read_passes(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    header = {
        "images": [
            {"uri": "gone.png"},
            {"uri": "folder.png"},
            {"bufferView": 0},
            {},
            {**inline(b"no image"), "mimeType": "image/ktx2"},
        ],
        "bufferViews": [{"buffer": 0, "byteLength": 9}],
        "buffers": [{"uri": "gone.bin"}],
    }
    check_images(header, tmp_path, b"", 0)
    check_images({}, tmp_path, b"", 0)


def test_data_that_are_not_base64_are_told() -> None:
    with pytest.raises(PaintError, match=r"^it has data that are not base64: "):
        check_images({"images": [{"uri": "data:image/png;base64,abcde"}]}, NOWHERE, b"", 1 << 30)


@pytest.mark.parametrize(
    "uri",
    [
        "xbase64,{other}",
        "images/base64,{other}",
        "data:image/png,{decoy}AAbase64,{other}",
        "data:image/png;base64,{decoy},base64,{other}",
        "data:image/png;base64;{decoy}",
        "data:image/png,{decoy}",
    ],
)
def test_what_another_reader_would_take_for_other_data_is_refused(uri: str) -> None:
    """Readers of meshes look for "base64," anywhere; they must find the image that was looked at."""
    decoy, other = (base64.b64encode(packed(form, (2, 2))).decode().rstrip("=") for form in ("PNG", "BMP"))
    given = uri.format(decoy=decoy, other=other)
    with pytest.raises(SceneError, match=r"; data in a uri must be data:TYPE;base64,TEXT$"):
        inline_data(given)
    with pytest.raises(SceneError):
        check_images({"images": [{"uri": given}]}, NOWHERE, b"", 1 << 30)


@pytest.mark.parametrize("uri", ["base64.png", "my base64/a.png", "a,b.png"])
def test_names_of_files_are_no_data(uri: str) -> None:
    assert inline_data(uri) is None


@pytest.mark.parametrize("data", [claimed(20_000, 20_000), packed("PNG", (9, 9))[:20], packed("JPEG", (9, 9))[:30]])
def test_images_that_cannot_be_read_are_told_by_number(data: bytes) -> None:
    with pytest.raises(PaintError, match=r"^image 0 cannot be read: "):
        check_images({"images": [inline(data)]}, NOWHERE, b"", 1 << 60)
