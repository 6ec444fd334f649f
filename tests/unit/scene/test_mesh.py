import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.scene import shapes
from sensorium.scene.mesh import Mesh

VERTICES = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 2.0, 3.0]]
FACES = [[0, 1, 2], [2, 1, 3]]


def test_arrays_are_copies_of_fixed_type_and_read_only() -> None:
    vertices = np.array(VERTICES, dtype=np.float32)
    mesh = Mesh(vertices, np.array(FACES, dtype=np.uint64, order="F"))
    vertices[0] = 9.0
    assert np.array_equal(mesh.vertices, VERTICES)
    assert mesh.vertices.dtype == np.float64
    assert mesh.faces.dtype == np.int32
    assert mesh.faces.flags.c_contiguous
    for array in (mesh.vertices, mesh.faces, mesh.bounds):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_extent() -> None:
    mesh = Mesh(VERTICES, FACES)
    assert np.array_equal(mesh.bounds, [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    assert np.array_equal(mesh.center, [0.5, 1.0, 1.5])
    assert mesh.radius == pytest.approx(math.sqrt(14.0))


@pytest.mark.parametrize(
    ("vertices", "faces", "match"),
    [
        ([[0.0, 1.0]], FACES, r"vertices have shape \(1, 2\)"),
        ([*VERTICES[:3], [0.0, math.nan, 0.0]], FACES, "vertex 3 is .*nan"),
        ([*VERTICES[:3], [0.0, math.inf, 0.0]], FACES, "vertex 3 is .*inf"),
        ([*VERTICES[:3], [0.0, -1e30, 0.0]], FACES, "below 1e18"),
        (VERTICES, np.zeros((0, 3), dtype=int), "at least one face"),
        (VERTICES, [[0, 1, 2, 3]], r"faces have shape \(1, 4\)"),
        (VERTICES, [[0.0, 1.0, 2.0]], "type float64"),
        (VERTICES, [[0, 1, 2], [0, 1, 4]], r"face 1 is \[0, 1, 4\]; indices must be in \[0, 4\)"),
        (VERTICES, [[0, -1, 2]], r"face 0 is \[0, -1, 2\]"),
    ],
)
def test_bad_geometry_is_named(vertices: object, faces: object, match: str) -> None:
    with pytest.raises(SceneError, match=match):
        Mesh(vertices, faces)


@pytest.mark.parametrize(
    ("properties", "match"),
    [
        ({"face_properties": {"t": [1.0]}}, "'t' has shape .* length must be 2"),
        ({"vertex_properties": {"t": 1.0}}, "length must be 4"),
        ({"face_properties": {"t": [1.0, math.nan]}}, "'t' is nan at 1"),
        ({"face_properties": {"t": [[0.0, 1.0], [math.inf, 1.0]]}}, r"'t' is \[inf, 1.0\] at 1"),
        ({"face_properties": {"t": ["a", "b"]}}, "must be numbers"),
        (
            {"face_properties": {"t": [1, 2]}, "vertex_properties": {"t": [1, 2, 3, 4]}},
            "both faces and vertices",
        ),
        ({"face_properties": {"label": [0.5, 1.5]}}, "integer or string"),
        ({"face_properties": {"label": [[1], [2]]}}, r"shape \(2, 1\)"),
        ({"face_properties": {"label": [1, -1]}}, "from -1 to 1"),
        ({"face_properties": {"label": [1, 2**31]}}, "2147483648"),
    ],
)
def test_bad_properties_are_named(properties: dict, match: str) -> None:
    with pytest.raises(SceneError, match=match):
        Mesh(VERTICES, FACES, **properties)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(0, 1))
def test_vertex_properties_are_linear_over_a_face(a: float, b: float, face: int) -> None:
    # A property that is an affine function of position must read as that function of the point
    gradient, offset = np.array([[2.0, -1.0, 0.5], [0.0, 1.0, -3.0]]), np.array([4.0, -2.0])
    values = np.array(VERTICES) @ gradient.T + offset
    mesh = Mesh(VERTICES, FACES, vertex_properties={"reflectance": values})
    u, v = (a, b) if a + b <= 1.0 else (1.0 - a, 1.0 - b)
    v0, v1, v2 = mesh.vertices[mesh.faces[face]]
    point = v0 + u * (v1 - v0) + v * (v2 - v0)
    assert mesh.property_at("reflectance", face, [u, v]) == pytest.approx(gradient @ point + offset)


def test_property_at_is_vectorized_and_takes_weights_in_vertex_order() -> None:
    mesh = Mesh(
        VERTICES,
        FACES,
        vertex_properties={"temperature": [10, 20, 30, 40], "bands": np.arange(24.0).reshape(4, 6)},
        face_properties={"reflectance": [[0.1, 0.2], [0.3, 0.4]]},
    )
    face_id = np.array([[0, 0, 0], [1, 1, 1]], dtype=np.int32)
    corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    uv = np.broadcast_to(corner, (2, 3, 2))
    assert np.array_equal(mesh.property_at("temperature", face_id, uv), [[10, 20, 30], [30, 20, 40]])
    assert mesh.property_at("temperature", 0, [0.25, 0.5]) == pytest.approx(0.25 * 10 + 0.25 * 20 + 0.5 * 30)
    assert np.array_equal(mesh.property_at("bands", face_id, uv)[1, 2], np.arange(18.0, 24.0))
    assert mesh.property_at("bands", face_id, uv).shape == (2, 3, 6)
    assert np.array_equal(mesh.property_at("reflectance", face_id, uv)[:, 0], [[0.1, 0.2], [0.3, 0.4]])
    assert mesh.property_at("bands", np.zeros(0, dtype=int), np.zeros((0, 2))).shape == (0, 6)


def test_property_at_names_what_is_wrong() -> None:
    mesh = Mesh(VERTICES, FACES, face_properties={"a": [1, 2]}, vertex_properties={"b": [1, 2, 3, 4]})
    with pytest.raises(SceneError, match=r"no property 'c'; it has: a, b"):
        mesh.property_at("c", [0], [[0.0, 0.0]])
    with pytest.raises(SceneError, match="it has: none"):
        Mesh(VERTICES, FACES).property_at("c", [0], [[0.0, 0.0]])
    for face_id in (-1, 2):
        with pytest.raises(SceneError, match=rf"face_id holds {face_id}; it must be in \[0, 2\)"):
            mesh.property_at("a", [0, face_id], [[0.0, 0.0]] * 2)
    with pytest.raises(SceneError, match="must be integers"):
        mesh.property_at("a", [0.0], [[0.0, 0.0]])
    with pytest.raises(SceneError, match=r"shape \(1, 3\); face_id asks for \(1, 2\)"):
        mesh.property_at("a", [0], [[0.0, 0.0, 0.0]])


def test_labels_stay_exact_beyond_float32_and_a_face_takes_its_first_vertex() -> None:
    big = 2**24 + 1  # the first integer that float32 cannot hold
    mesh = Mesh(VERTICES, FACES, vertex_properties={"label": [big, 7, big + 2, 9]})
    assert mesh.face_labels is not None
    assert mesh.face_labels.dtype == np.int32
    assert mesh.face_labels.tolist() == [big, big + 2]
    assert mesh.property_at("label", [0, 1], [[0.9, 0.1]] * 2).tolist() == [big, big + 2]
    assert Mesh(VERTICES, FACES).face_labels is None


def test_string_labels_are_kept() -> None:
    mesh = Mesh(VERTICES, FACES, face_properties={"label": np.array(["door", ""], dtype=object)})
    assert mesh.face_labels is not None
    assert mesh.face_labels.tolist() == ["door", ""]
    assert mesh.property_at("label", 0, [0.5, 0.5]) == "door"


def test_transformed_keeps_shape_and_properties() -> None:
    mesh = Mesh(VERTICES, FACES, face_properties={"label": [1, 2]}, vertex_properties={"t": [1, 2, 3, 4]})
    pose = Pose.from_euler_deg((1.0, 2.0, 3.0), 10.0, 20.0, 90.0)
    moved = mesh.transformed(pose)
    assert np.allclose(moved.vertices, mesh.vertices @ pose.rotation.T + pose.position)
    assert np.array_equal(moved.faces, mesh.faces)
    assert moved.property_names == ("label", "t")
    assert np.allclose(moved.transformed(pose.inverse()).vertices, mesh.vertices)
    with pytest.raises(SceneError, match=r"batch shape \(2,\)"):
        mesh.transformed(Pose(np.zeros((2, 3))))


def test_merge_offsets_indices_and_joins_properties() -> None:
    a = Mesh(VERTICES, FACES, face_properties={"label": ["a", "b"]}, vertex_properties={"t": [1, 2, 3, 4]})
    b = a.transformed(Pose((5.0, 0.0, 0.0)))
    merged = Mesh.merge([a, b, a])
    expected = np.concatenate([m.vertices[m.faces] for m in (a, b, a)])
    assert np.array_equal(merged.vertices[merged.faces], expected)
    assert merged.face_properties["label"].tolist() == ["a", "b"] * 3
    assert merged.vertex_properties["t"].tolist() == [1, 2, 3, 4] * 3


def test_merge_refuses_what_it_would_have_to_invent() -> None:
    plain = Mesh(VERTICES, FACES)
    with pytest.raises(SceneError, match="at least one"):
        Mesh.merge([])
    with pytest.raises(SceneError, match=r"mesh 1 has face_properties \['t'\] but mesh 0 has \[\]"):
        Mesh.merge([plain, Mesh(VERTICES, FACES, face_properties={"t": [1, 2]})])
    named, numbered = (Mesh(VERTICES, FACES, face_properties={"label": v}) for v in (["a", "b"], [1, 2]))
    with pytest.raises(SceneError, match="mixes strings and numbers"):
        Mesh.merge([named, numbered])
    narrow, wide = (Mesh(VERTICES, FACES, face_properties={"t": np.ones((2, k))}) for k in (1, 3))
    with pytest.raises(SceneError, match="element shapes"):
        Mesh.merge([narrow, wide])


def test_merge_gives_white_to_meshes_without_paint() -> None:
    """And to nothing else; where all have colors none changes."""
    plain = Mesh(VERTICES, FACES)
    painted = Mesh(VERTICES, FACES, face_properties={"texture": [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]})
    by_vertex = Mesh(VERTICES, FACES, vertex_properties={"texture": np.full((4, 2), 0.5)})
    merged = Mesh.merge([plain, painted])
    assert merged.face_properties["texture"] == pytest.approx(
        np.array([[1, 1, 1]] * 2 + [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    )
    assert Mesh.merge([by_vertex, plain]).vertex_properties["texture"].tolist() == [[0.5, 0.5]] * 4 + [[1.0, 1.0]] * 4
    assert plain.property_names == ()
    with pytest.raises(SceneError, match="given for both faces and vertices"):
        Mesh.merge([painted, by_vertex])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"vertices": "abc"}, r"vertices are 'abc'; they must be numbers of shape \(n, 3\)"),
        ({"vertices": [[0, 0, 0], [1]]}, "vertices are .* they must be numbers"),
        ({"faces": [[0, 1, 2], [1]]}, "faces are .* they must be integers"),
        ({"face_properties": {"t": [[1], [1, 2]]}}, "face property 't' is no array"),
    ],
)
def test_what_is_no_array_is_refused(given, words) -> None:
    with pytest.raises(SceneError, match=words):
        Mesh(**{"vertices": VERTICES, "faces": FACES, **given})


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda mesh: pickle.loads(pickle.dumps(mesh))])
def test_copies_hold_the_same_numbers(copied: object) -> None:
    mesh = Mesh(VERTICES, FACES, face_properties={"label": ["a", "b"]}, vertex_properties={"t": [1, 2, 3, 4]})
    other = copied(mesh)  # type: ignore[operator]
    assert np.array_equal(other.vertices, mesh.vertices)
    assert np.array_equal(other.faces, mesh.faces)
    assert other.face_properties["label"].tolist() == ["a", "b"]
    assert other.vertex_properties["t"].tolist() == [1, 2, 3, 4]


