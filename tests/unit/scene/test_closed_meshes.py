"""Closed, open, inverted and nested meshes, against trimesh and volumes that are known."""

import numpy as np
import pytest
import trimesh

import sensorium as sn
from sensorium.scene.closed_meshes import closure, winding_number

SHAPES = (
    sn.shapes.box(1.0, 2.0, 0.5),
    sn.shapes.sphere(0.7, 2),
    sn.shapes.cylinder(0.4, 1.5, 9),
    sn.shapes.capsule(0.3, 0.8, 12),
    sn.shapes.ellipsoid(0.2, 0.9, 0.5, 1),
)


def moved(mesh, offset, rng):
    return sn.Mesh(sn.Pose.from_euler_deg(offset, *rng.uniform(-180, 180, 3)).apply(mesh.vertices), mesh.faces)


def turned(mesh):
    return sn.Mesh(mesh.vertices, mesh.faces[:, ::-1])


def soup(mesh, rng, noise_m=0.0):
    """Each face with corners of its own, as in an STL file, in any order."""
    faces = mesh.faces[rng.permutation(len(mesh.faces))]
    corners = mesh.vertices[faces].reshape(-1, 3)
    return sn.Mesh(corners + rng.uniform(-noise_m, noise_m, corners.shape), np.arange(len(corners)).reshape(-1, 3))


def independent(mesh):
    return trimesh.Trimesh(mesh.vertices, mesh.faces, process=True)


@pytest.mark.parametrize("seed", range(60))
def test_random_meshes_are_what_trimesh_says(seed):
    """Of one component or several apart, whole or with holes, with faces turned, in one piece or as a soup of faces."""
    rng = np.random.default_rng(seed)
    parts = []
    for k in range(rng.integers(1, 5)):
        part = moved(SHAPES[rng.integers(len(SHAPES))], (5.0 * k, 0.0, 0.0), rng)
        parts.append(turned(part) if rng.random() < 0.4 else part)
    mesh = sn.Mesh.merge(parts)
    faces = mesh.faces.copy()
    damage = rng.choice(["none", "holes", "flipped"], p=[0.5, 0.25, 0.25])
    some = rng.choice(len(faces), rng.integers(1, 4), replace=False)
    if damage == "holes":
        faces = np.delete(faces, some, axis=0)
    elif damage == "flipped":
        faces[some] = faces[some][:, ::-1]
    mesh = sn.Mesh(mesh.vertices, faces)
    plain = mesh
    if rng.random() < 0.5:
        plain = mesh = soup(mesh, rng)
        if rng.random() < 0.5:
            mesh = sn.Mesh(mesh.vertices + rng.uniform(-1e-7, 1e-7, mesh.vertices.shape), mesh.faces)

    # trimesh joins vertices by rounding them, which noise would take to either side
    found, other = closure(mesh), independent(plain)
    assert (found.open_edges == 0) == other.is_watertight
    assert found.closed == (other.is_watertight and other.is_winding_consistent)
    if not found.closed:
        assert found.outward is mesh
        return

    # Every component outward now, and no other number changed
    outward = independent(sn.Mesh(plain.vertices, found.outward.faces))
    assert outward.is_winding_consistent
    for each in outward.split(only_watertight=False):
        assert each.volume > 0.0
    was_inward = sum(len(each.faces) for each in other.split(only_watertight=False) if each.volume < 0.0)
    assert found.turned == was_inward
    assert (found.outward is mesh) == (was_inward == 0)
    np.testing.assert_array_equal(found.outward.vertices, mesh.vertices)
    np.testing.assert_array_equal(np.sort(found.outward.faces, axis=1), np.sort(mesh.faces, axis=1))


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("as_soup", [False, True])
def test_cavities_and_what_lies_in_them(inverted, as_soup):
    """A ball in a cavity in a ball: right as it is wound, or turned as a whole; its volume is known."""
    rng, balls = np.random.default_rng(1), [sn.shapes.sphere(radius, 3) for radius in (3.0, 2.0, 1.0)]
    mesh = sn.Mesh.merge([balls[0], turned(balls[1]), balls[2], moved(balls[2], (9.0, 0.0, 0.0), rng)])
    volume = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).volume
    mesh = turned(mesh) if inverted else mesh
    mesh = soup(mesh, rng) if as_soup else mesh
    found = closure(mesh)
    assert found.closed
    assert found.turned == (len(mesh.faces) if inverted else 0)
    assert independent(found.outward).volume == pytest.approx(volume, rel=1e-9)


