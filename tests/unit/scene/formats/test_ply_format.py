import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sensorium.core.errors import SceneError
from sensorium.scene.mesh import Mesh

HEAD = "ply\nformat {form} 1.0\ncomment made by hand\nelement vertex {n}\n"
HEAD += "property float x\nproperty float y\nproperty float z\n"
FACES = "element face {m}\nproperty list uchar int vertex_indices\nend_header\n"
TRIANGLE = "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"


def text(n: int = 3, m: int = 1, body: str = TRIANGLE) -> str:
    return HEAD.format(form="ascii", n=n) + FACES.format(m=m) + body


def load(tmp_path: Path, content: str | bytes) -> Mesh:
    path = tmp_path / "m.ply"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Mesh.load(path)


@pytest.mark.parametrize("form", ["ascii", "binary_little_endian", "binary_big_endian"])
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(polygons=st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=6), min_size=1, max_size=6))
def test_any_mixture_of_polygons_becomes_fans(tmp_path: Path, form: str, polygons: list[list[int]]) -> None:
    vertices = np.arange(21.0).reshape(7, 3)
    head = HEAD.format(form=form, n=7) + FACES.format(m=len(polygons))
    if form == "ascii":
        rows = [" ".join(map(str, row)) for row in [*vertices.tolist(), *([len(p), *p] for p in polygons)]]
        content = (head + "\n".join(rows)).encode()
    else:
        order = "<" if form == "binary_little_endian" else ">"
        packed = [struct.pack(f"{order}B{len(p)}i", len(p), *p) for p in polygons]
        content = head.encode() + vertices.astype(order + "f4").tobytes() + b"".join(packed)
    mesh = load(tmp_path, content)
    assert np.array_equal(mesh.vertices, vertices)
    assert mesh.faces.tolist() == [[p[0], p[i], p[i + 1]] for p in polygons for i in range(1, len(p) - 1)]


def test_colors_survive_beside_texture_coordinates_and_unknown_elements(tmp_path: Path) -> None:
    head = HEAD.format(form="ascii", n=3) + "property uchar red\nproperty uchar green\nproperty uchar blue\n"
    head += "property float s\nproperty float t\nelement strange 1\nproperty list int float values\n"
    body = "0 0 0 255 0 0 0 0\n1 0 0 0 255 0 1 0\n0 1 0 0 0 51 0 1\n4 9 9 9 9\n3 0 1 2\n"
    mesh = load(tmp_path, head + FACES.format(m=1) + body)
    assert np.allclose(mesh.vertex_properties["color"], [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 0.2, 1]])
    assert mesh.faces.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (text(n=10**9), "claims 1000000000 items of 'vertex'; it ends before"),
        (text(m=10**9), "claims 1000000000 items of 'face'; it ends before"),
        (text(m=2), "claims 2 items of 'face'"),
        (text(n=10**9).replace("ascii", "binary_little_endian"), "claims 1000000000 items of 'vertex'"),
        (text(n=-3), "claims -3 items"),
        (text().replace("float y", "real y"), "type 'real'"),
        (text().replace("ascii", "morse"), "it must be 'format' and one of"),
        (text().replace("element vertex 3", "element vertex"), "cannot stand there"),
        (text().replace("end_header\n", ""), "cannot stand there"),
        (text()[:59], "header has no end"),
        (text(body=TRIANGLE.replace("1 0 0", "1 x 0")), "could not convert"),
        (text(body=TRIANGLE.replace("1 0 0", "1 nan 0")), "vertex 1 is .*nan"),
        (text(body=TRIANGLE.replace("3 0 1 2", "3 0 1 3")), r"indices must be in \[0, 3\)"),
        (text(body=TRIANGLE.replace("3 0 1 2", "3 0 1 -1")), r"indices must be in \[0, 3\)"),
        (text(body=TRIANGLE.replace("3 0 1 2", "3 0 1 1.5")), "no whole number"),
        (text(body=TRIANGLE.replace("3 0 1 2", "2 0 1")), "face of 2 vertices"),
        (text(body=TRIANGLE.replace("3 0 1 2", "4000000000 0 1 2")), "it ends before"),
        (text(body=TRIANGLE.replace("3 0 1 2", "-3 0 1 2")), "it ends before"),
        (text(m=0, body=TRIANGLE), "no triangles"),
        ("plyx\n", "does not begin"),
    ],
)
def test_claims_are_checked(tmp_path: Path, content: str, match: str) -> None:
    assert len(load(tmp_path, text()).faces) == 1
    with pytest.raises(SceneError, match=rf"m\.ply: .*{match}"):
        load(tmp_path, content)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(strips=st.lists(st.lists(st.integers(-1, 6), max_size=12), min_size=1, max_size=4))
def test_strips_are_triangles_that_face_one_way(tmp_path: Path, strips: list[list[int]]) -> None:
    expected: list[list[int]] = [[0, 1, 2]]
    for strip in strips:
        run: list[int] = []
        for index in strip:
            run = [*run, index] if index >= 0 else []
            if len(run) >= 3 and len(set(run[-3:])) == 3:
                a, b, c = run[-3:]
                expected.append([a, b, c] if len(run) % 2 else [b, a, c])
    head = HEAD.format(form="ascii", n=7) + FACES.format(m=1).removesuffix("end_header\n")
    head += f"element tristrips {len(strips)}\nproperty list int int vertex_indices\nend_header\n"
    rows = [*np.arange(21.0).reshape(7, 3).tolist(), [3, 0, 1, 2], *([len(strip), *strip] for strip in strips)]
    mesh = load(tmp_path, head + "\n".join(" ".join(map(str, row)) for row in rows))
    assert mesh.faces.tolist() == expected


def test_strips_alone_are_a_mesh_and_their_claims_are_checked(tmp_path: Path) -> None:
    head = HEAD.format(form="ascii", n=3) + "element tristrips 1\nproperty list int int vertex_indices\nend_header\n"
    corners = "0 0 0\n1 0 0\n0 1 0\n"
    assert load(tmp_path, head + corners + "3 0 1 2\n").faces.tolist() == [[0, 1, 2]]
    for body, match in (("3 0 -1 2", "no triangles"), ("3 0 1 9", "indices must be in"), ("3 0 1 1.5", "whole number")):
        with pytest.raises(SceneError, match=match):
            load(tmp_path, head + corners + body)
    with pytest.raises(SceneError, match="ends before"):
        load(tmp_path, head + corners + "4 0 1 2")


@pytest.mark.parametrize("element", ["face", "tristrips"])
def test_indices_must_be_lists(tmp_path: Path, element: str) -> None:
    head = HEAD.format(form="ascii", n=3) + f"element {element} 3\nproperty int vertex_indices\nend_header\n"
    with pytest.raises(SceneError, match="must be lists"):
        load(tmp_path, head + "0 0 0\n1 0 0\n0 1 0\n0\n1\n2\n")
