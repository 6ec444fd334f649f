"""Whole glTF files: pieces joined, mirrored, colored; what several share is kept once."""

import io

import numpy as np
import pytest
from PIL import Image

from sensorium.core.errors import SceneWarning
from sensorium.scene.mesh import Mesh

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
FACES = [[0, 1, 2], [0, 2, 3]]


def test_a_mirror_keeps_the_outside_out_and_turns_normals(file):
    file.primitive(SQUARE, FACES, attributes={"NORMAL": file.array(np.tile([0.6, 0.0, 0.8], (4, 1)))})
    file.tree["nodes"] = [{"mesh": 0, "scale": [-2, 1, 1]}]
    mesh = Mesh.load(file.path())
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()
    np.testing.assert_allclose(mesh.vertex_properties["normal"], np.tile([-0.3, 0.0, 0.8], (4, 1)), atol=1e-6)


def test_pieces_without_colors_are_white_and_normals_are_all_or_none(file):
    red = file.array(np.tile([1.0, 0.0, 0.0, 0.5], (4, 1)))
    file.primitive(SQUARE, FACES, attributes={"COLOR_0": red, "NORMAL": file.array(SQUARE)})
    file.primitive(SQUARE, FACES)
    mesh = Mesh.load(file.path())
    assert mesh.vertex_properties["color"].tolist() == [[1, 0, 0, 0.5]] * 4 + [[1, 1, 1, 1]] * 4
    assert "normal" not in mesh.property_names


def test_an_image_of_many_pieces_is_kept_once_as_bytes(file):
    """Fifty squares of ten materials with one image of 256 x 256, repeated three times: 196,608 bytes, not 118 MB."""
    data = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (256, 256, 3)).astype(np.uint8)).save(data, "PNG")
    for k in range(50):
        file.primitive(SQUARE, FACES, attributes={"TEXCOORD_0": file.array(3 * SQUARE[:, :2])}, material=k % 10)
    paint = [{"baseColorTexture": {"index": 0}, "baseColorFactor": [k / 10, 1, 1, 1]} for k in range(10)]
    file.tree |= {
        "materials": [{"pbrMetallicRoughness": each} for each in paint],
        "textures": [{"source": 0}],
        "images": [{"bufferView": file.view(data.getvalue())}],
    }
    mesh = Mesh.load(file.path())
    assert [image.nbytes for image in mesh.texture.images] == [196_608]
    assert mesh.texture.nbytes == 196_608 + 100 * 4
    at = np.array([0.3, 0.2])
    values = np.array([mesh.property_at("texture", 2 * k, at) for k in range(50)])
    np.testing.assert_allclose(values[:, 0], np.arange(50) % 10 / 10 * values[9, 0] / 0.9, rtol=1e-6)


def test_a_missing_image_warns_and_leaves_the_color(file):
    file.primitive(SQUARE, FACES, attributes={"TEXCOORD_0": file.array(SQUARE[:, :2])}, material=0)
    paint = {"baseColorTexture": {"index": 0}, "baseColorFactor": [0.5, 0.25, 0.125, 1]}
    file.tree |= {
        "materials": [{"pbrMetallicRoughness": paint}],
        "textures": [{"source": 0}],
        "images": [{"uri": "gone%20image.png"}],
    }
    with pytest.warns(SceneWarning, match="image 0, 'gone%20image.png', is not there"):
        mesh = Mesh.load(file.path())
    np.testing.assert_allclose(mesh.face_properties["texture"], [[0.5, 0.25, 0.125]] * 2)