def test_what_lies_in_a_volume_that_is_wound_as_it_is_is_no_cavity_and_right():
    nested = sn.Mesh.merge([sn.shapes.sphere(2.0, 2), sn.shapes.sphere(1.0, 2)])
    assert closure(nested).outward is nested

    # Only the one that stands alone is wrong here
    alone = sn.Mesh(sn.shapes.box(1, 1, 1).vertices + [9.0, 0.0, 0.0], sn.shapes.box(1, 1, 1).faces[:, ::-1])
    hollow = sn.Mesh.merge([sn.shapes.sphere(2.0, 2), turned(sn.shapes.sphere(1.0, 2)), alone])
    assert closure(hollow).turned == len(alone.faces)


def test_properties_stay_with_their_faces():
    box = sn.shapes.box(1, 1, 1)
    numbers = {"face_properties": {"number": np.arange(12)}, "vertex_properties": {"heat": np.arange(8.0)}}
    found = closure(sn.Mesh(box.vertices, box.faces[:, ::-1], **numbers)).outward
    np.testing.assert_array_equal(found.face_properties["number"], np.arange(12))
    np.testing.assert_array_equal(found.vertex_properties["heat"], np.arange(8.0))


def test_flat_bodies_enclose_nothing():
    plane = sn.shapes.plane(2.0)
    both = sn.Mesh(plane.vertices, np.concatenate([plane.faces, plane.faces[:, ::-1]]))
    assert closure(both).flat == 1
    assert not closure(both).closed
    assert closure(plane).open_edges == 4
    line = sn.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 1]])
    assert closure(line).flat == 1


def test_vertices_far_from_the_origin_lie_together_within_float32():
    rng, box = np.random.default_rng(3), sn.shapes.box(1.0, 1.0, 1.0)
    far = sn.Mesh(box.vertices + 5e4, box.faces)
    assert closure(soup(far, rng, noise_m=2e-3)).closed
    assert not closure(soup(box, rng, noise_m=1e-3)).closed


def test_a_box_a_thousand_kilometers_long_and_a_thin_one():
    assert closure(sn.shapes.box(1e6, 1.0, 1e-3)).closed
    thin, thick = closure(sn.shapes.box(1.0, 1.0, 0.01)).thinness, closure(sn.shapes.box(1.0, 1.0, 1.0)).thinness
    assert thin == pytest.approx(0.01, rel=0.05)
    assert thick == pytest.approx(2.0 / 6.0 / np.sqrt(3.0))


def test_a_hub_of_many_faces():
    """A fan: one vertex of a hundred thousand edges."""
    ring = np.linspace(0.0, 2.0 * np.pi, 100_000, endpoint=False)
    around = np.stack([np.cos(ring), np.sin(ring), np.zeros_like(ring)], axis=-1)
    first, second = 2 + np.arange(len(ring)), 2 + np.roll(np.arange(len(ring)), -1)
    zero = np.zeros_like(first)
    faces = np.concatenate([np.stack([zero, second, first], -1), np.stack([zero + 1, first, second], -1)])
    found = closure(sn.Mesh(np.concatenate([[[0, 0, -1], [0, 0, 1]], around]), faces))
    assert found.closed
    assert found.turned == 0


def test_winding_numbers():
    sphere, rng = sn.shapes.sphere(1.0, 3), np.random.default_rng(4)
    corners = sphere.vertices[sphere.faces]
    for point in rng.normal(size=(50, 3)):
        radius = np.linalg.norm(point)
        if abs(radius - 1.0) > 0.02:
            assert winding_number(corners, point) == pytest.approx(1.0 if radius < 1.0 else 0.0, abs=1e-9)
    assert winding_number(corners[:, ::-1], np.zeros(3)) == pytest.approx(-1.0)
