"""The scene as entities, read by the SDK's own descriptors."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.live.foxglove import scene as scene_module
from sensorium.live.foxglove.scene import scene_bytes


def update_of(env):
    """The message, decoded by the schema that is sent with it."""
    protobuf = pytest.importorskip("google.protobuf")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    assert protobuf
    data, schema = scene_bytes(env)
    files = descriptor_pb2.FileDescriptorSet.FromString(schema.data)
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.name))()
    message.ParseFromString(data)
    return message


def test_bodies_have_their_frames_meshes_and_names(env):
    update = update_of(env)
    assert {entity.frame_id for entity in update.entities} == {"world", "car"}
    by_frame = {entity.frame_id: entity for entity in update.entities}
    assert all(entity.frame_locked for entity in update.entities)
    wall, car = env.scene.objects
    for frame, one in (("world", wall), ("car", car)):
        (triangles,) = by_frame[frame].triangles
        points = np.array([(p.x, p.y, p.z) for p in triangles.points])
        np.testing.assert_array_equal(points, one.mesh.vertices)
        np.testing.assert_array_equal(np.array(triangles.indices).reshape(-1, 3), one.mesh.faces)
        position = triangles.pose.position
        assert (position.x, position.y, position.z) == tuple(one.pose.position)
    assert [text.text for text in by_frame["car"].texts] == ["car"]
    assert [text.text for text in by_frame["world"].texts] == ["wall"]
    colors = {entity.frame_id: entity.triangles[0].color for entity in update.entities}
    assert (colors["car"].r, colors["car"].g) != (colors["world"].r, colors["world"].g)


def test_objects_beyond_the_budget_are_boxes_of_their_bounds(env, monkeypatch):
    monkeypatch.setattr(scene_module, "MOST_TRIANGLES", 12)
    update = update_of(env)
    by_frame = {entity.frame_id: entity for entity in update.entities}
    assert len(by_frame["world"].triangles) == 1
    (box,) = by_frame["car"].cubes
    assert (box.size.x, box.size.y, box.size.z) == (2.0, 1.0, 1.0)


def test_a_batch_shows_its_first_world():
    box, ball = sn.shapes.box(1, 1, 1), sn.shapes.sphere(0.5)
    scene = sn.SceneBatch([box, ball], index=[[0, -1], [1, 1]], pose=sn.Pose([[5.0, 0.0, 0.0], [7.0, 0.0, 0.0]]))
    update = update_of(sn.Environment(scene, sn.worlds.Static(step_s=0.01)))
    (entity,) = update.entities
    assert entity.frame_id == "world_0/world"
    assert [triangles.pose.position.x for triangles in entity.triangles] == [5.0]


def test_an_empty_scene_is_none():
    assert scene_bytes(sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))) is None
