"""Which targets are in the field of which sensor, however either is turned."""

import numpy as np
import pytest

import sensorium as sn


@pytest.mark.parametrize("seed", range(4))
def test_targets_are_listed_that_have_some_of_them_in_the_field(make_radar, seed):
    """120 small boxes all around, on a turned body and off it, from three radars that look elsewhere."""
    rng = np.random.default_rng(seed)
    size, scene, poses = 0.05, sn.Scene(), []
    X_WB = sn.Pose(rng.normal(size=3), turned(rng))
    for number in range(120):
        direction = rng.normal(size=3)
        place = rng.uniform(3.0, 70.0) * direction / np.linalg.norm(direction)
        pose, on_body = sn.Pose(place, turned(rng)), number % 2 == 0
        scene.add(sn.shapes.box(size, size, size), pose=pose, name=f"b{number}", body="body" if on_body else None)
        poses.append(X_WB @ pose if on_body else pose)
    env = sn.Environment(scene, sn.worlds.Static({"body": X_WB}, step_s=0.05))
    mounts = [sn.Pose(rng.normal(size=3), turned(rng)) for _ in range(3)]
    names = {f"b{number}": 1.0 for number in range(120)}
    spec = make_radar(source="rays", cross_sections=names, vertical_fov_deg=100.0, ray_spacing_deg=5.0)
    radar = env.attach(spec, pose=mounts)
    env.step()
    corners = 0.5 * size * np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    for sensor, mount in enumerate(mounts):
        p = np.stack([mount.inverse().apply(pose.apply(corners)) for pose in poses])
        distance = np.linalg.norm(p, axis=-1)
        half = np.radians([45.0, 50.0])
        inside = (np.abs(np.arctan2(p[..., 1], p[..., 0])) <= half[0]) & (distance <= spec.farthest_m)
        inside &= np.abs(np.arcsin(p[..., 2] / distance)) <= half[1]
        found = radar.truth().row(0, sensor).flat()
        listed = set(found.object_id.tolist())
        np.testing.assert_array_equal(found.cross_section_m2 <= 1.0 + 1e-9, True)
        assert set(np.flatnonzero(inside.all(axis=1)).tolist()) <= listed
        assert listed <= set(np.flatnonzero(inside.any(axis=1)).tolist())


def turned(rng):
    """A random rotation."""
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def test_a_radar_inside_of_a_target_sees_it_all_around(truth_of):
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(4.0, subdivisions=3), name="dome")
    truth = truth_of(scene, cross_sections={"dome": 12.0})
    assert truth.cross_section_m2[0] == pytest.approx(12.0, rel=1e-9)
    assert truth.range_m[0] == pytest.approx(4.0, rel=0.02)


def test_the_edge_of_the_field_does_not_divide_a_target(truth_of):
    """A wall from the middle of the field to far outside: what is inside carries what is stated."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 80.0, 2.0), pose=sn.Pose((20.0, 40.0, 0.0)), name="wall")
    truth = truth_of(scene, cross_sections={"wall": 500.0})
    assert truth.cross_section_m2[0] == pytest.approx(500.0, rel=1e-9)
    assert truth.azimuth_rad[0] < np.pi / 4
