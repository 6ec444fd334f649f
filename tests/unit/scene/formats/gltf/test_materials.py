"""Base colors and where images lie, against what the format says, point by point."""

import base64
import io
import math
import os
import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image

import sensorium as sn
from sensorium.core.errors import SceneError, SceneWarning
from sensorium.scene.formats.gltf.container import Container
from sensorium.scene.formats.gltf.materials import Images, Material, read_material
from sensorium.scene.formats.textures import CLAMP, MIRROR, REPEAT, PaintError, linear_table, looked_up
from sensorium.scene.mesh import Mesh

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
FACES = [[0, 1, 2], [0, 2, 3]]
PICTURE = np.random.default_rng(0).integers(0, 256, (6, 9, 3)).astype(np.uint8)


def png(pixels):
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    return data.getvalue()


def painted(file, uv, material, uv_sets=1, pixels=PICTURE, **texture):
    """A square with texture coordinates, (4, 2) each, and an image."""
    sets = uv if uv_sets > 1 else [uv]
    attributes = {f"TEXCOORD_{k}": file.array(each) for k, each in enumerate(sets)}
    file.primitive(SQUARE, FACES, attributes=attributes, material=0)
    file.tree |= {
        "materials": [material],
        "textures": [{"source": 0, **texture}],
        "images": [{"bufferView": file.view(png(pixels)), "mimeType": "image/png"}],
    }
    return file


def image_at(uv_down, wrap=(REPEAT, REPEAT), pixels=PICTURE):
    """The image at texture coordinates as the format counts them: v downwards."""
    up = np.stack([uv_down[..., 0], 1.0 - uv_down[..., 1]], axis=-1)
    return looked_up(linear_table()[pixels], up, wrap)


def seen(mesh, count=100):
    """Random points on faces: (x, y) on the square and what is seen there."""
    rng = np.random.default_rng(1)
    face, weights = rng.integers(0, len(mesh.faces), count), rng.dirichlet([1, 1, 1], count)
    at = np.einsum("kc,kcx->kx", weights, mesh.vertices[mesh.faces[face]])
    return at[:, :2], mesh.property_at("texture", face, weights[:, 1:])


def textured(**info):
    return {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0, **info}}}


def test_the_image_lies_as_texture_coordinates_say(file):
    material = textured()
    material["pbrMetallicRoughness"]["baseColorFactor"] = [0.5, 0.25, 1.0, 1.0]
    at, values = seen(Mesh.load(painted(file, 3.0 * SQUARE[:, :2] - 1.0, material).path()))
    np.testing.assert_allclose(values, [0.5, 0.25, 1.0] * image_at(3.0 * at - 1.0), atol=1e-5)


def test_the_second_set_of_coordinates(file):
    sets = [SQUARE[:, :2], 0.5 * SQUARE[:, :2] + 0.25]
    at, values = seen(Mesh.load(painted(file, sets, textured(texCoord=1), uv_sets=2).path()))
    np.testing.assert_allclose(values, image_at(0.5 * at + 0.25), atol=1e-5)


@pytest.mark.parametrize(("u", "v"), [(33071, 33648), (33648, 10497), (10497, 33071)])
def test_what_lies_beyond_the_image(file, u, v):
    kinds = {10497: REPEAT, 33071: CLAMP, 33648: MIRROR}
    painted(file, 4.0 * SQUARE[:, :2] - 1.5, textured(), sampler=0)
    file.tree["samplers"] = [{"wrapS": u, "wrapT": v}]
    at, values = seen(Mesh.load(file.path()))
    np.testing.assert_allclose(values, image_at(4.0 * at - 1.5, (kinds[u], kinds[v])), atol=1e-5)


