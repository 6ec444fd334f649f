import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorium.core.errors import SceneError
from sensorium.scene import shapes
from sensorium.scene.mesh import Mesh

CLOSED = {
    "box": shapes.box(1.0, 2.0, 3.0),
    "sphere": shapes.sphere(0.7, subdivisions=2),
    "ellipsoid": shapes.ellipsoid(0.5, 1.0, 2.0, subdivisions=2),
    "cylinder": shapes.cylinder(0.4, 2.0, segments=17),
    "capsule": shapes.capsule(0.3, 1.5, segments=18),
}


def corners(mesh: Mesh) -> np.ndarray:
    return mesh.vertices[mesh.faces]


def area_vectors(mesh: Mesh) -> np.ndarray:
    a, b, c = np.moveaxis(corners(mesh), 1, 0)
    return 0.5 * np.cross(b - a, c - a)


def volume(mesh: Mesh) -> float:
    a, b, c = np.moveaxis(corners(mesh), 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6.0)


def area(mesh: Mesh) -> float:
    return float(np.linalg.norm(area_vectors(mesh), axis=1).sum())


def facet_distances(mesh: Mesh) -> np.ndarray:
    """Distance of each facet's plane from the origin, positive when the origin is behind it."""
    vectors = area_vectors(mesh)
    normals = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.sum(normals * corners(mesh)[:, 0], axis=1)


@pytest.mark.parametrize("name", CLOSED)
def test_every_edge_borders_two_faces_in_opposite_directions(name: str) -> None:
    faces = CLOSED[name].faces
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    directed, count = np.unique(edges, axis=0, return_counts=True)
    assert (count == 1).all()
    assert {tuple(e) for e in directed.tolist()} == {(b, a) for a, b in directed.tolist()}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_shapes_satisfy_euler_and_use_every_vertex_once(name: str) -> None:
    mesh = CLOSED[name]
    assert len(mesh.vertices) - 3 * len(mesh.faces) // 2 + len(mesh.faces) == 2
    assert np.array_equal(np.unique(mesh.faces), np.arange(len(mesh.vertices)))
    assert len(np.unique(mesh.vertices, axis=0)) == len(mesh.vertices)


