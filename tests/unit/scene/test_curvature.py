"""Curvature of faces against closed forms, whichever way a mesh says how it curves."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError
from sensorium.scene import curvature as of_scene
from sensorium.scene.curvature import can_mirror, curvature_of, face_curvature
from sensorium.scene.mesh import full_tensor
from sensorium.scene.shapes import closed_rings

TURN = sn.Pose.from_euler_deg((3, -2, 1), roll=33, pitch=21, yaw=71)


def principal(mesh):
    """The two curvatures within each face, the smaller first, shape (m, 2); none along its normal."""
    values, axes = np.linalg.eigh(full_tensor(face_curvature(mesh)))
    p = mesh.vertices[mesh.faces]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    along = np.abs(np.einsum("fij,fi->fj", axes, normal)).argmax(axis=1)
    rows = np.arange(len(values))
    assert np.abs(values[rows, along]).max() < 1e-9 * max(np.abs(values).max(), 1.0)
    return np.sort(np.stack([values[rows, (along + 1) % 3], values[rows, (along + 2) % 3]], axis=1), axis=1)


def torus(ring, tube, around=96, across=48):
    """A torus about z, and the angle across the tube in the middle of each face."""
    u, v = (2 * np.pi * np.arange(n) / n for n in (around, across))
    u, v = np.meshgrid(u, v, indexing="ij")
    reach = ring + tube * np.cos(v)
    points = np.stack([reach * np.cos(u), reach * np.sin(u), tube * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    right, up = (i + 1) % around, (j + 1) % across
    quads = np.stack([i * across + j, right * across + j, right * across + up, i * across + up], axis=-1).reshape(-1, 4)
    mesh = sn.Mesh(points, quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3))
    middle = points[mesh.faces].mean(axis=1)
    return mesh, np.arctan2(middle[:, 2], np.hypot(middle[:, 0], middle[:, 1]) - ring)


def globe(radius, segments):
    """A sphere of meridians and parallels."""
    azimuth, polar = 2 * np.pi * np.arange(segments) / segments, np.pi * np.arange(1, segments // 2) / (segments // 2)
    polar, azimuth = np.meshgrid(polar[::-1], azimuth, indexing="ij")
    rings = np.stack([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], axis=-1)
    pole = np.array([0.0, 0.0, radius])
    return closed_rings(radius * rings, -pole, pole)


def lying_apart(mesh):
    """The same with vertices of its own for each face, as STL files have them."""
    return sn.Mesh(mesh.vertices[mesh.faces].reshape(-1, 3), np.arange(3 * len(mesh.faces)).reshape(-1, 3))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("apart", [False, True])
def test_spheres(turned, apart):
    for mesh in (sn.shapes.sphere(0.3, 2), sn.shapes.sphere(0.3, 4), globe(0.3, 24), globe(0.3, 64)):
        mesh = mesh.transformed(TURN) if turned else mesh
        mesh = lying_apart(mesh) if apart else mesh
        np.testing.assert_allclose(principal(mesh) * 0.3, 1.0, rtol=1e-5)


def test_cylinders():
    side = principal(sn.shapes.cylinder(0.4, 2.0, 48).transformed(TURN))
    caps = np.concatenate([side[:48], side[-48:]])
    assert not caps.any()
    np.testing.assert_allclose(side[48:-48], np.broadcast_to([0.0, 2.5], (96, 2)), atol=0.001)


def test_a_torus():
    mesh, angle = torus(1.0, 0.3)
    expected = np.stack([np.cos(angle) / (1.0 + 0.3 * np.cos(angle)), np.full(len(angle), 1 / 0.3)], axis=1)
    np.testing.assert_allclose(principal(mesh), expected, atol=0.01 / 0.3)
    np.testing.assert_allclose(principal(mesh.transformed(TURN)), expected, atol=0.01 / 0.3)


def test_ellipsoids():
    axes = np.array([0.3, 0.5, 0.8])
    mesh = sn.shapes.ellipsoid(*axes, subdivisions=5)
    p = mesh.vertices[mesh.faces].mean(axis=1)
    p /= np.linalg.norm(p / axes, axis=1, keepdims=True)

    # Gauss and mean curvature, from the distance h of the tangent plane
    h = 1.0 / np.linalg.norm(p / axes**2, axis=1)
    gauss, mean = h**4 / np.prod(axes) ** 2, h**3 * ((axes**2).sum() - (p**2).sum(axis=1)) / (2 * np.prod(axes) ** 2)
    found = principal(mesh)
    error = found.mean(axis=1) / mean - 1.0, found.prod(axis=1) / gauss - 1.0
    assert np.sqrt(np.mean(np.square(error), axis=1)).max() < 0.015


def test_inside_out_it_is_hollow():
    mesh = sn.shapes.sphere(2.0, 3)
    np.testing.assert_allclose(principal(sn.Mesh(mesh.vertices, mesh.faces[:, ::-1])), -0.5, rtol=1e-6)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_what_is_flat_is_exactly_flat(kind):
    far = sn.Pose.from_euler_deg((900, -400, 20), roll=33, pitch=21, yaw=71)
    grid = sn.shapes.heightfield(np.zeros((30, 40)), 3.0, 4.0)
    for mesh in (sn.shapes.box(1, 2, 3), sn.shapes.plane(3.0), grid, sn.shapes.cylinder(1.0, 2.0, 8)):
        for pose in (sn.Pose(), TURN, far):
            moved = mesh.transformed(pose)
            assert not face_curvature(sn.Mesh(moved.vertices.astype(kind), moved.faces)).any()


def test_faces_without_area_and_sheets_of_two_sides():
    sheet = sn.shapes.plane(2.0)
    both = sn.Mesh(sheet.vertices, np.concatenate([sheet.faces, sheet.faces[:, ::-1], [[0, 0, 1], [0, 1, 1]]]))
    assert not face_curvature(both).any()
    ball = sn.shapes.sphere(0.3, 3)
    found = face_curvature(sn.Mesh(ball.vertices, np.concatenate([ball.faces, [[0, 0, 1], [5, 5, 5]]])))
    assert np.isfinite(found).all()
    assert not found[-2:].any()


def test_normals_that_the_mesh_carries_say_how_it_curves():
    """A flat grid whose vertices carry the normals of a sphere is a mirror as curved as that."""
    grid = sn.shapes.heightfield(np.zeros((9, 9)), 0.4, 0.4)
    normal = grid.vertices / 2.0 + [0.0, 0.0, 1.0]
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    by_vertex = sn.Mesh(grid.vertices, grid.faces, vertex_properties={"normal": normal})
    np.testing.assert_allclose(principal(by_vertex), 0.5, rtol=0.04)
    by_corner = sn.Mesh(grid.vertices, grid.faces, face_properties={"normal": normal[grid.faces]})
    np.testing.assert_allclose(face_curvature(by_corner), face_curvature(by_vertex))
    turned = face_curvature(by_vertex.transformed(TURN))
    expected = TURN.rotation @ full_tensor(face_curvature(by_vertex)) @ TURN.rotation.T
    np.testing.assert_allclose(full_tensor(turned), expected, atol=1e-9)


def test_normals_of_a_picture_are_not_believed():
    """Some tools average normals over the edges of boxes, so that pictures of them look soft; boxes are flat."""
    box = sn.shapes.box(1, 1, 1)
    soft = sn.Mesh(box.vertices, box.faces, vertex_properties={"normal": box.vertices / np.sqrt(0.75)})
    assert not face_curvature(soft).any()


def test_a_mesh_may_say_its_curvature_itself():
    ball = sn.shapes.sphere(2.0, 1)
    own = np.tile([0.1, 0.2, 0.3, 0.0, 0.0, 0.0], (len(ball.faces), 1))
    mesh = sn.Mesh(ball.vertices, ball.faces, face_properties={"curvature_tensor": own})
    np.testing.assert_allclose(curvature_of(mesh), own, rtol=1e-6)
    np.testing.assert_allclose(curvature_of(mesh.scaled(2.0)), own / 2, rtol=1e-6)
    quarter = curvature_of(mesh.transformed(sn.Pose.from_euler_deg(yaw=90)))
    np.testing.assert_allclose(quarter[0], [0.2, 0.1, 0.3, 0, 0, 0], atol=1e-6)
    for of_faces, of_vertices in (({"curvature_tensor": own[:, :5]}, {}), ({}, {"curvature_tensor": ball.vertices})):
        bad = sn.Mesh(ball.vertices, ball.faces, face_properties=of_faces, vertex_properties=of_vertices)
        with pytest.raises(SceneError, match=r"curvature_tensor.*must be one of faces"):
            curvature_of(bad)


def test_hits_tell_it():
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(0.5, 4), pose=sn.Pose((3, 0, 0)))
    hits = sn.RayCaster(scene).cast([0, 0, 0], [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_allclose(
        np.linalg.eigvalsh(full_tensor(hits.property("curvature_tensor"))[0]), (0, 2, 2), atol=1e-4
    )


def test_which_materials_mirror():
    assert not any(map(can_mirror, (None, sn.Lambertian(reflectance=0.5), sn.Retroreflector(coefficient=50.0))))
    glossy = sn.TwoLayer(refractive_index=1.5, roughness=0.1, reflectance=0.3)
    bodies = (sn.Mirror(reflectance=0.9), glossy, sn.ThinGlass(), sn.Dielectric(refractive_index=1.5), sn.media.water())
    assert all(map(can_mirror, bodies))


def test_large_meshes_are_worked_out_in_chunks(monkeypatch):
    mesh = sn.shapes.ellipsoid(0.3, 0.5, 0.8, subdivisions=3)
    whole = face_curvature(mesh)
    monkeypatch.setattr(of_scene, "_CHUNK", 100)
    assert face_curvature(mesh).tobytes() == whole.tobytes()
