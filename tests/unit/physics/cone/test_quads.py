"""Quads of triangle meshes: those of boxes and grids are found, whatever the order of faces; lone triangles stay."""

import numpy as np
import pytest

from sensorium.physics.cone import recovered_quads
from sensorium.scene import shapes
from sensorium.scene.mesh import Mesh


def quads_of(mesh):
    return recovered_quads(mesh.vertices, mesh.faces)


def sides(mesh, quads):
    """Ways along the sides of quads, shape (quads, 4, 3)."""
    points = mesh.vertices[quads.corners]
    return np.roll(points, -1, axis=1) - points


def test_a_box_has_six_with_lines_along_their_longer_sides():
    mesh = shapes.box(1.0, 2.0, 3.0)
    quads = quads_of(mesh)
    assert len(quads.corners) == 6
    assert quads.face.tolist() == [0, 2, 4, 6, 8, 10]
    length = np.linalg.norm(sides(mesh, quads), axis=2)
    assert (length[:, 0] > length[:, 1]).all()
    np.testing.assert_allclose(length[:, 0], length[:, 2])


def test_corners_go_round_as_the_triangles_do():
    mesh = shapes.box(1.0, 2.0, 3.0)
    quads = quads_of(mesh)
    ways = sides(mesh, quads)
    normal = np.cross(ways[:, 0], ways[:, 1])
    outward = mesh.vertices[quads.corners].mean(axis=1)
    assert ((normal * outward).sum(axis=1) > 0.0).all()
    np.testing.assert_allclose(ways.sum(axis=1), 0.0, atol=1e-15)


def test_lines_of_an_upright_square_are_level():
    mesh = shapes.box(1.0, 1.0, 1.0)
    quads = quads_of(mesh)
    np.testing.assert_allclose(sides(mesh, quads)[:, 0, 2], 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_faces_and_corners_does_not_matter(seed):
    random = np.random.default_rng(seed)
    mesh = shapes.heightfield(np.zeros((4, 5)), 3.0, 4.0)
    faces = random.permutation(mesh.faces)
    faces = np.take_along_axis(faces, (np.arange(3) + random.integers(0, 3, (len(faces), 1))) % 3, axis=1)
    quads = recovered_quads(mesh.vertices, faces)

    # A flat grid of unit squares: no quad reaches over two of them
    assert len(quads.corners) == 12
    np.testing.assert_allclose(np.linalg.norm(sides(mesh, quads), axis=2), 1.0)
    assert (np.diff(quads.face) > 0).all()


def test_corners_that_a_file_split_are_still_one():
    box = shapes.box(1.0, 2.0, 3.0)
    split = Mesh(box.vertices[box.faces].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    assert len(quads_of(split).corners) == 6


def test_triangles_that_bend_or_are_not_convex_together_stay_alone():
    bent = Mesh([(0, 0, 0), (1, 0, 0), (1, 1, 0.1), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    assert quads_of(bent).corners.tolist() == [[2, 0, 1, 1], [0, 2, 3, 3]]
    arrow = Mesh([(0, 0, 0), (2, 0, 0), (0.5, 0.5, 0), (0, 2, 0)], [(0, 1, 2), (0, 2, 3)])
    assert len(quads_of(arrow).corners) == 2


def test_a_lone_triangle_begins_with_its_longest_side():
    mesh = Mesh([(0, 0, 0), (1, 0, 0), (0, 2, 0)], [(0, 1, 2)])
    assert quads_of(mesh).corners.tolist() == [[1, 2, 0, 0]]


def test_a_triangle_without_area_is_kept():
    mesh = Mesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)])
    assert quads_of(mesh).corners.tolist() == [[2, 0, 1, 1]]
