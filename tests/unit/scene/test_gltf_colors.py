"""Base colours of glTF files: as numbers, and as what their faces reflect."""

import json

import numpy as np
import pytest
import trimesh

from sensorium.errors import SceneError
from sensorium.scene.gltf_colors import base_colors, exact_color, of_faces
from sensorium.scene.mesh import Mesh
from sensorium.scene.textures import PaintError


def material(color, name="paint"):
    return {"name": name, "pbrMetallicRoughness": {"baseColorFactor": color}}


def header(*materials, used=(0,)):
    return {"materials": list(materials), "meshes": [{"primitives": [{"material": each} for each in used]}]}


@pytest.fixture(scope="module")
def scene():
    """Three boxes side by side, as trimesh writes them; the first two have a material."""
    made = trimesh.Scene()
    for number in range(3):
        box = trimesh.creation.box((1, 1, 1)).apply_translation((3 * number, 0, 0))
        if number < 2:
            paint = trimesh.visual.material.PBRMaterial(name=f"paint {number}", baseColorFactor=[9, 9, 9, 255])
            box.visual = trimesh.visual.TextureVisuals(material=paint)
        made.add_geometry(box, node_name=f"box {number}")
    return {name: bytes(data) for name, data in made.export(file_type="gltf").items()}


def written(folder, scene, colors):
    """The file with other base colours, since trimesh writes eight bits of each."""
    for name, data in scene.items():
        (folder / name).write_bytes(data)
    tree = json.loads(scene["model.gltf"])
    for given, color in zip(tree["materials"], colors, strict=True):
        given["pbrMetallicRoughness"] = {} if color is None else {"baseColorFactor": color}
    (folder / "model.gltf").write_text(json.dumps(tree))
    return folder / "model.gltf"


def color_at(mesh, x):
    faces = np.flatnonzero(np.abs(mesh.vertices[mesh.faces].mean(axis=1)[:, 0] - x) < 0.6)
    assert len(faces) == 12
    (color,) = np.unique(mesh.property_at("texture", faces, np.full((12, 2), 0.3)), axis=0)
    return color.tolist()


def test_faces_have_the_base_colour_of_their_material_and_white_without(tmp_path, scene):
    """To all digits: 0.001 is nothing in eight bits, and the two colours are the same there."""
    mesh = Mesh.load(written(tmp_path, scene, [[0.001, 0.5, 0.25, 1.0], [0.0011, 0.5, 0.25, 0.5]]))
    assert mesh.face_properties["texture"].shape == (36, 3)
    assert color_at(mesh, 0.0) == pytest.approx([0.001, 0.5, 0.25], rel=1e-6)
    assert color_at(mesh, 3.0) == pytest.approx([0.0011, 0.5, 0.25], rel=1e-6)
    assert color_at(mesh, 6.0) == [1.0, 1.0, 1.0]


def test_a_file_whose_materials_have_no_colour_is_not_painted(tmp_path, scene):
    assert Mesh.load(written(tmp_path, scene, [None, None])).property_names == ()


def test_the_shape_alone_is_read_without_paint(tmp_path, scene):
    path = written(tmp_path, scene, [[2.0, 0, 0, 1], None])
    with pytest.raises(
        SceneError, match=r"material 0 has baseColorFactor \[2.0, 0, 0, 1\]; it must be 4 numbers in 0..1; paint=False"
    ):
        Mesh.load(path)
    assert Mesh.load(path, paint=False).property_names == ()


@pytest.mark.parametrize(
    "color", ["red", [1, 1, 1], [1, 1, 1, "1"], [True, 0, 0, 1], [-0.1, 0, 0, 1], None, [1e400] * 4]
)
def test_what_is_no_colour_is_refused_where_it_is_used(color):
    with pytest.raises(PaintError, match="material 1 has baseColorFactor"):
        base_colors(header(material([1, 1, 1, 1]), material(color), used=(0, 1)))
    assert base_colors(header(material([1, 1, 1, 1], "a"), material(color), used=(0,))) == [("a", (1.0, 1.0, 1.0))]


def test_materials_that_say_nothing_are_passed_over():
    assert base_colors({}) == []
    assert base_colors(header({}, "no material", {"pbrMetallicRoughness": 3}, used=(0, 1, 2, 7))) == []


def test_a_colour_read_in_eight_bits_is_found_again():
    known = [("a", (0.5, 0.001, 0.2)), ("b", (0.5, 0.0015, 0.2))]
    assert exact_color([128, 0, 51, 255], "b", known) == (0.5, 0.0015, 0.2)
    assert exact_color([128, 0, 51, 255], "else", known) == (0.5, 0.001, 0.2)
    assert exact_color([51, 51, 0, 255], "a", known) == (0.2, 0.2, 0.0)
    assert exact_color(None, "a", known) == (1.0, 1.0, 1.0)
    assert of_faces([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)], [2, 1]).tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0]]