def test_images_are_moved_turned_and_scaled(file):
    """KHR_texture_transform: scaled, then turned counter-clockwise with v downwards, then moved."""
    moved = {"offset": [0.3, -0.2], "rotation": 0.7, "scale": [2.0, 0.5], "texCoord": 1}
    sets = [0.0 * SQUARE[:, :2], SQUARE[:, :2]]
    painted(file, sets, textured(extensions={"KHR_texture_transform": moved}), uv_sets=2)
    file.tree["extensionsRequired"] = ["KHR_texture_transform"]
    at, values = seen(Mesh.load(file.path()))
    scaled = at * [2.0, 0.5]
    c, s = math.cos(0.7), math.sin(0.7)
    turned = np.stack([c * scaled[:, 0] + s * scaled[:, 1], c * scaled[:, 1] - s * scaled[:, 0]], axis=-1)
    np.testing.assert_allclose(values, image_at(turned + [0.3, -0.2]), atol=1e-5)


def test_shiny_materials_of_old_have_a_diffuse_color(file):
    shiny = {"diffuseFactor": [0.5, 0.5, 0.5, 1], "diffuseTexture": {"index": 0}}
    painted(file, SQUARE[:, :2], {"extensions": {"KHR_materials_pbrSpecularGlossiness": shiny}})
    at, values = seen(Mesh.load(file.path()))
    np.testing.assert_allclose(values, 0.5 * image_at(at), atol=1e-5)


def test_webp_images_by_their_extension(file):
    data = io.BytesIO()
    Image.fromarray(PICTURE).save(data, "WEBP", lossless=True)
    painted(file, SQUARE[:, :2], textured(), source=1, extensions={"EXT_texture_webp": {"source": 0}})
    file.tree["images"] = [{"bufferView": file.view(data.getvalue())}]
    file.tree["extensionsRequired"] = ["EXT_texture_webp"]
    at, values = seen(Mesh.load(file.path()))
    np.testing.assert_allclose(values, image_at(at), atol=1e-5)


def test_a_mask_cuts_holes_and_blending_does_not(file):
    """Alpha of the left half of the image is 0: there is no face there, to within half a texel."""
    pixels = np.full((8, 8, 4), 255, np.uint8)
    pixels[:, :4, 3] = 0
    painted(file, SQUARE[:, :2], {**textured(), "alphaMode": "MASK"}, pixels=pixels, sampler=0)
    file.tree["samplers"] = [{"wrapS": 33071, "wrapT": 33071}]

    def area(mesh):
        a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
        return 0.5 * np.cross(b - a, c - a)[:, 2].sum()

    masked = Mesh.load(file.path())
    assert area(masked) == pytest.approx(0.5, abs=1e-6)
    assert masked.vertices[masked.faces][..., 0].min() == pytest.approx(0.5, abs=1e-6)
    assert area(Mesh.load(file.path(), paint=False)) == pytest.approx(1.0)
    file.tree["materials"][0]["alphaMode"] = "BLEND"
    assert area(Mesh.load(file.path())) == pytest.approx(1.0)
    file.tree["materials"][0] |= {"alphaMode": "MASK", "alphaCutoff": 0.0}
    assert area(Mesh.load(file.path())) == pytest.approx(1.0)
    file.tree["materials"][0] |= {"alphaCutoff": 1.5}
    with pytest.raises(SceneError, match="it has no triangles"):
        Mesh.load(file.path())


