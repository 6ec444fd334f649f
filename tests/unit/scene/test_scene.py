import dataclasses

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.scene import shapes
from sensorium.scene.mesh import Mesh
from sensorium.scene.scene import Scene, SceneObject

BOX = shapes.box(1.0, 1.0, 1.0)


def labeled(labels: list) -> Mesh:
    return Mesh(BOX.vertices, BOX.faces[: len(labels)], face_properties={"label": labels})


def test_add_keeps_order_and_returns_the_object() -> None:
    scene = Scene()
    material = object()
    first = scene.add(BOX, label="a")
    second = scene.add(BOX, pose=Pose((1.0, 2.0, 3.0)), body="car", material=material, label=7, name="left door")
    assert scene.objects == (first, second)
    assert (second.mesh, second.body, second.material) == (BOX, "car", material)
    assert (second.label, second.name) == (7, "left door")
    assert np.array_equal(second.pose.position, [1.0, 2.0, 3.0])
    assert first.pose == Pose()
    with pytest.raises(dataclasses.FrozenInstanceError):
        second.body = "van"  # type: ignore[misc]


def test_bodies_are_sorted_and_unique() -> None:
    scene = Scene()
    for body in ("van", None, "car", "van"):
        scene.add(BOX, body=body)
    assert scene.bodies == ("car", "van")


def test_label_names_are_numbered_from_one_in_the_order_they_appear() -> None:
    scene = Scene()
    for label in ("wall", "ground", None, "wall", "tree"):
        scene.add(BOX, label=label)
    assert scene.labels == {"wall": 1, "ground": 2, "tree": 3}
    scene.labels["wall"] = 9  # a copy
    assert scene.labels["wall"] == 1


def test_label_names_inside_a_mesh_are_registered() -> None:
    scene = Scene()
    scene.add(labeled(["window", "door", "", "door"]), label="house")
    assert scene.labels == {"house": 1, "door": 2, "window": 3}


def test_numbers_are_kept_and_names_step_around_them() -> None:
    scene = Scene()
    scene.add(BOX, label=1)
    scene.add(labeled([3, 0]), label="a")
    scene.add(BOX, label="b")
    scene.add(BOX, label="c")
    assert scene.labels == {"a": 2, "b": 4, "c": 5}


@pytest.mark.parametrize("label", [-1, 2**31, True, 1.0, ""])
def test_bad_labels_are_named(label: object) -> None:
    with pytest.raises(SceneError, match="label is"):
        Scene().add(BOX, label=label)  # type: ignore[arg-type]


def test_bad_objects_are_named_and_leave_the_scene_unchanged() -> None:
    scene = Scene()
    scene.add(BOX, name="a")
    with pytest.raises(SceneError, match="'a' is already taken"):
        scene.add(BOX, name="a", label="new")
    with pytest.raises(SceneError, match="mesh is a ndarray"):
        scene.add(BOX.vertices)  # type: ignore[arg-type]
    with pytest.raises(SceneError, match="one single Pose"):
        scene.add(BOX, pose=Pose(np.zeros((2, 3))))
    with pytest.raises(SceneError, match="body is ''"):
        scene.add(BOX, body="")
    assert len(scene.objects) == 1
    assert scene.labels == {}


def test_objects_compare_by_identity() -> None:
    assert SceneObject(BOX) != SceneObject(BOX)
