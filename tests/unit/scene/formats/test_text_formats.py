from pathlib import Path

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.scene.mesh import Mesh

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"


def load(tmp_path: Path, name: str, text: str) -> Mesh:
    (tmp_path / name).write_text(text)
    return Mesh.load(tmp_path / name)


def test_obj_polygons_comments_continuations_and_slashes(tmp_path: Path) -> None:
    text = "# a square and a tip\r\n v 0 0 0\nv\t1 0 0 \nv 1 1 \\\n 0\nv 0 1 0 # last\nv 2 2 2 1.0\n"
    text += "vt 0 0\nvn 0 0 1\no thing\nusemtl x\nf 1/1/1 2/1/1 3/1/1 4/1/1\nf 1//1 2//1 5//1\n"
    mesh = load(tmp_path, "m.obj", text)
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 2, 2]]
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 4]]


def test_obj_relative_indices_count_back_from_their_own_line(tmp_path: Path) -> None:
    mesh = load(tmp_path, "m.obj", TRIANGLE + "f -3 -2 -1\n" + TRIANGLE.replace("0\n", "5\n") + "f -3 -2 -1\n")
    assert mesh.faces.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_obj_faces_keep_the_order_of_the_file_across_materials(tmp_path: Path) -> None:
    text = TRIANGLE + "v 0 0 1\nusemtl a\nf 1 2 3\nusemtl b\nf 1 2 4\nusemtl a\nf 2 3 4\n"
    assert load(tmp_path, "m.obj", text).faces.tolist() == [[0, 1, 2], [0, 1, 3], [1, 2, 3]]


def test_coff_colors_and_polygons(tmp_path: Path) -> None:
    vertices = "0 0 0 255 0 0 255\n1 0 0 0 255 0 255\n1 1 0 0 0 255 0\n0 1 0 51 51 51 255\n"
    text = "COFF\n# square\n4 1 0\n" + vertices + "4 0 1 2 3\n"
    mesh = load(tmp_path, "m.off", text)
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    expected = [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0], [0.2, 0.2, 0.2, 1]]
    assert np.allclose(mesh.vertex_properties["color"], expected)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (TRIANGLE + "v nan 0 0\nf 1 2 3\n", r"vertex 3 is \[nan"),
        (TRIANGLE + "v inf 0 0\nf 1 2 3\n", r"vertex 3 is \[inf"),
        (TRIANGLE + "v 1e400 0 0\nf 1 2 3\n", r"vertex 3 is \[inf"),
        (TRIANGLE + "v x 0 0\nf 1 2 3\n", "no number"),
        (TRIANGLE + "v 0 0\nf 1 2 3\n", "line 4 has a vertex of 2 numbers"),
        (TRIANGLE + "f 1 2 4\n", r"face 0 is \[0, 1, 3\]; indices must be in \[0, 3\)"),
        (TRIANGLE + "f 0 1 2\n", "line 4 uses vertex 0"),
        (TRIANGLE + "f -4 1 2\n", "line 4 uses vertex -4"),
        (TRIANGLE + "f 1 2 99999999999999999999\n", "beyond"),
        (TRIANGLE + "f 1 2\n", "line 4 has a face of 2 vertices"),
        (TRIANGLE + "f 1 2 x\n", "line 4 has 'x'; it must be an integer"),
        (TRIANGLE, "at least one face"),
        ("mtllib ../secret.mtl\n" + TRIANGLE + "f 1 2 3\n", "leaves its folder"),
        ("mtllib /etc/passwd\n" + TRIANGLE + "f 1 2 3\n", "leaves its folder"),
    ],
)
def test_bad_obj_is_named(tmp_path: Path, text: str, match: str) -> None:
    with pytest.raises(SceneError, match=rf"m\.obj: .*{match}"):
        load(tmp_path, "m.obj", text)


def test_obj_material_through_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "out.mtl").write_text("newmtl a\n")
    (inside / "in.mtl").symlink_to(tmp_path / "out.mtl")
    with pytest.raises(SceneError, match="leaves its folder"):
        load(inside, "m.obj", "mtllib in.mtl\n" + TRIANGLE + "f 1 2 3\n")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("OFF\n3 1 0\n0 0 0\n1 0 0\n", "claims 3 vertices and 1 faces; it has 2 and 0"),
        ("OFF\n3 1000000000 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "claims 3 vertices and 1000000000 faces"),
        ("OFF\n-3 1 0\n", "neither may be negative"),
        ("OFF\n", "no vertex and face counts"),
        ("PLY\n", "begins with 'PLY'"),
        ("OFF 3 1 0\n0 0 0\n1 0 0\n0 1 nan\n3 0 1 2\n", r"vertex 2 is .*nan"),
        ("OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", r"indices must be in \[0, 3\)"),
        ("OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", r"indices must be in \[0, 3\)"),
        ("OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n", "line 5 claims 4 vertices and lists 3"),
        ("OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n-1 0 1 2\n", "line 5 claims -1 vertices"),
    ],
)
def test_bad_off_is_named(tmp_path: Path, text: str, match: str) -> None:
    with pytest.raises(SceneError, match=rf"m\.off: .*{match}"):
        load(tmp_path, "m.off", text)


FACET = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("solid a\n" + FACET, "stops before"),
        ("solid a\n" + FACET + FACET[:60], "stops before"),
        ("solid a\n" + FACET.replace("vertex 1 0 0\n", "") + "endsolid\n", "not exactly 3 vertices"),
        ("solid a\n" + FACET.replace("1 0 0", "1 0") + "endsolid\n", "line 5 has a vertex of 2"),
        ("solid a\n" + FACET.replace("1 0 0", "1 nan 0") + "endsolid\n", r"vertex 1 is .*nan"),
        ("solid a\nendsolid\n", "at least one face"),
    ],
)
def test_bad_text_stl_is_named(tmp_path: Path, text: str, match: str) -> None:
    with pytest.raises(SceneError, match=rf"m\.stl: .*{match}"):
        load(tmp_path, "m.stl", text)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["255 0 51", "0 255 0 102", "1 1 1"], [[1, 0, 0.2, 1], [0, 1, 0, 0.4], [1 / 255] * 3 + [1]]),
        (["1.0 0.0 0.2", "0 1 0 0.4", "1 1 1"], [[1, 0, 0.2, 1], [0, 1, 0, 0.4], [1, 1, 1, 1]]),
        (["1e0 0 0", "0 0 0 1", "0 0 1"], [[1, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 1]]),
    ],
)
def test_off_colors_are_bytes_or_shares(tmp_path: Path, rows: list[str], expected: list) -> None:
    points = ["0 0 0", "1 0 0", "0 1 0"]
    text = "COFF\n3 1 0\n" + "".join(f"{p} {c}\n" for p, c in zip(points, rows, strict=True)) + "3 0 1 2\n"
    np.testing.assert_allclose(load(tmp_path, "m.off", text).vertex_properties["color"], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("row", "match"),
    [("256 0 0", "whole numbers in 0..255"), ("1.5 0 0", "numbers in 0..1"), ("-1 0 0", "whole numbers")],
)
def test_off_colors_out_of_range_are_named(tmp_path: Path, row: str, match: str) -> None:
    text = f"COFF\n3 1 0\n0 0 0 1 1 1\n1 0 0 {row}\n0 1 0 0 0 0\n3 0 1 2\n"
    with pytest.raises(SceneError, match=rf"vertex 1 has the color .*; it must be {match}"):
        load(tmp_path, "m.off", text)
