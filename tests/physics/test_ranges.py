"""Ranges against closed forms: planes to 1e-5 of the range, spheres to what their tessellation allows."""

import numpy as np
import pytest

import sensorium as sn

ORIGINS = [(0.0, 0.0, 0.0), (3000.0, -3000.0, 120.0), (-41.3, 17.9, 3.3)]


def directions_at(incidence_deg, count, seed):
    """Unit vectors at this angle from the axis -z, all around it."""
    turn = np.random.default_rng(seed).uniform(0, 2 * np.pi, count)
    tilt = np.deg2rad(incidence_deg)
    return np.stack([np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.full(count, -np.cos(tilt))], axis=-1)


@pytest.mark.parametrize("origin", ORIGINS, ids=["at the origin", "4 km away", "off the grid"])
@pytest.mark.parametrize("attitude", [(1, 0, 0, 0), (0.8, 0.3, -0.4, 0.1)], ids=["level", "tilted"])
def test_planes_within_200_m(origin, attitude):
    """A ray at incidence a meets a plane at height h after h / cos a."""
    X_WP = sn.Pose(origin, attitude)  # the sensor sits at the origin of P, above the plane z = -h
    for height_m in (1.0, 2.0, 5.0, 13.7, 50.0, 150.0, 199.0):
        scene = sn.Scene()
        scene.add(sn.shapes.plane(500.0), pose=X_WP @ sn.Pose((3.0, -7.0, -height_m)))
        caster = sn.RayCaster(scene)
        for incidence_deg in (0.0, 10.0, 30.0, 45.0, 60.0, 75.0, 85.0, 88.0, 89.5):
            range_m = height_m / np.cos(np.deg2rad(incidence_deg))
            if range_m > 200.0:
                continue
            hits = caster.cast(origin, X_WP.rotate(directions_at(incidence_deg, 64, seed=int(height_m))))
            assert hits.hit.all()
            worst = np.abs(hits.range_m / range_m - 1.0).max()
            assert worst < 1e-5, f"h = {height_m} m, {incidence_deg} degrees: {worst:.1e}"


@pytest.mark.parametrize("origin", ORIGINS, ids=["at the origin", "4 km away", "off the grid"])
def test_a_lidar_in_front_of_a_wall(origin):
    """The same through a lidar that moves: each ray from where the sensor is when it fires."""
    speed_m_s, wall_m = 30.0, 150.0
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 800, 800), pose=sn.Pose(np.add(origin, (wall_m + 0.5, 0, 0))))
    world = sn.worlds.Kinematic({"car": sn.paths.Line(start=origin, velocity=(speed_m_s, 0, 0))}, step_s=0.02)
    env = sn.Environment(scene, world)
    pattern = sn.patterns.Raster(
        height=16, width=64, horizontal_fov_deg=(-35, 35), vertical_fov_deg=(-25, 25), rate_hz=10, firing="columns"
    )
    lidar = env.attach(sn.Lidar(pattern=pattern), body="car")
    for _ in env.run(duration_s=0.3):
        pass
    scan = lidar.read()
    gap_m = wall_m - speed_m_s * scan.ray_time_ns * 1e-9
    expected = gap_m / pattern.rays().direction_S[..., 0].astype(np.float64)
    assert scan.valid.all()
    assert np.abs(scan.range_m / expected - 1.0).max() < 1e-5


@pytest.mark.parametrize("subdivisions", [1, 3, 5, 7])
@pytest.mark.parametrize("origin", ORIGINS[:2], ids=["at the origin", "4 km away"])
def test_spheres_to_their_tessellation(subdivisions, origin):
    """Vertices lie on the sphere and faces inside by no more than the sag, so a hit lies between two spheres."""
    radius_m, distance_m = 5.0, 40.0
    sag_m = 0.292 * radius_m / 4**subdivisions
    scene = sn.Scene()
    center = np.asarray(origin) + [distance_m, 0, 0]
    scene.add(sn.shapes.sphere(radius_m, subdivisions), pose=sn.Pose(center, (0.7, 0.2, 0.5, -0.3)))

    # Rays that pass the center at up to 0.9 of the inner sphere's radius: all of them hit
    rng = np.random.default_rng(subdivisions)
    miss_m = np.sqrt(rng.uniform(0, 1, 20_000)) * 0.9 * (radius_m - sag_m)
    turn = rng.uniform(0, 2 * np.pi, miss_m.size)
    tilt = np.arcsin(miss_m / distance_m)
    directions = np.stack([np.cos(tilt), np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn)], axis=-1)
    hits = sn.RayCaster(scene).cast(origin, directions)
    assert hits.hit.all()
    nearest = distance_m * np.cos(tilt) - np.sqrt(radius_m**2 - miss_m**2)
    farthest = distance_m * np.cos(tilt) - np.sqrt((radius_m - sag_m) ** 2 - miss_m**2)
    rounding_m = 1e-5 * distance_m
    assert (hits.range_m > nearest - rounding_m).all()
    assert (hits.range_m < farthest + rounding_m).all()

    # The bound is not idle: some rays come near it, where it is above rounding
    if sag_m > 100 * rounding_m:
        assert ((hits.range_m - nearest) / (farthest - nearest)).max() > 0.5


def test_inside_a_sphere_the_mean_range_is_the_radius_less_two_thirds_of_the_sag():
    """To second order a flat triangle's sag is, averaged over it, half to two thirds of the largest."""
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(10.0, subdivisions=4))
    v = np.random.default_rng(0).normal(size=(50_000, 3))
    ranges = sn.RayCaster(scene).cast(np.zeros(3), v).range_m.astype(np.float64)
    sag_m = 10.0 - ranges.min()
    assert 0.0 < sag_m < 0.292 * 10 / 4**4
    assert ranges.max() < 10.0 * (1 + 1e-6)
    assert 0.3 * sag_m < 10.0 - ranges.mean() < 0.75 * sag_m


@pytest.mark.parametrize("offset_m", [50.0, 5000.0, 100_000.0])
def test_moving_sensor_and_scene_together_changes_nothing_that_shows(offset_m):
    shift = np.array([offset_m, -0.5 * offset_m, 0.1 * offset_m])
    rng = np.random.default_rng(2)
    poses = sn.Pose(rng.uniform(-30, 30, (300, 3)), rng.normal(size=(300, 4)))
    directions = rng.normal(size=(20_000, 3))
    ranges = []
    for at in (np.zeros(3), shift):
        scene = sn.Scene()
        for pose in poses:
            scene.add(sn.shapes.box(3, 4, 5), pose=sn.Pose(pose.position + at, pose.quaternion))
        ranges.append(sn.RayCaster(scene).cast(at, directions))
    same = ranges[0].object_id == ranges[1].object_id
    assert same.mean() > 0.999
    both = same & ranges[0].hit & (ranges[0].face_id == ranges[1].face_id)
    assert both.sum() > 5000
    slant = np.abs((ranges[0].normal[both] * directions[both]).sum(axis=1)) / np.linalg.norm(directions[both], axis=1)
    away = np.abs(ranges[0].range_m[both] - ranges[1].range_m[both]) * slant
    assert away.max() < 3e-5
