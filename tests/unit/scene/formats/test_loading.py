import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sensorium.core import plugins
from sensorium.core.errors import SceneError, SpecError
from sensorium.scene import shapes
from sensorium.scene.formats import loading
from sensorium.scene.mesh import Mesh

SHAPE = shapes.capsule(0.3, 1.0, segments=7)
QUARTER_TURN = trimesh.transformations.rotation_matrix(np.pi / 2, [0, 0, 1], [0, 0, 0])


def as_trimesh(mesh: Mesh = SHAPE, **visual: object) -> trimesh.Trimesh:
    return trimesh.Trimesh(mesh.vertices, mesh.faces, process=False, **visual)


def write(path: Path, mesh: trimesh.Trimesh | trimesh.Scene, **options: object) -> Path:
    data = mesh.export(file_type=path.suffix[1:], **options)
    if isinstance(data, dict):  # glTF with its buffers beside it
        for name, content in data.items():
            (path.parent / name).write_bytes(content)
        return path.parent / "model.gltf"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def signed_volume(mesh: Mesh) -> float:
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6.0)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("m.glb", {}),
        ("m.gltf", {}),
        ("m.obj", {}),
        ("m.off", {}),
        ("m.stl", {}),
        ("m.STL", {}),
        ("m.ply", {}),
        ("m.ply", {"encoding": "ascii"}),
    ],
)
def test_every_format_gives_back_the_same_triangles_in_order(tmp_path: Path, name: str, options: dict) -> None:
    path = write(tmp_path / name, as_trimesh(), **options) if name != "m.STL" else tmp_path / name
    if name == "m.STL":
        path.write_bytes(as_trimesh().export(file_type="stl"))
    mesh = Mesh.load(path)
    assert np.allclose(mesh.vertices[mesh.faces], SHAPE.vertices[SHAPE.faces], rtol=0.0, atol=1e-7)


def test_text_stl_with_two_solids(tmp_path: Path) -> None:
    path = tmp_path / "m.stl"
    text = as_trimesh().export(file_type="stl_ascii")
    path.write_text(text + "\n" + text)
    mesh = Mesh.load(str(path))
    expected = np.concatenate([SHAPE.vertices[SHAPE.faces]] * 2)
    assert np.allclose(mesh.vertices[mesh.faces], expected, atol=1e-7)


def test_binary_stl_that_begins_with_solid(tmp_path: Path) -> None:
    data = as_trimesh().export(file_type="stl")
    (tmp_path / "m.stl").write_bytes(b"solid of old".ljust(80) + data[80:])
    assert len(Mesh.load(tmp_path / "m.stl").faces) == len(SHAPE.faces)


def test_npz_keeps_arrays_and_properties(tmp_path: Path) -> None:
    count = len(SHAPE.faces)
    np.savez_compressed(
        tmp_path / "m.npz",
        vertices=SHAPE.vertices,
        faces=SHAPE.faces,
        face_label=np.array(["wall"] * count),
        vertex_reflectance=np.full((len(SHAPE.vertices), 6), 0.25),
    )
    mesh = Mesh.load(tmp_path / "m.npz")
    assert np.array_equal(mesh.vertices, SHAPE.vertices)
    assert mesh.face_properties["label"].tolist() == ["wall"] * count
    assert mesh.property_at("reflectance", 3, [0.2, 0.3]) == pytest.approx(np.full(6, 0.25))


def test_scene_graph_is_flattened_with_every_transform(tmp_path: Path) -> None:
    # A box of unit edge, shown twice: scaled and moved under a turned parent, and mirrored
    scene = trimesh.Scene()
    box = trimesh.creation.box((1.0, 1.0, 1.0))
    scene.add_geometry(box, geom_name="box", node_name="parent", transform=QUARTER_TURN)
    child = np.diag([2.0, 3.0, 4.0, 1.0])
    child[:3, 3] = [10.0, 0.0, 0.0]
    scene.graph.update("child", "parent", matrix=child, geometry="box")
    scene.graph.update("mirror", matrix=np.diag([-1.0, 1.0, 1.0, 1.0]), geometry="box")
    mesh = Mesh.load(write(tmp_path / "m.glb", scene))

    # The child stands at +y with its x and y sides exchanged; all three keep their outside out
    assert len(mesh.faces) == 36
    assert np.allclose(mesh.bounds, [[-1.5, -0.5, -2.0], [1.5, 11.0, 2.0]])
    assert signed_volume(mesh) == pytest.approx(1.0 + 24.0 + 1.0)


