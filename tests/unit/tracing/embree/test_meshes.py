import gc
import time
import weakref

import numpy as np
import pytest

import sensorium as sn
from sensorium.tracing.embree import meshes


def test_one_scene_a_mesh_however_often_it_is_asked_for():
    box, same_shape = sn.shapes.box(1, 2, 3), sn.shapes.box(1, 2, 3)
    assert meshes.mesh_scene(box) is meshes.mesh_scene(box)
    assert meshes.mesh_scene(box).handle != meshes.mesh_scene(same_shape).handle
    scenes = meshes.mesh_scenes((same_shape, box, same_shape))
    assert scenes[0] is scenes[2]


def test_tables_tell_where_meshes_lie_in_memory():
    box, ball = sn.shapes.box(1, 2, 3), sn.shapes.sphere(1.0)
    scenes = meshes.mesh_scenes((box, ball))
    tables = meshes.mesh_tables(scenes, np.array([[1, 0, -1]], np.int32))
    np.testing.assert_array_equal(tables.scene, [s.handle for s in scenes])
    np.testing.assert_array_equal(tables.vertex_count, [8, len(ball.vertices)])
    np.testing.assert_array_equal(tables.face_count, [12, len(ball.faces)])
    np.testing.assert_allclose(tables.half[0], [0.5, 1.0, 1.5])
    np.testing.assert_array_equal(tables.of_object, [[1, 0, -1]])


def test_a_mesh_nobody_holds_is_released():
    mesh = sn.shapes.sphere(1.0, subdivisions=2)
    scene = weakref.ref(meshes.mesh_scene(mesh))
    gc.collect()
    assert scene() is not None
    del mesh
    gc.collect()
    assert scene() is None


def test_a_caster_keeps_what_it_casts_into():
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(1.0))
    caster = sn.RayCaster(scene)
    del scene
    gc.collect()
    assert caster.cast([0, 0, 5.0], [0, 0, -1]).range_m == pytest.approx(4.0, abs=2e-3)


def test_center_and_radius_enclose_the_mesh():
    mesh = sn.shapes.cylinder(0.5, 4.0).transformed(sn.Pose((7.0, -3.0, 2.0), (0.9, 0.1, 0.4, 0.0)))
    scene = meshes.mesh_scene(mesh)
    np.testing.assert_allclose(scene.center, mesh.center)
    distance = np.linalg.norm(mesh.vertices - scene.center, axis=1)
    assert distance.max() == pytest.approx(scene.radius_m, rel=1e-12)


def test_a_mesh_modeled_far_from_its_origin_keeps_its_shape():
    # map coordinates: 4.5 million meters north, where float32 has steps of half a meter
    offset = np.array([691_603.0, 4_534_911.0, 120.0])
    near, far = sn.shapes.sphere(2.0), sn.shapes.sphere(2.0).transformed(sn.Pose(offset))
    directions = np.random.default_rng(0).normal(size=(500, 3))
    ranges = []
    for mesh, origin in ((near, np.zeros(3)), (far, offset)):
        scene = sn.Scene()
        scene.add(mesh)
        ranges.append(sn.RayCaster(scene).cast(origin, directions).range_m)
    np.testing.assert_allclose(ranges[1], ranges[0], atol=1e-5)


def test_the_smallest_mesh():
    # one triangle: the last vertex is the last thing in its buffer
    mesh = sn.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    scene = sn.Scene()
    scene.add(mesh)
    hits = sn.RayCaster(scene).cast([[0.2, 0.2, 1.0], [0.8, 0.8, 1.0]], [0, 0, -1])
    np.testing.assert_array_equal(hits.hit, [True, False])
    np.testing.assert_allclose(hits.barycentric[0], [0.2, 0.2], atol=1e-6)


def test_nothing_turns_in_circles_once_a_large_mesh_is_built():
    """Threads of Embree's own would keep a core busy for ever."""
    mesh = sn.shapes.sphere(1.0, subdivisions=6)
    assert len(mesh.faces) > meshes._LARGE_FACES
    meshes.mesh_scene(mesh)
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.4)
    assert time.process_time() - before < 0.1
