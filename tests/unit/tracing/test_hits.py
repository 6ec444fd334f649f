"""What is read from a traced packet: object, label and normal, for every kind of motion."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.scene.layout import layout
from sensorium.tracing import hits
from sensorium.tracing.labels import label_tables
from sensorium.tracing.placement import motion
from sensorium.tracing.placement.scenes import PlacedScenes

MOUNT = sn.Pose((0.4, -0.2, 0.1), (0.7, -0.2, 0.5, 0.3))


def tumbling(turns_deg, knots=5, seed=0):
    """A body for each turn, about an axis of its own: poses (knots, bodies)."""
    rng = np.random.default_rng(seed)
    axes = rng.normal(size=(len(turns_deg), 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    angle = np.linspace(0, 1, knots)[:, None, None] * np.deg2rad(turns_deg)[:, None]
    start = sn.Pose(rng.uniform(-3, 3, (len(turns_deg), 3)), rng.normal(size=(len(turns_deg), 4)))
    return start @ sn.Pose.exp(np.zeros(3), angle * axes)


# twice each, so that arrays hold several items
TURNS_DEG = np.repeat([0.0, 0.3, 1.0, 2.0, 4.0, 9.0, 100.0, 500.0], 2)


@pytest.fixture(scope="module")
def placed():
    names = tuple(f"b{i:02d}" for i in range(len(TURNS_DEG)))
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), pose=MOUNT)
    for name in reversed(names):
        scene.add(sn.shapes.box(1, 1, 1), pose=MOUNT, body=name)
    knots = tumbling(TURNS_DEG)
    scenes = PlacedScenes(layout(scene, 1), 1, names)
    scenes.place(np.array(knots.position[:, None]), np.array(knots.quaternion[:, None]), np.zeros((1, 3)))
    return scene, scenes, names, knots


def test_normals_turn_with_the_object(placed):
    scene, scenes, names, knots = placed
    tables = scenes.tables
    assert set(tables.kind.tolist()) >= {motion.FIXED, motion.PLACED, motion.AFFINE, motion.QUATERNION}
    local = np.float32([0.6, -2.4, 1.1])  # Embree's normals have any length
    unit = local / np.linalg.norm(local)
    for array in range(len(tables.kind)):
        for item in range(tables.column_count[array]):
            column = hits.object_of(tables, 0, np.uint32(array), np.uint32(item))
            body = scene.objects[column].body
            for time in np.float32([0.0, 0.111, 0.5, 0.93, 1.0]):
                at = float(time) * 4
                k = min(int(at), 3)
                path = sn.Pose() if body is None else knots[:, names.index(body)]
                X_WB = path if body is None else path[k].interpolate(path[k + 1], at - k)
                normal = hits.normal_in_world(tables, 0, np.uint32(array), np.uint32(item), time, *local)
                # within what the kind of motion errs: less than 20 um over a body of more than half a meter
                np.testing.assert_allclose(normal, (X_WB @ MOUNT).rotate(unit), atol=6e-5)
                assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-6)


def test_every_object_is_found_once(placed):
    scene, scenes, _, _ = placed
    tables = scenes.tables
    found = [
        int(hits.object_of(tables, 0, np.uint32(array), np.uint32(item)))
        for array in range(len(tables.kind))
        for item in range(tables.column_count[array])
    ]
    assert sorted(found) == list(range(len(scene.objects)))


def test_labels_come_from_the_face_else_from_the_object():
    plain, painted = sn.shapes.box(1, 1, 1), sn.shapes.box(1, 1, 1)
    own = np.arange(12) + 100
    painted = sn.Mesh(painted.vertices, painted.faces, face_properties={"label": own})
    assets = [sn.SceneObject(plain, label="box"), sn.SceneObject(painted, label="painted")]
    batch = sn.SceneBatch(assets, [[0, 1], [1, -1]], sn.Pose())
    tables = label_tables(layout(batch, 2))
    assert hits.label_of(tables, 0, 0, 5) == batch.labels["box"]
    assert [hits.label_of(tables, 0, 1, face) for face in range(12)] == own.tolist()
    assert [hits.label_of(tables, 1, 0, face) for face in range(12)] == own.tolist()


def test_a_caster_in_many_worlds_reads_its_own():
    # the same rays meet other objects, labels and normals in other worlds
    assets = [sn.SceneObject(sn.shapes.box(1, 1, 1), label=f"asset{i}") for i in range(3)]
    index = np.array([[0, 1, 2], [2, -1, 0], [1, 0, -1]])
    yaw = np.array([[0, 10, 20], [30, 40, 50], [60, 70, 80]])
    position = np.zeros((3, 3, 3))
    position[..., 0] = [5, 10, 15]
    batch = sn.SceneBatch(assets, index, sn.Pose.from_euler_deg(position, yaw=yaw))
    caster = sn.RayCaster(batch)
    above = np.array([[5, 0, 4], [10, 0, 4], [15, 0, 4]], float)
    down = caster.cast(above, [0, 0, -1], worlds=np.arange(3)[:, None])
    present = index >= 0
    np.testing.assert_array_equal(down.hit, present)
    np.testing.assert_array_equal(down.object_id, np.where(present, [0, 1, 2], -1))
    numbers = np.array([batch.labels[f"asset{i}"] for i in range(3)])
    np.testing.assert_array_equal(down.label, np.where(present, numbers[index], -1))
    # from the side, along x: the face that looks back is turned by the yaw of the slot
    side = caster.cast(above - [2, 0, 4], [1, 0, 0], worlds=np.arange(3)[:, None])
    turn = np.deg2rad((yaw + 45) % 90 - 45)
    expected = -np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=-1)
    np.testing.assert_allclose(side.normal[present], expected[present], atol=1e-6)