def test_rays_pass_where_the_mask_has_a_hole(file):
    """A lattice of opaque squares on a card; vertical rays meet it where alpha at their place is above a half."""
    rows = (np.arange(32) // 8) % 2
    alpha = np.where(rows[:, None] ^ rows, 255, 0).astype(np.uint8)
    pixels = np.concatenate([np.full((32, 32, 3), 99, np.uint8), alpha[..., None]], axis=2)
    painted(file, SQUARE[:, :2], {**textured(), "alphaMode": "MASK"}, pixels=pixels)
    mesh = Mesh.load(file.path())
    rng = np.random.default_rng(2)
    at = rng.uniform(0.0, 1.0, (500, 2))
    value = image_at(at, pixels=np.repeat(alpha[..., None], 3, axis=2))[:, 0]
    origins = np.concatenate([at, np.ones((500, 1))], axis=1)
    scene = sn.Scene()
    scene.add(mesh)
    hits = sn.RayCaster(scene).cast(origins, np.tile([0.0, 0.0, -1.0], (500, 1)))
    sure = (value < 1e-6) | (value > 1 - 1e-6)
    assert sure.sum() > 300
    np.testing.assert_array_equal((hits.face_id >= 0)[sure], value[sure] > 0.5)


def test_colors_without_images_are_one_a_face(file):
    for number in range(3):
        file.primitive(SQUARE + [2 * number, 0, 0], FACES, material=number)
    colors = [[0.001, 0.5, 0.25, 1.0], [0.0011, 0.5, 0.25, 0.5], None]
    file.tree["materials"] = [{"pbrMetallicRoughness": {} if c is None else {"baseColorFactor": c}} for c in colors]
    mesh = Mesh.load(file.path())
    expected = np.repeat([[0.001, 0.5, 0.25], [0.0011, 0.5, 0.25], [1, 1, 1]], 2, axis=0)
    np.testing.assert_allclose(mesh.face_properties["texture"], expected, rtol=1e-6)
    file.tree["materials"] = [{}, {}, {}]
    assert Mesh.load(file.path()).property_names == ()


@pytest.mark.parametrize(
    ("material", "says"),
    [
        *(
            ({"pbrMetallicRoughness": {"baseColorFactor": color}}, "material 0 has baseColorFactor .*4 numbers in 0..1")
            for color in ("red", [1, 1, 1], [1, 1, 1, "1"], [True, 0, 0, 1], [-0.1, 0, 0, 1], None, [1e400] * 4)
        ),
        (textured(texCoord=-1), "material 0 has texCoord -1"),
        ({"pbrMetallicRoughness": {"baseColorTexture": {"index": 3}}}, "material 0 uses number 3 of textures"),
        (textured(extensions={"KHR_texture_transform": {"scale": [1]}}), r"scale \[1\] .* each must be 2 numbers"),
        (textured(extensions={"KHR_texture_transform": {"rotation": 1e99}}), "rotation 1e.99; it must be a finite"),
        ({"pbrMetallicRoughness": 3}, "material 0 has pbrMetallicRoughness '3'; it must be an object"),
        ({"alphaMode": "MASK", "alphaCutoff": "half"}, "material 0 has alphaCutoff half"),
    ],
)
def test_what_is_no_paint_is_refused_and_its_shape_can_be_had(file, material, says):
    path = painted(file, SQUARE[:, :2], material).path()
    with pytest.raises(SceneError, match=rf"{says}.*paint=False loads its shape alone"):
        Mesh.load(path)
    assert len(Mesh.load(path, paint=False).faces) == 2


def test_textures_that_cannot_be_decoded_are_told(file):
    painted(file, SQUARE[:, :2], textured(), extensions={"KHR_texture_basisu": {"source": 0}})
    file.tree["extensionsRequired"] = ["KHR_texture_basisu"]
    assert len(Mesh.load(file.path()).faces) == 2  # its fallback is read
    del file.tree["textures"][0]["source"]
    with pytest.raises(SceneError, match=r"texture 0 is packed as KTX2 .KHR_texture_basisu., for which no maintained"):
        Mesh.load(file.path())
    file.tree["textures"][0]["sampler"] = 0
    file.tree["textures"][0]["source"] = 0
    file.tree["samplers"] = [{"wrapS": 7}]
    with pytest.raises(SceneError, match="texture 0 wraps by 7; it must be one of"):
        Mesh.load(file.path())


def test_a_primitive_without_a_material_is_white(file):
    file.primitive(SQUARE, FACES)
    assert read_material(Container(file.path(), 1 << 20), None) == Material()


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
