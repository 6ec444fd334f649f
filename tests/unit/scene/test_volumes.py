"""Which objects are volumes, and which of them are clipped by planes."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.scene import volumes as vol
from sensorium.scene.layout import layout

FOG, GLASS = sn.media.fog(visibility_m=50.0), sn.Dielectric(refractive_index=1.5)


def test_kinds_follow_from_the_index_around():
    materials = [None, sn.Lambertian(reflectance=0.5), FOG, GLASS, sn.media.water(), sn.Dielectric(medium=FOG)]
    assert vol.material_kinds(materials, 1.0).tolist() == [0, 0, vol.AIR, vol.VOLUME, vol.VOLUME, vol.AIR]
    in_water = vol.index_of(sn.media.water())
    assert vol.material_kinds(materials, in_water).tolist() == [0, 0, vol.VOLUME, vol.VOLUME, vol.AIR, vol.VOLUME]


@pytest.mark.parametrize(("mesh", "planes"), [(sn.shapes.box(2, 3, 4), 6), (sn.shapes.sphere(1.0), None)])
def test_planes_of_convex_meshes_of_few_faces(mesh, planes):
    found = vol.convex_planes(mesh)
    assert (None if found is None else len(found)) == planes
    if found is not None:
        points = np.random.default_rng(0).uniform(-3, 3, (2000, 3))
        inside = (np.abs(points) < np.array([2, 3, 4]) / 2).all(axis=1)
        np.testing.assert_array_equal((points @ found[:, :3].T <= found[:, 3]).all(axis=1), inside)


def test_a_mesh_with_a_dent_has_no_planes():
    box = sn.shapes.box(2, 2, 2)
    vertices = box.vertices.copy()
    vertices[np.argmax(vertices.sum(axis=1))] *= 0.5  # one corner pushed in
    assert vol.convex_planes(sn.Mesh(vertices, box.faces)) is None


def test_volumes_of_boxes_and_balls():
    assert vol.volume_m3(sn.shapes.box(2, 3, 4)) == pytest.approx(24.0)
    assert vol.volume_m3(sn.shapes.sphere(1.0, subdivisions=5)) == pytest.approx(4 * np.pi / 3, rel=2e-3)
    moved = sn.Mesh(sn.shapes.box(2, 3, 4).vertices + 1e4, sn.shapes.box(2, 3, 4).faces)
    assert vol.volume_m3(moved) == pytest.approx(24.0)


@pytest.mark.parametrize(
    ("other", "banks"), [(None, [0, 1]), (GLASS, []), (sn.Lambertian(reflectance=0.5), [0, 1]), (FOG, [0, 1, 4])]
)
def test_banks_are_convex_fixed_and_in_scenes_where_nothing_refracts(other, banks):
    scene, pose = sn.Scene(), sn.Pose.from_euler_deg((4, 5, 6), yaw=30, pitch=20)
    scene.add(sn.shapes.box(1, 1, 1), material=FOG)
    scene.add(sn.shapes.box(2, 3, 4), pose=pose, material=FOG)
    scene.add(sn.shapes.sphere(1.0), material=FOG)
    scene.add(sn.shapes.box(1, 1, 1), body="car", material=FOG)
    scene.add(sn.shapes.box(1, 1, 1), pose=sn.Pose((9, 9, 9)), material=other)
    laid_out = layout(scene, 1)
    assert laid_out.banks.column.tolist() == banks
    assert (laid_out.object_kind == vol.BANK).sum() == len(banks)
    if banks:
        planes = laid_out.banks.plane[1]
        planes = planes[np.isfinite(planes[:, 3])]
        points = np.random.default_rng(1).uniform(1, 9, (3000, 3))
        inside = (np.abs(pose.inverse().apply(points)) < np.array([2, 3, 4]) / 2).all(axis=1)
        assert inside.any()
        np.testing.assert_array_equal((points @ planes[:, :3].T <= planes[:, 3]).all(axis=1), inside)
