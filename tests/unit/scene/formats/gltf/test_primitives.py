"""Triangles of glTF meshes: strips, fans, quantized and morphed ones, and many that share arrays."""

import sys

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.scene import shapes
from sensorium.scene.formats.gltf.primitives import triangles
from sensorium.scene.mesh import Mesh

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)


def test_strips_and_fans_by_the_rules_of_the_format():
    """glTF 2.0, 3.7.2.1: p_i = {v_i, v_i+(1+i%2), v_i+(2-i%2)} for strips, {v_i+1, v_i+2, v_0} for fans."""
    corners = np.array([4, 7, 1, 3, 9, 2])
    strip = [[corners[i], corners[i + 1 + i % 2], corners[i + 2 - i % 2]] for i in range(4)]
    fan = [[corners[i + 1], corners[i + 2], corners[0]] for i in range(4)]
    assert triangles(corners, 5).tolist() == strip
    assert triangles(corners, 6).tolist() == fan
    assert triangles(corners[:5], 4).tolist() == [[4, 7, 1]]
    assert triangles(np.array([0, 1, 2, 2, 3, 3, 4, 5]), 5).tolist() == [[0, 1, 2], [3, 5, 4]]
    assert triangles(corners[:2], 5).shape == triangles(corners[:0], 6).shape == (0, 3)


@pytest.mark.parametrize(("mode", "order"), [(5, [0, 1, 3, 2]), (6, [0, 1, 2, 3])])
@pytest.mark.parametrize("indexed", [True, False])
def test_a_square_as_strip_or_fan_faces_up(file, mode, order, indexed):
    primitive = file.primitive(SQUARE if indexed else SQUARE[order], order, mode=mode)
    if not indexed:
        del primitive["indices"]
    mesh = Mesh.load(file.path())
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    np.testing.assert_allclose(np.cross(b - a, c - a), [[0, 0, 1]] * 2)


def test_points_and_lines_have_no_surface(file):
    file.primitive(SQUARE, [0, 1, 2], mode=4)
    for mode in (0, 1, 2, 3):
        file.primitive(SQUARE, [0, 1, 2, 3], mode=mode)
    assert len(Mesh.load(file.path()).faces) == 1


@pytest.mark.parametrize(
    ("dtype", "normalized"), [("i1", True), ("u1", False), ("i2", True), ("u2", True), ("i2", False)]
)
def test_quantized_positions(file, dtype, normalized):
    """KHR_mesh_quantization; the node scales them back."""
    rng = np.random.default_rng(5)
    values = rng.integers(0, 100, (4, 3))
    primitive = file.primitive(SQUARE, [0, 1, 2, 0, 2, 3])
    primitive["attributes"]["POSITION"] = file.array(values, dtype, normalized=normalized)
    file.tree |= {"extensionsRequired": ["KHR_mesh_quantization"], "nodes": [{"mesh": 0, "scale": [2, 2, 2]}]}
    expected = 2.0 * values / (np.iinfo(dtype).max if normalized else 1.0)
    np.testing.assert_allclose(Mesh.load(file.path()).vertices, expected, rtol=1e-12)


def test_morph_targets_move_vertices_by_their_weights(file):
    rng = np.random.default_rng(6)
    moves = rng.normal(size=(2, 4, 3)).astype("f4")
    targets = [{"POSITION": file.array(move)} for move in moves]
    file.primitive(SQUARE, [0, 1, 2], targets=targets)
    file.tree["meshes"][0]["weights"] = [0.25, 0.5]
    file.tree["nodes"] = [{"mesh": 0}, {"mesh": 0, "weights": [1.0, 0.0]}]
    file.tree["scenes"] = [{"nodes": [0, 1]}]
    mesh = Mesh.load(file.path())
    np.testing.assert_allclose(mesh.vertices[:4], SQUARE + 0.25 * moves[0] + 0.5 * moves[1], atol=1e-6)
    np.testing.assert_allclose(mesh.vertices[4:], SQUARE + moves[0], atol=1e-6)


def test_a_mesh_of_many_primitives_with_equal_names_is_read_whole(file):
    """Random sets of primitives, names that look like those other readers make up; each load gives the same."""
    rng = np.random.default_rng(7)
    expected = []
    for _ in range(300):
        vertices = rng.normal(size=(3, 3)).astype("f4")
        file.primitive(vertices, [0, 1, 2])
        expected.append(vertices)
    file.tree["meshes"][0]["name"] = "part_1"
    file.tree["meshes"].append({**file.tree["meshes"][0], "name": "part"})
    file.tree["nodes"] = [{"mesh": 0, "name": "part"}, {"mesh": 1, "name": "part"}]
    file.tree["scenes"] = [{"nodes": [0, 1]}]
    for _ in range(3):
        mesh = Mesh.load(file.path())
        np.testing.assert_array_equal(mesh.vertices[mesh.faces], np.array(expected * 2, float))


