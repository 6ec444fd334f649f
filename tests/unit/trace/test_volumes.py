from functools import partial

import numpy as np
import pytest

import sensorium as sn
from sensorium.scene.layout import layout
from sensorium.trace.labels import label_tables
from sensorium.trace.placement import PlacedScenes
from sensorium.trace.volumes import cast_into, medium_around


def around(scene, points, medium_of_object, *, world=None, worlds=1, near=(0.0, 0.0, 0.0)):
    """Medium number around each point of a scene that stands still."""
    laid_out = layout(scene, worlds)
    placed = PlacedScenes(laid_out, worlds, ())
    placed.place(np.zeros((1, worlds, 0, 3)), np.zeros((1, worlds, 0, 4)), np.tile(near, (worlds, 1)))
    points = np.atleast_2d(np.asarray(points, float))
    world = np.zeros(len(points), np.int32) if world is None else np.asarray(world, np.int32)
    with placed.lock:
        cast = partial(cast_into, placed, label_tables(laid_out), np.uint32(0xFFFFFFFF))
        inner, _ = medium_around(cast, placed.anchor, points, world, np.atleast_2d(medium_of_object).astype(np.int32))
        return inner


def grid(count, extent, seed=0):
    return np.random.default_rng(seed).uniform(-extent, extent, (count, 3))


def test_without_volumes_everything_is_in_the_atmosphere():
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(2.0))
    assert (around(scene, grid(100, 3.0), [0]) == 0).all()


@pytest.mark.parametrize("attitude", [(1, 0, 0, 0), (0.8, 0.3, -0.4, 0.1)], ids=["level", "tilted"])
def test_a_box(attitude):
    pose = sn.Pose((0.5, -0.2, 0.1), attitude)
    scene = sn.Scene()
    scene.add(sn.shapes.box(3, 2, 1), pose=pose)
    points = grid(2000, 2.0)
    inside = (np.abs(pose.inverse().apply(points)) < np.array([3, 2, 1]) / 2).all(axis=1)
    assert 100 < inside.sum() < 1000
    np.testing.assert_array_equal(around(scene, points, [7]), np.where(inside, 7, 0))


def test_a_sphere_far_from_the_origin():
    scene, far = sn.Scene(), np.array([4000.0, -3000.0, 20.0])
    scene.add(sn.shapes.sphere(2.0, subdivisions=5), pose=sn.Pose(far))
    points = grid(1000, 2.5)
    distance = np.linalg.norm(points, axis=1)
    sure = np.abs(distance - 2.0) > 0.02
    found = around(scene, points + far, [1], near=far)
    np.testing.assert_array_equal(found[sure], (distance < 2.0)[sure])


def test_what_is_no_volume_does_not_matter():
    scene = sn.Scene()
    scene.add(sn.shapes.box(8, 8, 8))
    for height in np.linspace(0.2, 2.0, 10):  # ten solid sheets over the point, and a room around everything
        scene.add(sn.shapes.plane(6.0), pose=sn.Pose((0, 0, height)))
    scene.add(sn.shapes.box(50, 50, 50))
    assert around(scene, [(0, 0, 0)], [3] + 11 * [0]) == [3]
    assert around(scene, [(0, 0, 10)], [3] + 11 * [0]) == [0]


def test_neighbouring_volumes():
    scene = sn.Scene()
    scene.add(sn.shapes.box(2, 2, 2), pose=sn.Pose((-1.5, 0, 0)))
    scene.add(sn.shapes.box(2, 2, 2), pose=sn.Pose((1.5, 0, 0)))
    points = [(-1.5, 0, 0), (0, 0, 0), (1.5, 0, 0), (-4, -4, -4)]
    np.testing.assert_array_equal(around(scene, points, [1, 2]), [1, 0, 2, 0])


def test_a_volume_inside_a_volume():
    """A tank in a fog bank: in the tank it is the tank's medium, beside it, even below it, the bank's."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(20, 20, 20))
    scene.add(sn.shapes.box(4, 4, 4))
    points = [(0, 0, 0), (-3, 0, 0), (0, 0, 5), (-2, -2.5, -4), (-1.5, -2, -3.3), (0, 0, 30)]
    np.testing.assert_array_equal(around(scene, points, [1, 2]), [2, 1, 1, 1, 1, 0])


def test_each_world_has_its_own():
    mesh = sn.shapes.box(2, 2, 2)
    pose = sn.Pose(np.array([[(0.0, 0, 0)], [(5.0, 0, 0)], [(0.0, 0, 0)]]))
    batch = sn.SceneBatch([sn.SceneObject(mesh), sn.SceneObject(mesh)], np.array([[0], [0], [-1]]), pose)
    points = np.zeros((3, 3))
    found = around(batch, points, [[1], [1], [0]], world=[0, 1, 2], worlds=3)
    np.testing.assert_array_equal(found, [1, 0, 0])
