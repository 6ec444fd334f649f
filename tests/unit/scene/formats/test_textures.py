"""Textures: sRGB made linear, places between texels, edges, and images that are kept once as bytes."""

import tracemalloc

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.scene.formats.textures import (
    CLAMP,
    MIRROR,
    REPEAT,
    Paint,
    PaintedImages,
    linear_table,
    looked_up,
    painted,
)
from sensorium.scene.mesh import Mesh

RED, BLUE = (np.zeros((4, 4, 3), np.uint8) for _ in range(2))
RED[..., 0], BLUE[..., 2] = 255, 255
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])


def test_srgb_becomes_linear():
    assert linear_table()[[0, 10, 128, 255]] == pytest.approx([0.0, 0.003035, 0.215861, 1.0], abs=1e-6)


def index_by_walking(index, count, wrap):
    """The texel for one beyond the edges, by going there step by step."""
    if wrap == CLAMP:
        return min(max(index, 0), count - 1)
    row = list(range(count))
    period = row + row[::-1] if wrap == MIRROR else row
    while index < 0:
        index += len(period)
    while index >= len(period):
        index -= len(period)
    return period[index]


@pytest.mark.parametrize("wrap", [(u, v) for u in (REPEAT, CLAMP, MIRROR) for v in (REPEAT, CLAMP, MIRROR)])
def test_places_beyond_the_edges(wrap):
    """Against the four texels around, one place at a time."""
    rng = np.random.default_rng(7)
    texture = rng.uniform(size=(3, 5, 2)).astype(np.float32)
    for u, v in rng.uniform(-3.0, 3.0, (200, 2)):
        x, y = u * 5 - 0.5, (1 - v) * 3 - 0.5
        expected = np.zeros(2)
        for di in (0, 1):
            for dj in (0, 1):
                i, j = int(np.floor(y)) + di, int(np.floor(x)) + dj
                weight = (1 - abs(y - i)) * (1 - abs(x - j))
                expected += weight * texture[index_by_walking(i, 3, wrap[1]), index_by_walking(j, 5, wrap[0])]
        np.testing.assert_allclose(looked_up(texture, np.array([u, v]), wrap), expected, atol=1e-6)


def test_faces_have_the_image_and_the_factor_of_their_paint():
    pieces = [(RED, Paint(factor=(0.5, 1.0, 1.0))), (BLUE, Paint()), (RED, Paint()), (None, Paint(factor=(0.25,) * 3))]
    made = painted(pieces, [2, 1, 1, 1])
    assert len(made.images) == 2  # kept once
    assert made.nbytes == 2 * RED.nbytes + 5 * 4
    seen = made.at(np.arange(5), np.full((5, 2), 0.4))
    np.testing.assert_allclose(seen, [[0.5, 0, 0], [0.5, 0, 0], [0, 0, 1], [1, 0, 0], [0.25, 0.25, 0.25]], atol=1e-6)


def test_a_mesh_keeps_its_images_when_it_moves_and_refuses_another_number_of_faces():
    made = painted([(RED, Paint())], [1])
    corners = np.concatenate([CORNERS, np.zeros((3, 1))], axis=1)
    mesh = Mesh(corners, [[0, 1, 2]], vertex_properties={"uv": CORNERS}, texture=made)
    assert mesh.transformed(Pose()).texture is made
    assert mesh.scaled(2.0).texture is made
    assert mesh.property_at("texture", 0, [0.2, 0.2]) == pytest.approx([1, 0, 0])
    two = PaintedImages(made.images, made.paints, np.zeros(2, np.int32))
    with pytest.raises(SceneError, match=r"face_paint has shape \(2,\); it must be \(1,\)"):
        Mesh(corners, [[0, 1, 2]], vertex_properties={"uv": CORNERS}, texture=two)


def test_a_large_image_takes_little_more_than_its_bytes(tmp_path):
    """Loaded from a file into a mesh and turned: pixels, and bytes of the decoder."""
    from PIL import Image

    values = 1024 * 1024 * 3
    image = Image.fromarray(np.full((1024, 1024, 3), 128, np.uint8))
    image.resize((8, 8)).save(tmp_path / "gray.jpg")
    (tmp_path / "m.mtl").write_text("newmtl a\nKd 0.5\nmap_Kd gray.jpg\n")
    face = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl a\nf 1/1 2/2 3/3\n"
    (tmp_path / "m.obj").write_text("mtllib m.mtl\n" + face)
    Mesh.load(tmp_path / "m.obj").transformed(Pose())  # what has to be imported for it is no part of the image
    image.save(tmp_path / "gray.jpg")
    tracemalloc.start()
    mesh = Mesh.load(tmp_path / "m.obj")
    turned = mesh.transformed(Pose())
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert turned.texture is mesh.texture
    assert mesh.texture.images[0].shape == (1024, 1024, 3)
    np.testing.assert_allclose(mesh.property_at("texture", 0, [0.2, 0.2]), 0.5 * 0.2159, rtol=0, atol=2e-3)
    assert values <= held < 1.1 * values
    assert peak < 3.5 * values