def test_primitives_that_share_one_array_take_what_they_use(file):
    """400 triangles, each a primitive on the same 1200 vertices: 1200 vertices come out, not 480,000."""
    rng = np.random.default_rng(8)
    vertices = rng.normal(size=(1200, 3)).astype("f4")
    normals = rng.normal(size=(1200, 3)).astype("f4")
    shared = file.array(vertices), file.array(normals)
    order = rng.permutation(1200).reshape(400, 3)
    for face in order:
        made = {"attributes": {"POSITION": shared[0], "NORMAL": shared[1]}, "indices": file.array(face, "u2")}
        file.tree["meshes"][0]["primitives"].append(made)
    mesh = Mesh.load(file.path())
    assert mesh.vertices.shape == (1200, 3)
    np.testing.assert_array_equal(mesh.vertices[mesh.faces], vertices[order].astype(float))
    np.testing.assert_allclose(mesh.vertex_properties["normal"][mesh.faces], normals[order], rtol=1e-6)


def test_colors_keep_their_digits(file):
    colors = np.array([[0.001, 0.5, 0.25], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    file.primitive(SQUARE, [0, 1, 2], attributes={"COLOR_0": file.array(colors)})
    seen = Mesh.load(file.path()).vertex_properties["color"]
    np.testing.assert_allclose(seen, np.concatenate([colors, np.ones((4, 1))], axis=1), rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"indices": 1}, "takes indices from accessor 1; they must be unsigned"),
        ({"extensions": {"EXT_unknown": {}}}, "mesh 0 uses the extension EXT_unknown, which is not supported"),
        ({"attributes": {}}, "mesh 0 has POSITION None"),
        ({"attributes": {"POSITION": 1, "TEXCOORD_0": 0}}, "mesh 0 uses accessor 0 of 3 numbers an item"),
    ],
)
def test_what_contradicts_itself_is_refused(file, change, says):
    file.array(SQUARE)
    file.primitive(SQUARE, [0, 1, 2])
    file.tree["meshes"][0]["primitives"][0] |= change
    with pytest.raises(SceneError, match=says):
        Mesh.load(file.path())


def test_indices_beyond_the_vertices_are_named(file):
    file.primitive(SQUARE, [[0, 1, 2], [0, 2, 4]])
    with pytest.raises(SceneError, match=r"face 1 of mesh 0 is \[0, 2, 4\]; indices must be in \[0, 4\)"):
        Mesh.load(file.path())


BALL = shapes.sphere(1.0, subdivisions=2)


def packed(file, data):
    attributes = {"POSITION": 0}
    extension = {"bufferView": file.view(data), "attributes": {"POSITION": 0}}
    file.tree["accessors"] = [
        {"componentType": 5126, "count": len(BALL.vertices), "type": "VEC3"},
        {"componentType": 5125, "count": BALL.faces.size, "type": "SCALAR"},
    ]
    file.tree["meshes"][0]["primitives"] = [
        {"attributes": attributes, "indices": 1, "extensions": {"KHR_draco_mesh_compression": extension}}
    ]
    file.tree["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    return file


def by_place(triangles):
    """Triangles in an order that does not depend on where they stand in a file, or on which corner comes first."""
    turned = [np.roll(t, -min(range(3), key=lambda k: tuple(t[k])), axis=0) for t in np.round(triangles, 3) + 0.0]
    return sorted(t.ravel().tolist() for t in turned)


def test_what_was_packed_comes_out(file):
    draco = pytest.importorskip("DracoPy")
    data = draco.encode(BALL.vertices.astype("f4"), BALL.faces.astype("u4"), quantization_bits=20)
    mesh = Mesh.load(packed(file, data).path())
    np.testing.assert_allclose(by_place(mesh.vertices[mesh.faces]), by_place(BALL.vertices[BALL.faces]), atol=2e-3)


def test_bytes_that_draco_does_not_know_are_told(file):
    pytest.importorskip("DracoPy")
    with pytest.raises(SceneError, match="mesh 0 cannot be unpacked by Draco"):
        Mesh.load(packed(file, b"no draco at all").path())
    draco = pytest.importorskip("DracoPy")
    data = draco.encode(BALL.vertices.astype("f4"), BALL.faces.astype("u4"))
    packed(file, data)
    extension = file.tree["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"]
    extension["attributes"] = {"POSITION": 7}
    with pytest.raises(SceneError, match="mesh 0 takes POSITION from number 7 of what Draco packs"):
        Mesh.load(file.path())
    file.tree["accessors"][0]["count"] = 10**9
    with pytest.raises(SceneError, match="mesh 0 claims 1000000000 vertices and 960 corners; the file is too small"):
        Mesh.load(file.path())


def test_without_a_decoder_one_line_says_what_to_install(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "DracoPy", None)
    with pytest.raises(SceneError, match=r"m\.gltf: mesh 0 is packed by Draco, .* pip install 'sensorium\[draco\]'$"):
        Mesh.load(packed(file, b"anything").path())