@pytest.mark.parametrize("suffix", [".glb", ".ply", ".obj"])
def test_vertex_colors_become_a_property(tmp_path: Path, suffix: str) -> None:
    colors = np.zeros((len(SHAPE.vertices), 4), dtype=np.uint8)
    colors[:, 0], colors[:, 1], colors[:, 3] = 255, np.arange(len(colors)), 255
    mesh = Mesh.load(write(tmp_path / f"m{suffix}", as_trimesh(vertex_colors=colors)))
    by_place = {tuple(np.round(p, 5)): c for p, c in zip(SHAPE.vertices, colors / 255.0, strict=True)}
    expected = [by_place[tuple(np.round(p, 5))] for p in mesh.vertices]
    assert np.allclose(mesh.vertex_properties["color"], expected, atol=1e-3)


def test_parts_without_colors_are_white(tmp_path: Path) -> None:
    scene = trimesh.Scene()
    scene.add_geometry(as_trimesh(vertex_colors=np.full((len(SHAPE.vertices), 4), [255, 0, 0, 255], np.uint8)))
    scene.add_geometry(as_trimesh())
    mesh = Mesh.load(write(tmp_path / "m.glb", scene))
    count = len(SHAPE.vertices)
    assert {tuple(c) for c in mesh.vertex_properties["color"].tolist()} == {(1, 0, 0, 1), (1, 1, 1, 1)}
    assert mesh.vertex_properties["color"].sum() == pytest.approx(2 * count + 4 * count)


def test_missing_folder_and_unknown_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"gone\.obj: there is no such file"):
        Mesh.load(tmp_path / "gone.obj")
    (tmp_path / "dir.ply").mkdir()
    with pytest.raises(SceneError, match="no such file"):
        Mesh.load(tmp_path / "dir.ply")
    (tmp_path / "m.fbx").write_bytes(b"x")
    with pytest.raises(SceneError, match=r"suffix '.fbx' is unknown; it must be one of .glb"):
        Mesh.load(tmp_path / "m.fbx")


@pytest.mark.parametrize("suffix", loading.suffixes())
def test_empty_and_garbage_files_are_one_scene_error_with_the_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(b"")
    with pytest.raises(SceneError, match=r"bad\.\w+: it has 0 bytes"):
        Mesh.load(path)
    path.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(SceneError, match=r"bad\.\w+: "):
        Mesh.load(path)


@pytest.mark.parametrize("suffix", loading.suffixes())
def test_files_over_the_limit_are_refused_before_reading(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"m{suffix}").write_bytes(b"x" * 1001)
    with pytest.raises(SceneError, match="1001 bytes; it must have at least 1 and at most 1000"):
        loading.load_mesh(tmp_path / f"m{suffix}", max_bytes=1000)


@pytest.mark.parametrize("suffix", [".glb", ".ply", ".stl", ".npz"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0.0, 0.999))
def test_a_cut_binary_file_never_gives_a_mesh(tmp_path: Path, suffix: str, fraction: float) -> None:
    path = tmp_path / f"m{suffix}"
    if suffix == ".npz":
        np.savez(path, vertices=SHAPE.vertices, faces=SHAPE.faces)
    else:
        write(path, as_trimesh())
    data = path.read_bytes()
    path.write_bytes(data[: int(fraction * len(data))])
    with pytest.raises(SceneError):
        Mesh.load(path)