@pytest.mark.parametrize("name", CLOSED)
def test_closed_shapes_are_convex_and_wound_outward(name: str) -> None:
    mesh = CLOSED[name]
    assert (facet_distances(mesh) > 0.0).all()
    assert np.allclose(area_vectors(mesh).sum(axis=0), 0.0, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(*[st.floats(1e-3, 1e3)] * 3)
def test_box_has_the_volume_area_and_bounds_of_its_sizes(x: float, y: float, z: float) -> None:
    mesh = shapes.box(x, y, z)
    assert volume(mesh) == pytest.approx(x * y * z)
    assert area(mesh) == pytest.approx(2.0 * (x * y + y * z + z * x))
    assert np.array_equal(mesh.bounds, [[-x / 2, -y / 2, -z / 2], [x / 2, y / 2, z / 2]])


@pytest.mark.parametrize("subdivisions", range(6))
def test_sphere_is_inscribed_with_the_stated_sag(subdivisions: int) -> None:
    radius = 1.7
    mesh = shapes.sphere(radius, subdivisions)
    sag = 0.292 * radius / 4**subdivisions
    assert len(mesh.faces) == 20 * 4**subdivisions
    assert np.allclose(np.linalg.norm(mesh.vertices, axis=1), radius, rtol=4e-16, atol=0.0)
    assert 0.6 * sag < radius - facet_distances(mesh).min() <= sag  # holds, and is not idle
    assert (1.0 - sag / radius) ** 3 <= volume(mesh) / (4.0 / 3.0 * math.pi * radius**3) < 1.0
    assert (1.0 - sag / radius) ** 2 <= area(mesh) / (4.0 * math.pi * radius**2) < 1.0


def test_sphere_converges_fourfold_with_each_subdivision() -> None:
    missing = [4.0 / 3.0 * math.pi - volume(shapes.sphere(1.0, n)) for n in range(2, 6)]
    assert np.allclose(np.divide(missing[:-1], missing[1:]), 4.0, rtol=0.02)


def test_ellipsoid_vertices_lie_on_it_and_volume_is_within_the_sag() -> None:
    semi_axes = np.array([0.5, 1.0, 2.0])
    mesh = shapes.ellipsoid(*semi_axes, subdivisions=4)
    assert np.allclose(np.sum((mesh.vertices / semi_axes) ** 2, axis=1), 1.0, rtol=1e-15, atol=0.0)
    fraction = volume(mesh) / (4.0 / 3.0 * math.pi * semi_axes.prod())
    assert (1.0 - 0.292 / 4**4) ** 3 <= fraction < 1.0
    assert np.allclose(mesh.bounds[1], semi_axes, rtol=0.292 / 4**4)


@pytest.mark.parametrize("segments", [3, 4, 7, 64])
def test_cylinder_is_the_prism_over_a_regular_polygon(segments: int) -> None:
    radius, height = 0.8, 2.5
    mesh = shapes.cylinder(radius, height, segments)
    polygon = 0.5 * segments * radius**2 * math.sin(2.0 * math.pi / segments)
    side = 2.0 * radius * math.sin(math.pi / segments) * height * segments
    assert volume(mesh) == pytest.approx(polygon * height, rel=1e-12)
    assert area(mesh) == pytest.approx(2.0 * polygon + side, rel=1e-12)

    # Rim vertices lie on the surface; the side facets sag by exactly the stated amount
    rim = mesh.vertices[np.hypot(mesh.vertices[:, 0], mesh.vertices[:, 1]) > 0.0]
    assert np.allclose(np.hypot(rim[:, 0], rim[:, 1]), radius, rtol=4e-16, atol=0.0)
    assert np.array_equal(np.unique(mesh.vertices[:, 2]), [-height / 2, height / 2])
    level = np.abs(area_vectors(mesh)[:, 2]) < 1e-12
    assert np.allclose(radius - facet_distances(mesh)[level], radius * (1.0 - math.cos(math.pi / segments)))


@pytest.mark.parametrize("segments", [3, 4, 6, 17, 64])
def test_capsule_is_inscribed_with_the_stated_sag(segments: int) -> None:
    radius, length = 0.6, 1.4
    mesh = shapes.capsule(radius, length, segments)

    # Distance of each vertex from the axis segment is the radius
    nearest = np.zeros_like(mesh.vertices)
    nearest[:, 2] = np.clip(mesh.vertices[:, 2], -length / 2, length / 2)
    assert np.allclose(np.linalg.norm(mesh.vertices - nearest, axis=1), radius, rtol=1e-14, atol=0.0)
    assert np.allclose(mesh.bounds[:, 2], [-length / 2 - radius, length / 2 + radius])

    # Facets stay outside the capsule shrunk by the sag: its support function is h(n) = r + |n_z| l/2
    vectors = area_vectors(mesh)
    n_z = vectors[:, 2] / np.linalg.norm(vectors, axis=1)
    sag = radius + np.abs(n_z) * length / 2 - facet_distances(mesh)
    bound = radius * math.sin(math.pi / segments) ** 2
    assert (sag >= -1e-12).all()
    assert sag.max() <= bound + 1e-12
    shrunk = radius - bound
    assert math.pi * shrunk**2 * length + 4.0 / 3.0 * math.pi * shrunk**3 <= volume(mesh)
    assert volume(mesh) < math.pi * radius**2 * length + 4.0 / 3.0 * math.pi * radius**3


def test_plane_faces_up_and_takes_two_sizes() -> None:
    mesh = shapes.plane(4.0, 3.0)
    assert np.array_equal(area_vectors(mesh).sum(axis=0), [0.0, 0.0, 12.0])
    assert (area_vectors(mesh)[:, 2] > 0.0).all()
    assert np.array_equal(mesh.bounds, [[-2.0, -1.5, 0.0], [2.0, 1.5, 0.0]])
    assert np.array_equal(shapes.plane(4.0).bounds, [[-2.0, -2.0, 0.0], [2.0, 2.0, 0.0]])


def test_heightfield_puts_height_ij_at_x_i_and_y_j_with_normals_up() -> None:
    heights = np.arange(12.0).reshape(4, 3) ** 1.5
    mesh = shapes.heightfield(heights, size_x=6.0, size_y=1.0)
    by_place = {(x, y): z for x, y, z in mesh.vertices.tolist()}
    for i in range(4):
        for j in range(3):
            assert by_place[(6.0 * (i / 3 - 0.5), 1.0 * (j / 2 - 0.5))] == heights[i, j]

    # Each triangle faces up; seen from above they cover the rectangle once; no cell is stretched
    assert (area_vectors(mesh)[:, 2] > 0.0).all()
    assert area_vectors(mesh)[:, 2].sum() == pytest.approx(6.0)
    assert len(mesh.faces) == 2 * 3 * 2
    assert np.ptp(corners(mesh)[:, :, 0], axis=1) == pytest.approx(2.0)


def test_heightfield_of_a_linear_slope_is_that_plane() -> None:
    x, y = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-2, 2, 7), indexing="ij")
    mesh = shapes.heightfield(0.3 * x - 0.2 * y, 2.0, 4.0)
    normals = area_vectors(mesh) / np.linalg.norm(area_vectors(mesh), axis=1, keepdims=True)
    assert np.allclose(normals, np.array([-0.3, 0.2, 1.0]) / math.sqrt(0.09 + 0.04 + 1.0))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: shapes.box(1.0, 0.0, 1.0), "y is 0"),
        (lambda: shapes.box("1", 1.0, 1.0), "x is '1'; it must be finite and positive"),
        (lambda: shapes.sphere(1.0, "4"), "subdivisions is '4'"),
        (lambda: shapes.sphere(-1.0), "radius is -1"),
        (lambda: shapes.sphere(math.nan), "radius is nan"),
        (lambda: shapes.sphere(1.0, 10), "subdivisions is 10"),
        (lambda: shapes.sphere(1.0, math.nan), "subdivisions is nan"),
        (lambda: shapes.cylinder(1.0, math.inf), "height is inf"),
        (lambda: shapes.cylinder(1.0, 1.0, 2), "segments is 2"),
        (lambda: shapes.capsule(1.0, 1.0, 6.5), "segments is 6.5"),
        (lambda: shapes.plane(1.0, -2.0), "size_y is -2"),
        (lambda: shapes.heightfield([[0.0, 1.0]], 1.0, 1.0), r"shape \(1, 2\)"),
        (lambda: shapes.heightfield([[0.0, 1.0], [0.0, math.nan]], 1.0, 1.0), r"heights\[1, 1\] is nan"),
    ],
)
def test_bad_sizes_are_named(make: object, match: str) -> None:
    with pytest.raises(SceneError, match=match):
        make()  # type: ignore[operator]
