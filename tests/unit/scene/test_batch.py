import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.scene import shapes
from sensorium.scene.batch import SceneBatch
from sensorium.scene.scene import Scene, SceneObject

BOX = shapes.box(1.0, 1.0, 1.0)


def test_pose_broadcasts_over_worlds_and_slots() -> None:
    per_slot = Pose(np.arange(9.0).reshape(3, 3))
    batch = SceneBatch([BOX], np.zeros((2, 3), dtype=int), per_slot)
    assert batch.pose.shape == (2, 3)
    assert np.array_equal(batch.pose.position, np.stack([per_slot.position] * 2))
    assert batch.worlds == 2


def test_index_is_a_read_only_copy() -> None:
    index = np.zeros((2, 2), dtype=np.int64)
    batch = SceneBatch([BOX], index, Pose())
    index[0, 0] = -1
    assert batch.index.tolist() == [[0, 0], [0, 0]]
    assert batch.index.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        batch.index[0, 0] = -1


def test_labels_follow_those_of_the_shared_scene() -> None:
    shared = Scene()
    shared.add(BOX, label="ground", body="floor")
    batch = SceneBatch([SceneObject(BOX, label="tree")], [[0]], Pose(), body=["car"], shared=shared)
    assert batch.labels == {"ground": 1, "tree": 2}
    assert batch.bodies == ("car", "floor")
    assert shared.labels == {"ground": 1}


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([], [[0]], Pose()), "assets is empty"),
        ((["box"], [[0]], Pose()), "asset 0 is a str"),
        ((BOX, [[0]], Pose()), "assets is a single Mesh; it must be a sequence"),
        (([SceneObject(BOX, body="car")], [[0]], Pose()), "asset 0 names body 'car'"),
        (([BOX], [0], Pose()), r"index has shape \(1,\)"),
        (([BOX], np.zeros((0, 2), dtype=int), Pose()), r"index has shape \(0, 2\)"),
        (([BOX], [[0.0]], Pose()), "index has type float64"),
        (([BOX], [[0, 1]], Pose()), r"index\[0, 1\] is 1; it must be in \[-1, 1\)"),
        (([BOX], [[0], [-2]], Pose()), r"index\[1, 0\] is -2"),
        (([BOX], [[0, 0]], Pose(np.zeros((3, 3)))), r"pose has shape \(3,\); index asks for \(1, 2\)"),
        (([BOX], [[0, 0]], np.zeros((2, 3))), "pose is a ndarray"),
        (([BOX], [[0, 0]], Pose(), ["car"]), "body has 1 names; there are 2 slots"),
        (([BOX], [[0]], Pose(), [""]), "body of slot 0 is ''"),
        (([BOX], [[0]], Pose(), None, BOX), "shared is a Mesh"),
    ],
)
def test_bad_arguments_are_named(arguments: tuple, match: str) -> None:
    with pytest.raises(SceneError, match=match):
        SceneBatch(*arguments)
