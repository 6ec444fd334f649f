import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.scene import shapes
from sensorium.scene.batch import SceneBatch
from sensorium.scene.layout import layout
from sensorium.scene.mesh import Mesh
from sensorium.scene.scene import Scene, SceneObject

BOX, BALL, POST = shapes.box(1.0, 1.0, 1.0), shapes.sphere(1.0, 0), shapes.cylinder(1.0, 1.0, 3)
PAINT, METAL = object(), object()


def door_and_wall() -> Mesh:
    return Mesh(BOX.vertices, BOX.faces[:3], face_properties={"label": ["wall", "door", ""]})


def make_scene() -> Scene:
    scene = Scene()
    scene.add(BOX, label="ground", material=PAINT)
    scene.add(BALL, pose=Pose((0.0, 0.0, 2.0)), body="car", label=9)
    scene.add(BOX, material=METAL, body="arm")
    return scene


def test_a_scene_is_one_row_for_any_number_of_worlds() -> None:
    for worlds in (1, 5):
        out = layout(make_scene(), worlds)
        assert out.meshes == (BOX, BALL)
        assert out.mesh_index.tolist() == [[0, 1, 0]]
        assert out.body == (None, "car", "arm")
        assert out.label.tolist() == [[1, 9, 0]]
        assert out.materials == (None, PAINT, METAL)
        assert out.material_index.tolist() == [[1, 0, 2]]
        assert out.X_BO.shape == (1, 3)
        assert np.array_equal(out.X_BO.position[0, 1], [0.0, 0.0, 2.0])
        assert out.mesh_face_labels == (None, None)
        for table in (out.mesh_index, out.label, out.material_index):
            assert table.dtype == np.int32


def test_an_empty_scene_has_no_columns() -> None:
    out = layout(Scene(), 3)
    assert (out.meshes, out.body, out.mesh_index.shape, out.X_BO.shape) == ((), (), (1, 0), (1, 0))


def test_face_labels_agree_with_the_scene_numbers() -> None:
    scene = Scene()
    scene.add(BOX, label="door")
    mesh = door_and_wall()
    scene.add(mesh)
    scene.add(Mesh(BOX.vertices, BOX.faces[:2], face_properties={"label": [5, 2**24 + 1]}))
    out = layout(scene, 1)
    assert scene.labels == {"door": 1, "wall": 2}
    assert out.mesh_face_labels[0] is None
    assert out.mesh_face_labels[1].tolist() == [2, 1, 0]
    assert out.mesh_face_labels[2].tolist() == [5, 2**24 + 1]
    assert out.mesh_face_labels[1].dtype == np.int32


def test_a_batch_has_shared_objects_first_then_slots() -> None:
    assets = [BALL, SceneObject(door_and_wall(), material=METAL, label="house"), BOX]
    pose = Pose(np.arange(12.0).reshape(2, 2, 3))
    batch = SceneBatch(assets, [[1, -1], [2, 0]], pose, body=["crane", None], shared=make_scene())
    out = layout(batch, 2)
    assert out.meshes == (BOX, BALL, assets[1].mesh)
    assert out.mesh_index.tolist() == [[0, 1, 0, 2, -1], [0, 1, 0, 0, 1]]
    assert out.body == (None, "car", "arm", "crane", None)
    assert batch.labels == {"ground": 1, "house": 2, "door": 3, "wall": 4}
    assert out.label.tolist() == [[1, 9, 0, 2, 0], [1, 9, 0, 0, 0]]
    assert out.materials == (None, PAINT, METAL)
    assert out.material_index.tolist() == [[1, 0, 2, 2, 0], [1, 0, 2, 0, 0]]
    assert out.mesh_face_labels[2].tolist() == [4, 3, 0]
    assert out.X_BO.shape == (2, 5)
    assert np.array_equal(out.X_BO.position[:, 3:], pose.position)
    assert np.array_equal(out.X_BO.position[:, 1], [[0.0, 0.0, 2.0]] * 2)


def test_worlds_that_are_alike_become_one_row() -> None:
    alike = SceneBatch([BOX], np.zeros((4, 2), dtype=int), Pose(np.arange(6.0).reshape(2, 3)))
    assert layout(alike, 4).mesh_index.shape == (1, 2)
    assert layout(alike, 4).X_BO.shape == (1, 2)
    moved = Pose(np.arange(12.0).reshape(4, 1, 3))
    assert layout(SceneBatch([BOX], np.zeros((4, 2), dtype=int), moved), 4).X_BO.shape == (4, 2)
    assert layout(SceneBatch([BOX], [[0], [-1]], Pose()), 2).mesh_index.tolist() == [[0], [-1]]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-180.0, 180.0), min_size=6, max_size=6))
def test_an_asset_pose_is_composed_inside_its_slot(angles: list[float]) -> None:
    X_SO = Pose.from_euler_deg((1.0, 2.0, 3.0), *angles[:3])
    X_BS = Pose.from_euler_deg((-4.0, 5.0, 6.0), *angles[3:])
    out = layout(SceneBatch([SceneObject(BOX, pose=X_SO)], [[0]], X_BS), 7)
    assert np.allclose(out.X_BO[0, 0].apply(BOX.vertices), X_BS.apply(X_SO.apply(BOX.vertices)))


def test_one_world_of_a_batch_equals_the_same_scene() -> None:
    scene = Scene()
    scene.add(BALL, pose=Pose((1.0, 0.0, 0.0)), body="car", label="x", material=PAINT)
    scene.add(POST, pose=Pose((2.0, 0.0, 0.0)), label="y")
    assets = [SceneObject(BALL, label="x", material=PAINT), SceneObject(POST, label="y")]
    pose = Pose([[[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]])
    a, b = layout(scene, 1), layout(SceneBatch(assets, [[0, 1]], pose, body=["car", None]), 1)
    assert (a.meshes, a.body, a.materials) == (b.meshes, b.body, b.materials)
    for name in ("mesh_index", "label", "material_index"):
        assert np.array_equal(getattr(a, name), getattr(b, name))
    assert a.X_BO.almost_equal(b.X_BO, 0.0)


def test_world_counts_must_match() -> None:
    batch = SceneBatch([BOX], [[0], [0]], Pose())
    with pytest.raises(SceneError, match="2 worlds, 3 were asked for"):
        layout(batch, 3)
    with pytest.raises(SceneError, match="worlds is 0"):
        layout(batch, 0)
    with pytest.raises(SceneError, match="scene is a Mesh"):
        layout(BOX, 1)  # type: ignore[arg-type]
