import numpy as np
import pytest

import sensorium as sn
from sensorium.scene.layout import layout
from sensorium.tracing.labels import label_tables


def batch(index, *, painted):
    """Two kinds of boxes in some worlds; the second may have a label on each face."""
    box = sn.shapes.box(1, 1, 1)
    faces = {"label": np.arange(12) + 100} if painted else {}
    other = sn.Mesh(box.vertices, box.faces, face_properties=faces)
    assets = [sn.SceneObject(box, label="plain"), sn.SceneObject(other, label="other")]
    return layout(sn.SceneBatch(assets, index, sn.Pose()), len(index))


@pytest.mark.parametrize("painted", [False, True])
def test_labels_after_a_change_are_those_of_a_scene_made_that_way(painted):
    first, then = (batch(index, painted=painted) for index in ([[0, 1], [1, -1]], [[1, 0], [0, 1]]))
    before = label_tables(first)
    after, wanted = label_tables(then, before), label_tables(then)
    for name, made in after._asdict().items():
        np.testing.assert_array_equal(made, getattr(wanted, name), err_msg=name)
        assert made.flags.writeable  # kernels are compiled for such
    np.testing.assert_array_equal(before.object_label, first.label)  # and those before are as they were


def test_faces_without_labels_point_nowhere():
    tables = label_tables(batch([[0, 1], [1, -1]], painted=True))
    assert tables.face_first.tolist() == [[-1, 0], [0, -1]]
    assert tables.face_label.tolist() == list(range(100, 112))
