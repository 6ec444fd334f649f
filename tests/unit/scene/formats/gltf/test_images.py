"""Images of glTF files: found wherever a file may keep them, measured first, refused in a sentence."""

import base64
import io
import os
import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image

from sensorium.core.errors import SceneError, SceneWarning
from sensorium.scene.formats.gltf.container import Container
from sensorium.scene.formats.gltf.images import Images
from sensorium.scene.formats.textures import PaintError


def packed(form="PNG", size=(3, 2), mode="RGB", **options):
    data = io.BytesIO()
    Image.new(mode, size).save(data, form, **options)
    return data.getvalue()


def claimed(width, height, bits=8, kind=2):
    """A PNG that says its size, and has nothing of it: W3C PNG, 11.2.1."""
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)), (b"IDAT", b""), (b"IEND", b""))
    parts = (struct.pack(">I", len(d)) + name + d + struct.pack(">I", zlib.crc32(name + d)) for name, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def inline(data):
    return {"uri": "data:image/png;base64," + base64.b64encode(data).decode()}


def images(file, *given, max_bytes=1 << 30):
    file.tree["images"] = list(given)
    return Images(Container(file.path(), max_bytes), max_bytes)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_the_three_formats_of_gltf_are_read(file, form):
    assert images(file, {**inline(packed(form)), "mimeType": "image/png"}).pixels(0).shape == (2, 3, 3)


@pytest.mark.parametrize("form", ["BMP", "GIF", "TIFF", "EPS", "PPM"])
def test_images_of_other_formats_are_refused_by_number(file, form):
    made = images(file, inline(packed()), inline(packed(form)))
    with pytest.raises(PaintError, match=r"^image 1 is no PNG or JPEG or WEBP; no others are read$"):
        made.pixels(1)


@pytest.mark.parametrize("data", [b"", b"no image at all"])
def test_what_is_no_image_is_refused(file, data):
    with pytest.raises(PaintError, match=r"^image 0 is no PNG"):
        images(file, inline(data)).pixels(0)


@pytest.mark.parametrize("data", [packed(size=(9, 9))[:20], packed("JPEG", (9, 9))[:30], claimed(20_000, 20_000)])
def test_images_that_cannot_be_read_are_told_by_number(file, data):
    with pytest.raises(PaintError, match=r"^image 0 (cannot be read: |has 20000 x 20000 pixels)"):
        images(file, inline(data), max_bytes=1 << 60).pixels(0)


@pytest.mark.parametrize(("bits", "kind"), [(8, 2), (1, 0), (8, 6)])
def test_a_few_bytes_may_not_claim_a_large_image(file, bits, kind):
    """4 bytes a pixel, all images together: 64 MiB, and 256 for each packed byte; known before any is unpacked."""
    data = claimed(12_000, 9_000, bits, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(PaintError, match=f"432000000 bytes, the most for {len(data)} packed bytes is"):
            images(file, inline(data)).pixels(0)
    made = images(file, *[inline(packed(size=(1000, 1000)))] * 17, max_bytes=60_000_000)
    for number in range(15):
        made.pixels(number)
    with pytest.raises(PaintError, match="image 15 has 1000 x 1000 pixels; unpacked, all up to it take 64000000"):
        made.pixels(15)


def test_images_are_found_wherever_a_file_may_keep_them(file):
    """In a view, from its first byte to its last, and in files whose names are percent-encoded or plain."""
    (file.folder / "looks").mkdir()
    names = {"looks/a b.png": (1, 1), "über.png": (1, 2), "100%.png": (1, 3), "a+b#c.png": (1, 4)}
    for name, size in names.items():
        (file.folder / name).write_bytes(packed(size=size))
    uris = ["looks/a%20b.png", "looks/a b.png", "%C3%BCber.png", "100%.png", "100%25.png", "a%2Bb%23c.png"]
    expected = [(1, 1), (1, 1), (1, 2), (1, 3), (1, 3), (1, 4)]
    file.view(b"before")
    view = file.view(packed(size=(1, 5)))
    file.view(b"behind")
    made = images(file, *({"uri": uri} for uri in uris), {"bufferView": view})
    for number, (width, height) in enumerate([*expected, (1, 5)]):
        assert made.pixels(number).shape == (height, width, 3)
    file.tree["bufferViews"][view]["byteLength"] = 4
    with pytest.raises(PaintError, match=r"^image 0 is no PNG"):
        images(file, {"bufferView": view}).pixels(0)


def test_a_missing_image_is_told_once_and_others_are_not_opened(file):
    (file.folder / "folder.png").mkdir()
    made = images(file, {"uri": "gone.png"}, {"uri": "folder.png"}, inline(b"no image"))
    for number, name in enumerate(("gone.png", "folder.png")):
        with pytest.warns(SceneWarning, match=f"image {number}, '{name}', is not there; its faces are painted without"):
            assert made.pixels(number) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made.pixels(0) is None


@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_pipes_and_devices_are_refused_and_not_waited_for(file, kind):
    if kind == "fifo":
        os.mkfifo(file.folder / "a.png")
        says = "which is a pipe, a socket or a device; it must be a file"
    else:
        (file.folder / "a.png").symlink_to("/dev/zero")
        says = "leaves its folder"
    with pytest.raises(SceneError, match=says):
        images(file, {"uri": "a.png"})


@pytest.mark.parametrize(
    "uri",
    ["../b.png", "%2e%2e/b.png", "/etc/hostname", "..\\b.png", "file:///etc/hostname", "http://127.0.0.1/b.png", 7],
)
def test_places_outside_are_refused_though_no_face_asks(file, uri):
    with pytest.raises(PaintError, match=r"leaves its folder|must be files in its folder|must be a string"):
        images(file, {"uri": uri})


def test_data_that_are_not_base64_are_told(file):
    with pytest.raises(PaintError, match=r"^it has data that are not base64: "):
        images(file, {"uri": "data:image/png;base64,abcde"}).pixels(0)
    with pytest.raises(PaintError, match=r"data in a uri must be data:TYPE;base64,TEXT$"):
        images(file, {"uri": "data:image/png,abcd"})
    with pytest.raises(PaintError, match="image 0 has neither a uri nor a bufferView"):
        images(file, {})


def test_alpha_is_kept_where_there_is_any_and_16_bits_are_scaled(file):
    gray = io.BytesIO()
    Image.fromarray(np.array([[0, 128 * 256, 65535]], np.uint16)).save(gray, "PNG")
    made = images(
        file, inline(packed(mode="RGBA")), inline(packed(mode="LA")), inline(packed(mode="1")), inline(gray.getvalue())
    )
    assert [made.pixels(k).shape[2] for k in range(4)] == [4, 4, 3, 3]
    assert made.pixels(3)[0, :, 0].tolist() == [0, 128, 255]