@pytest.mark.parametrize("suffix", [".glb", ".ply", ".stl", ".npz", ".off", ".obj"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_file_gives_a_valid_mesh_or_a_scene_error(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    path = tmp_path / f"m{suffix}"
    if suffix == ".npz":
        np.savez(path, vertices=SHAPE.vertices, faces=SHAPE.faces)
    else:
        write(path, as_trimesh())
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, min(len(content), 600) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        mesh = loading.load_mesh(path, max_bytes=10**7)
    except SceneError:
        return
    assert np.isfinite(mesh.vertices).all()
    assert mesh.faces.max() < len(mesh.vertices)


def test_non_finite_vertices_are_refused_in_binary_formats(tmp_path: Path) -> None:
    vertices = SHAPE.vertices.copy()
    vertices[5] = np.nan
    broken = trimesh.Trimesh(vertices, SHAPE.faces, process=False)
    write(tmp_path / "m.ply", broken)
    write(tmp_path / "m.stl", broken)
    np.savez(tmp_path / "m.npz", vertices=vertices, faces=SHAPE.faces)
    glb = as_trimesh().export(file_type="glb")
    place = np.float32(SHAPE.vertices[5]).tobytes()
    assert glb.count(place) == 1
    (tmp_path / "m.glb").write_bytes(glb.replace(place, np.full(3, np.inf, "<f4").tobytes()))
    for suffix in (".ply", ".stl", ".npz", ".glb"):
        with pytest.raises(SceneError, match=r"vertex \d+ is .*(nan|inf).*finite"):
            Mesh.load(tmp_path / f"m{suffix}")


def test_indices_out_of_range_are_refused_in_binary_formats(tmp_path: Path) -> None:
    faces = SHAPE.faces.copy()
    faces[3, 1] = len(SHAPE.vertices)
    np.savez(tmp_path / "m.npz", vertices=SHAPE.vertices, faces=faces)
    path = write(tmp_path / "m.ply", as_trimesh(), vertex_normal=False)
    data = path.read_bytes()
    good, bad = SHAPE.faces[3].astype("<i4").tobytes(), faces[3].astype("<i4").tobytes()
    assert data.count(good) == 1
    path.write_bytes(data.replace(good, bad))
    for suffix in (".npz", ".ply"):
        with pytest.raises(SceneError, match=rf"face 3 is .*; indices must be in \[0, {len(SHAPE.vertices)}\)"):
            Mesh.load(tmp_path / f"m{suffix}")


def test_npz_bombs_pickles_and_lies_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    np.savez_compressed(path, vertices=np.zeros((1_000_000, 3)), faces=SHAPE.faces)
    assert path.stat().st_size < 200_000
    with pytest.raises(SceneError, match=r"unpacks .* the most is 100 times"):
        Mesh.load(path)
    with pytest.raises(SceneError, match="the most is 1000000"):
        loading.load_mesh(path, max_bytes=1_000_000)

    np.savez(path, vertices=np.array([{}], dtype=object), faces=SHAPE.faces)
    with pytest.raises(SceneError, match="holds Python objects"):
        Mesh.load(path)

    # A header that claims a terabyte in a member of a hundred bytes
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**11, 3)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vertices.npy", header.getvalue())
    with pytest.raises(SceneError, match="claims 2400000000000 bytes"):
        Mesh.load(path)


def test_npz_names_must_say_what_they_are(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", vertices=SHAPE.vertices)
    with pytest.raises(SceneError, match="no array 'faces'; it has"):
        Mesh.load(tmp_path / "m.npz")
    np.savez(tmp_path / "m.npz", vertices=SHAPE.vertices, faces=SHAPE.faces, color=np.ones(3))
    with pytest.raises(SceneError, match="array 'color'; properties are named"):
        Mesh.load(tmp_path / "m.npz")


def test_a_point_cloud_is_no_mesh(tmp_path: Path) -> None:
    (tmp_path / "m.ply").write_bytes(trimesh.PointCloud(SHAPE.vertices).export(file_type="ply"))
    with pytest.raises(SceneError, match="no triangles"):
        Mesh.load(tmp_path / "m.ply")


def read_nothing(path, *, max_bytes, paint):
    return None


def test_formats_of_packages_must_be_new_and_their_readers_must_give_a_mesh(tmp_path, monkeypatch):
    path = tmp_path / "a.TRI"
    path.write_text("0")
    monkeypatch.setattr(plugins, "announced", lambda group: {"Tri": None})
    monkeypatch.setattr(plugins, "load", lambda group, name: {"Tri": read_nothing}[name])
    with pytest.raises(SceneError, match=r"a\.TRI: the reader of \.tri gave a NoneType; it must give a sn\.Mesh"):
        Mesh.load(path)
    monkeypatch.setattr(plugins, "announced", lambda group: {"obj": None})
    with pytest.raises(SpecError, match=r"announces the mesh format '\.obj'; the library reads that already"):
        Mesh.load(path)
