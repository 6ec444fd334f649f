"""Splitting: every face is in one part, in the frame of its whole mesh."""

import json

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError, SpecError
from sensorium.scene.partition.part_files import INDEX, WHOLE_FACE, PartIndex
from sensorium.scene.partition.split import MeshFile, made_material, split_scene


def ground(points=24, **properties):
    rng = np.random.default_rng(0)
    mesh = sn.shapes.heightfield(rng.uniform(0, 2, (points, points)), 40.0, 30.0)
    return sn.Mesh(mesh.vertices + [1000.0, 0, 0], mesh.faces, **properties)


def pieces_of(folder, index):
    """(part number, object, mesh) of every piece."""
    for number, part in enumerate(index.parts):
        for piece in part.pieces:
            yield number, piece.object_id, sn.Mesh.load(folder / part.folder / piece.file)


@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_every_face_is_in_one_part(tmp_path, parts):
    mesh, pose = ground(), sn.Pose.from_euler_deg(yaw=30)
    index = split_scene([sn.SceneObject(mesh, pose)], tmp_path / "parts", parts=parts)
    assert len(index.parts) == parts
    assert sum(part.faces for part in index.parts) == len(mesh.faces)
    assert max(part.faces for part in index.parts) < 1.1 * len(mesh.faces) / parts
    found = np.zeros(len(mesh.faces), int)
    for number, _, piece in pieces_of(tmp_path / "parts", index):
        whole = piece.face_properties.get(WHOLE_FACE, np.arange(len(piece.faces)))
        found[whole] += 1
        assert (piece.vertices[piece.faces] == mesh.vertices[mesh.faces[whole]]).all()

        # The part's box holds what lies in it, and nothing besides
        points = pose.apply(piece.vertices[piece.faces].reshape(-1, 3))
        assert np.array(index.parts[number].bounds_m) == pytest.approx(
            np.array([points.min(axis=0), points.max(axis=0)])
        )
    assert (found == 1).all()


def test_a_piece_keeps_the_frame_of_its_mesh(tmp_path):
    mesh = ground()
    index = split_scene([sn.SceneObject(mesh)], tmp_path / "parts", parts=5)
    for _, _, piece in pieces_of(tmp_path / "parts", index):
        assert len(piece.vertices) < 0.4 * len(mesh.vertices)
        assert piece.bounds.tobytes() == mesh.bounds.tobytes()
        assert piece.radius == mesh.radius
        assert piece.center.tobytes() == mesh.center.tobytes()


def test_small_meshes_stay_whole_and_are_stored_once_a_part(tmp_path):
    scene, ball, rng = sn.Scene(), sn.shapes.sphere(0.5, subdivisions=1), np.random.default_rng(1)
    for _ in range(300):
        scene.add(ball, pose=sn.Pose(rng.uniform(-50, 50, 3)))
    index = split_scene(scene.objects, tmp_path / "parts", parts=3)
    for number, part in enumerate(index.parts):
        assert {piece.file for piece in part.pieces} == {"mesh-0.npz"}
        assert len(list((tmp_path / "parts" / f"part-{number}").iterdir())) == 1
    held = [piece.object_id for part in index.parts for piece in part.pieces]
    assert sorted(held) == list(range(300))


def test_all_of_a_body_goes_to_one_part(tmp_path):
    scene = sn.Scene()
    scene.add(ground())
    scene.add(sn.shapes.box(4, 2, 1), body="car", pose=sn.Pose((0, 0, 1)))
    scene.add(sn.shapes.sphere(0.5), body="car", pose=sn.Pose((2, 0, 0)))
    index = split_scene(scene.objects, tmp_path / "parts", parts=4)
    assert [sorted(p.object_id for p in part.pieces if p.object_id) for part in index.parts].count([1, 2]) == 1
    (reach,) = [part.reach_m["car"] for part in index.parts if part.reach_m]
    assert reach == pytest.approx(np.linalg.norm([2, 1, 1.5]))  # a corner of the box
    assert all(np.array(part.bounds_m)[0, 0] > 900 for part in index.parts)


def test_labels_have_the_numbers_of_the_whole_scene(tmp_path):
    names = np.where(np.arange(2 * 23 * 23) % 2, "grass", "road")
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), label="wall")
    scene.add(ground(face_properties={"label": names}))
    index = split_scene(scene.objects, tmp_path / "parts", parts=2)
    assert index.labels == scene.labels
    for _, number, piece in pieces_of(tmp_path / "parts", index):
        if number == 1:
            expected = np.where(names == "grass", scene.labels["grass"], scene.labels["road"])
            assert (piece.face_labels == expected[piece.face_properties[WHOLE_FACE]]).all()
    assert index.objects[0].label == scene.labels["wall"]


