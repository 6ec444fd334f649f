"""What is in sight, for all rows: the nearest of each, labels, and points in the world."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.sensors.cone.sighting import Sighting
from sensorium.tracing.labels import LabelTables


@pytest.fixture
def seen():
    """Two sensors, three objects: of the first sensor one is not in sight, of the second none is."""
    rows = sn.Pose.stack([sn.Pose((1.0, 2.0, 3.0)), sn.Pose.from_euler_deg((0.0, 0.0, 0.0), yaw=90.0)])
    object_id = np.array([[0, -1, 2], [-1, -1, -1]], np.int32)
    point = np.zeros((2, 3, 3))
    point[0, 0], point[0, 2] = (4.0, 3.0, 0.0), (1.0, 0.0, 1.0)
    return Sighting(
        time_ns=5,
        p_WS=rows.position,
        q_WS=rows.quaternion,
        point=point,
        range_m=np.where(object_id >= 0, np.linalg.norm(point, axis=2), np.inf),
        range_rate=np.where(object_id >= 0, 1.5, 0.0),
        object_id=object_id,
        face_id=np.array([[7, -1, 1], [-1, -1, -1]], np.int32),
        labels=LabelTables(
            object_label=np.array([[11, 12, 13]], np.int32),
            face_first=np.array([[-1, -1, 0]]),
            face_label=np.array([21, 22], np.int32),
        ),
    )


def test_the_nearest_of_each_row_or_nothing(seen):
    nearest = seen.nearest()
    assert nearest.object_id.tolist() == [[2], [-1]]
    assert nearest.range_m.tolist() == [[pytest.approx(np.sqrt(2.0))], [np.inf]]
    assert nearest.nearest() is nearest


def test_labels_are_of_faces_where_they_have_such(seen):
    assert seen.label.tolist() == [[11, -1, 22], [-1, -1, -1]]
    assert seen.nearest().label.tolist() == [[22], [-1]]


def test_points_are_turned_and_moved_into_the_world(seen):
    np.testing.assert_allclose(seen.point_W[0, 0], (5.0, 5.0, 3.0))
    turned = Sighting(**{**vars(seen), "point": np.broadcast_to([2.0, 0.0, 1.0], (2, 3, 3))})
    np.testing.assert_allclose(turned.point_W[1], [(0.0, 2.0, 1.0)] * 3, atol=1e-12)


def test_what_is_masked_is_not_there(seen):
    without = seen.without(np.array([[False, False, True], [False, False, False]]))
    assert without.in_sight.tolist() == [[True, False, False], [False, False, False]]
    assert without.nearest().range_m[0, 0] == 5.0
    assert without.range_rate[0].tolist() == [1.5, 0.0, 0.0]


def test_a_scene_without_objects_has_nothing_nearest(seen):
    empty = {name: getattr(seen, name)[:, :0] for name in ("point", "range_m", "range_rate", "object_id", "face_id")}
    nearest = Sighting(**{**vars(seen), **empty}).nearest()
    assert nearest.object_id.tolist() == [[-1], [-1]]
    assert np.isinf(nearest.range_m).all()