def test_meshes_compare_by_identity() -> None:
    assert shapes.box(1.0, 1.0, 1.0) != shapes.box(1.0, 1.0, 1.0)


# --- textures ---------------------------------------------------------------------------------------------------------

SQUARE = {"vertices": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], "faces": [(0, 1, 2), (0, 2, 3)]}
CORNERS = {"uv": np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float)}


def test_a_texture_reads_as_a_property_between_its_texels_and_repeats():
    texture = np.arange(6.0).reshape(2, 3, 1) / 10.0
    mesh = Mesh(**SQUARE, vertex_properties=CORNERS, texture=texture)
    assert "texture" in mesh.property_names

    # Middle of the lower left texel, of the upper left one, and half-way between the two at the bottom left
    at = np.array([(1 / 6, 0.25), (1 / 6, 0.75), (1 / 3, 0.25)])
    face = np.where(at[:, 1] > at[:, 0], 1, 0)
    uv = np.where(
        face[:, None] == 0, np.stack([at[:, 0] - at[:, 1], at[:, 1]], -1), np.stack([at[:, 0], at[:, 1] - at[:, 0]], -1)
    )
    np.testing.assert_allclose(mesh.property_at("texture", face, uv)[:, 0], [0.3, 0.0, 0.35], atol=1e-6)
    corner = mesh.property_at("texture", [0], [(0.0, 0.0)])
    assert corner[0, 0] == pytest.approx((0.3 + 0.5 + 0.0 + 0.2) / 4.0, abs=1e-6)
    moved = mesh.scaled(2.0)
    np.testing.assert_array_equal(moved.texture, mesh.texture)


def test_textures_that_cannot_be_are_refused():
    good = {**SQUARE, "vertex_properties": CORNERS}
    with pytest.raises(SceneError, match=r"texture has shape \(2, 3\); it must be \(rows, columns, bands\)"):
        Mesh(**good, texture=np.zeros((2, 3)))
    with pytest.raises(SceneError, match=r"texture runs from 0.0 to 2.0; it must stay in 0..1"):
        Mesh(**good, texture=np.array([[[0.0], [2.0]]]))
    with pytest.raises(SceneError, match="a texture needs the vertex property 'uv'"):
        Mesh(**SQUARE, texture=np.zeros((2, 3, 1)))
    with pytest.raises(SceneError, match="a mesh to be merged has a texture"):
        Mesh.merge([Mesh(**good, texture=np.zeros((2, 3, 1)))] * 2)