def test_mesh_files_are_read_and_properties_go_along(tmp_path):
    mesh = ground(vertex_properties={"temperature": np.arange(24.0 * 24)}, face_properties={"band": np.arange(1058.0)})
    arrays = {"vertex_temperature": mesh.vertex_properties["temperature"], "face_band": mesh.face_properties["band"]}
    np.savez(tmp_path / "ground.npz", vertices=mesh.vertices, faces=mesh.faces, **arrays)
    given = MeshFile(tmp_path / "ground.npz", scale=2.0, material=sn.Lambertian(reflectance=0.3), label="ground")
    index = split_scene([given], tmp_path / "parts", parts=2)
    for _, _, piece in pieces_of(tmp_path / "parts", index):
        whole = piece.face_properties[WHOLE_FACE]
        assert (piece.vertices[piece.faces] == 2.0 * mesh.vertices[mesh.faces[whole]]).all()
        assert (piece.face_properties["band"] == whole).all()
        corners = piece.vertex_properties["temperature"][piece.faces]
        assert (corners == mesh.vertex_properties["temperature"][mesh.faces[whole]]).all()
    assert PartIndex.load(tmp_path / "parts") == PartIndex.load(tmp_path / "parts")
    assert made_material(PartIndex.load(tmp_path / "parts").objects[0].material) == sn.Lambertian(reflectance=0.3)


def test_parts_are_replaced_and_other_folders_are_not(tmp_path):
    objects = [sn.SceneObject(ground())]
    split_scene(objects, tmp_path / "parts", parts=5)
    split_scene(objects, tmp_path / "parts", parts=2)
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == ["part-0", "part-1", INDEX]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(SceneError, match="holds files that are no parts"):
        split_scene(objects, tmp_path / "mine", parts=2)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "keep"


@pytest.mark.parametrize("place", ["parts", "parts/part-0", "parts.part"])
def test_files_of_the_user_among_parts_are_kept(tmp_path, place):
    objects = [sn.SceneObject(ground())]
    split_scene(objects, tmp_path / "parts", parts=2)
    (tmp_path / place).mkdir(exist_ok=True)
    (tmp_path / place / "notes.txt").write_text("keep")
    with pytest.raises(SpecError, match=r"notes\.txt', which no run wrote|parts\.part' exists and is not ours"):
        split_scene(objects, tmp_path / "parts", parts=3)
    assert (tmp_path / place / "notes.txt").read_text() == "keep"
    assert len(PartIndex.load(tmp_path / "parts").parts) == 2


def test_mistakes_are_told(tmp_path):
    with pytest.raises(SceneError, match="parts is 0"):
        split_scene([sn.SceneObject(ground())], tmp_path / "parts", parts=0)
    with pytest.raises(SceneError, match="objects is empty"):
        split_scene([], tmp_path / "parts", parts=1)
    with pytest.raises(SceneError, match="no such file"):
        split_scene([MeshFile(tmp_path / "none.obj")], tmp_path / "parts", parts=1)
    marked = ground(face_properties={WHOLE_FACE: np.zeros(1058)})
    with pytest.raises(SceneError, match="whole_face"):
        split_scene([sn.SceneObject(marked)], tmp_path / "parts", parts=1)
    with pytest.raises(SceneError, match="material is a object"):
        split_scene([sn.SceneObject(ground(), material=object())], tmp_path / "parts", parts=1)
    assert not (tmp_path / "parts").exists()


def test_a_broken_index_is_told(tmp_path):
    with pytest.raises(SceneError, match="cannot be read"):
        PartIndex.load(tmp_path)
    (tmp_path / INDEX).write_text("{")
    with pytest.raises(SceneError, match="is no index of parts"):
        PartIndex.load(tmp_path)
    (tmp_path / INDEX).write_text(json.dumps({"format": 99}))
    with pytest.raises(SceneError, match="its format is not 3"):
        PartIndex.load(tmp_path)


def test_a_mesh_file_is_painted_only_where_its_material_asks(tmp_path):
    """A broken image is no matter to a surface of its own reflectance."""
    (tmp_path / "m.mtl").write_text("newmtl a\nmap_Kd gone.png\n")
    (tmp_path / "m.obj").write_text("mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n")
    for material in (None, sn.Lambertian(reflectance=0.5)):
        assert len(MeshFile(tmp_path / "m.obj", material=material).load().faces) == 1
    with pytest.raises(sn.errors.SceneError, match=r"m\.mtl line 2 names the image 'gone\.png'"):
        MeshFile(tmp_path / "m.obj", material=sn.Lambertian(reflectance="texture")).load()
