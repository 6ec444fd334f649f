import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError

SPINNING = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(10, -20, 16)), columns=512, rate_hz=10)


def room():
    """A closed room with things in it, nothing moving."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(40, 30, 8), pose=sn.Pose((0, 0, 3)), label="room")
    scene.add(sn.shapes.box(2, 2, 2), pose=sn.Pose((6, 3, 0)), label="crate")
    scene.add(sn.shapes.cylinder(0.5, 4, segments=48), pose=sn.Pose((-5, 4, 1)), label="pillar")
    return scene


def moving_sensor(offset=(0, 0, 0)):
    """Fast and turning about all axes: 10 m/s, about 2 rad/s."""
    offset = np.asarray(offset, float)

    def pose(t):
        return sn.Pose.from_euler_deg(
            np.stack([-6 + 10 * t, 2 * np.sin(3 * t), 1 + 0.2 * np.sin(9 * t)], axis=-1) + offset,
            roll=10 * np.sin(5 * t),
            pitch=8 * np.cos(4 * t),
            yaw=115 * t,
        )

    return sn.paths.Function(pose)


def run(env, duration_s=0.2):
    for _ in env.run(duration_s=duration_s):
        pass


@pytest.mark.parametrize(("distance_m", "tolerance_m"), [(0.0, 1e-4), (5000.0, 1e-3)])
def test_deskewing_recovers_a_static_scene(distance_m, tolerance_m):
    far = np.array([distance_m, -distance_m, 0.0])
    scene = sn.Scene()
    for thing in room().objects:
        scene.add(thing.mesh, pose=sn.Pose(thing.pose.position + far, thing.pose.quaternion), label=thing.label)
    env = sn.Environment(scene, sn.worlds.Kinematic({"drone": moving_sensor(far)}, step_s=0.01))
    lidar = env.attach(sn.Lidar(pattern=SPINNING), body="drone", pose=sn.Pose.from_euler_deg((0.3, 0, 0.1), pitch=5))
    run(env)
    scan = lidar.read()
    assert scan.valid.all()

    # Each deskewed point, put back into the world, lies on the surface it was measured on
    in_world = scan.pose(scan.start_ns).apply(scan.deskewed()) - far
    at_room = scan.label == scene.labels["room"]
    walls = np.array([[20, 15, 7], [-20, -15, -1]])
    nearest = np.abs(in_world[at_room][:, None] - walls).min(axis=(1, 2))
    assert nearest.max() < tolerance_m
    crate = scan.label == scene.labels["crate"]
    from_center = np.abs(in_world[crate] - [6, 3, 0]).max(axis=1)
    assert np.abs(from_center - 1.0).max() < tolerance_m
    # and it was skewed before: the same points without undoing the motion are far off
    skewed = scan.pose(scan.start_ns).apply(scan.points) - far
    assert np.abs(skewed - in_world).max() > 0.5


def test_points_in_the_world_are_the_same_points():
    scans = []
    for frame in ("sensor", "world"):
        env = sn.Environment(room(), sn.worlds.Kinematic({"drone": moving_sensor()}, step_s=0.01))
        lidar = env.attach(sn.Lidar(pattern=SPINNING, frame=frame), body="drone")
        run(env)
        scans.append(lidar.read())
    sensor, world = scans
    assert world.points.dtype == np.float64
    np.testing.assert_allclose(sensor.pose(sensor.ray_time_ns).apply(sensor.points), world.points, atol=2e-5)
    np.testing.assert_allclose(sensor.deskewed(), world.deskewed(), atol=2e-5)


def test_a_cube_turning_within_the_sweep():
    # embree.md's closed form, through the public interface: one ray along x at several times of one sweep
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), body="cube")
    quarter = sn.paths.Spin(position=(10, 0, 0), axis=(0, 0, 1), rate=np.pi / 2)
    env = sn.Environment(scene, sn.worlds.Kinematic({"cube": quarter}, step_s=0.25))
    times = (0.0, 0.25, 0.5, 0.75)
    pattern = sn.patterns.Table(azimuth_deg=(0.0,) * 4, elevation_deg=(0.0,) * 4, time_s=times, rate_hz=1)
    lidar = env.attach(sn.Lidar(pattern=pattern))
    run(env, 1.0)
    np.testing.assert_allclose(lidar.read().range_m[0], [9.5, 9.458804, 9.292893, 9.458804], atol=1.5e-6)


def test_a_target_s_motion_smears_it():
    # a wall coming at 10 m/s is 1 m nearer for the last column than for the first
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 400, 400), body="wall")
    world = sn.worlds.Kinematic({"wall": sn.paths.Line(start=(20.5, 0, 0), velocity=(-10, 0, 0))}, step_s=0.02)
    env = sn.Environment(scene, world)
    pattern = sn.patterns.Raster(
        height=1, width=101, horizontal_fov_deg=(-10, 10), vertical_fov_deg=(0, 0), rate_hz=10, firing="columns"
    )
    lidar = env.attach(sn.Lidar(pattern=pattern))
    run(env, 0.1)
    scan = lidar.read()
    depth = 20 - 10 * (scan.ray_time_ns[0] * 1e-9)
    np.testing.assert_allclose(scan.points[0, :, 0], depth, atol=2e-5)


def test_a_snapshot_fires_at_one_instant():
    env = sn.Environment(room(), sn.worlds.Kinematic({"drone": moving_sensor()}, step_s=0.01))
    lidar = env.attach(sn.Lidar(pattern=SPINNING, motion="snapshot"), body="drone")
    run(env)
    scan = lidar.read()
    assert scan.start_ns == scan.end_ns == 200_000_000
    assert (scan.ray_time_ns == 200_000_000).all()
    caster = sn.RayCaster(room())
    X_WS = scan.pose(scan.start_ns)
    directions = X_WS.rotate(SPINNING.rays().direction_S)
    hits = caster.cast(X_WS.position, directions)
    np.testing.assert_allclose(scan.range_m, hits.range_m, rtol=1e-5)
    np.testing.assert_array_equal(scan.object_id, hits.object_id)


@pytest.mark.parametrize("step_s", [0.01, 0.013])
def test_slices_make_up_the_sweep(step_s):
    kinds = {}
    for publish in ("sweeps", "slices"):
        env = sn.Environment(room(), sn.worlds.Kinematic({"drone": moving_sensor()}, step_s=step_s))
        kinds[publish] = (env, env.attach(sn.Lidar(pattern=SPINNING, publish=publish), body="drone"))
    pieces = []
    env, lidar = kinds["slices"]
    for _ in env.run(duration_s=0.2):
        pieces += lidar.readings()
    env, lidar = kinds["sweeps"]
    run(env)
    whole = lidar.read()
    first = (
        [p for p in pieces if p.start_ns < 100_000_000]
        if whole.start_ns == 0
        else [p for p in pieces if whole.start_ns <= p.start_ns < whole.end_ns]
    )
    assert len(first) > 5
    assert sum(p.range_m.shape[1] for p in first) == 512
    np.testing.assert_allclose(np.concatenate([p.range_m for p in first], axis=1), whole.range_m, rtol=2e-5)
    np.testing.assert_array_equal(np.concatenate([p.ray_time_ns for p in first], axis=1), whole.ray_time_ns)


def test_limits_of_range():
    scene = sn.Scene()
    for x in (0.5, 5.0, 50.0):
        scene.add(sn.shapes.box(0.01, 100, 0.05 * x), pose=sn.Pose((x, 0, -0.05 * x)), label=f"at{x}")
    pattern = sn.patterns.Raster(height=3, width=1, horizontal_fov_deg=(0, 0), vertical_fov_deg=(-4, -2), rate_hz=10)
    env = sn.Environment(scene)
    lidar = env.attach(sn.Lidar(pattern=pattern, min_range_m=1.0, max_range_m=10.0))
    run(env, 0.1)
    scan = lidar.read()
    # the nearest strip blocks the rays without returning them
    np.testing.assert_array_equal(scan.valid, False)
    np.testing.assert_array_equal(scan.range_m, 0)
    np.testing.assert_array_equal(scan.points, 0)
    np.testing.assert_array_equal(scan.label, -1)
    np.testing.assert_array_equal(scan.cause, 0)


def test_flat_lists_the_returns():
    env = sn.Environment(room())
    lidar = env.attach(sn.Lidar(pattern=SPINNING, max_range_m=16.0))
    run(env, 0.1)
    scan = lidar.read()
    flat = scan.flat()
    assert 0 < scan.valid.sum() < scan.valid.size
    assert flat.points.shape == (scan.valid.sum(), 3)
    np.testing.assert_allclose(np.linalg.norm(flat.points, axis=1), flat.range_m, rtol=1e-6)
    np.testing.assert_array_equal(flat.ray_time_ns, scan.ray_time_ns[scan.valid])
    assert flat.intensity.min() == 1.0
    assert (flat.cause == 1).all()


def test_rays_with_origins_of_their_own():
    # beams that start 0.5 m out from the spin axis: in a round room of radius 5 each flies 4.5 m
    pattern = sn.patterns.Spinning(elevation_deg=(0.0,), columns=360, rate_hz=10, origin_offset_m=((0.5, 0.0, 0.0),))
    scene = sn.Scene()
    scene.add(sn.shapes.cylinder(5, 4, segments=720))
    env = sn.Environment(scene)
    lidar = env.attach(sn.Lidar(pattern=pattern))
    run(env, 0.1)
    scan = lidar.read()
    np.testing.assert_allclose(scan.range_m, 4.5, atol=2e-4)
    np.testing.assert_allclose(np.linalg.norm(scan.points, axis=-1), 5.0, atol=2e-4)


def test_a_rosette_goes_on_from_sweep_to_sweep():
    pattern = sn.patterns.Rosette(
        prisms=(
            sn.patterns.Prism(wedge_deg=-18, refractive_index=1.5089, rotor_rpm=7294, phase_deg=180),
            sn.patterns.Prism(wedge_deg=18, refractive_index=1.5089, rotor_rpm=-4664, phase_deg=180),
        ),
        point_rate_hz=100_000,
        rate_hz=10,
    )
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 60, 60), pose=sn.Pose((20.5, 0, 0)))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.05))
    lidar = env.attach(sn.Lidar(pattern=pattern))
    seen = []
    for _ in env.run(duration_s=0.3):
        seen += lidar.readings()
    assert len(seen) == 3
    for scan in seen:
        np.testing.assert_allclose(scan.points[..., 0], 20.0, rtol=1e-5)
    assert not np.allclose(seen[0].points, seen[1].points)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"min_range_m": 5.0, "max_range_m": 4.0}, "min_range_m is 5.0"),
        ({"max_range_m": float("nan")}, "finite"),
        ({"max_rnge_m": 3.0}, "max_rnge_m"),
        ({"motion": "snapshot", "publish": "slices"}, "slices"),
        ({"timing": sn.Timing(rate_hz=3.0)}, "rate_hz is 3.0"),
        ({"pattern": {"kind": "spirals"}}, "spirals"),
    ],
)
def test_bad_specifications(change, message):
    with pytest.raises(SpecError, match=message):
        sn.Lidar(**{"pattern": SPINNING, **change})


def test_assignment_is_checked():
    lidar = sn.Lidar(pattern=SPINNING)
    with pytest.raises(SpecError, match="greater than 0"):
        lidar.max_range_m = -1.0


# --- volumes of air ---------------------------------------------------------------------------------------------------


def foggy_wall():
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 40.0, 40.0), pose=sn.Pose(position=(20.1, 0, 0)), label="wall")
    scene.add(
        sn.shapes.box(4.0, 8.0, 8.0), pose=sn.Pose(position=(10, 0, 0)), material=sn.media.fog(visibility_m=100.0)
    )
    return scene


@pytest.mark.parametrize("mode", ["geometric", "relative"])
def test_the_skin_of_a_fog_bank_is_no_surface(mode):
    pattern = sn.patterns.Raster(horizontal_fov_deg=(-1, 1), vertical_fov_deg=(-1, 1), width=3, height=3, rate_hz=10.0)
    env = sn.Environment(foggy_wall())
    lidar = env.attach(
        sn.Lidar(pattern=pattern, motion="snapshot", mode=mode, **{} if mode == "geometric" else {"max_depth": 2})
    )
    for _ in env.run(duration_s=0.11):
        pass
    np.testing.assert_allclose(lidar.truth().range_m, 20.0, rtol=2e-3)
    assert (lidar.truth().label == lidar.truth().label[0, 0]).all()


@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_normals_are_those_of_the_faces_on_the_sensors_side(frame, tmp_path):
    """In the frame of the points, from a sensor that moves and turns while it sweeps; -1 to 1 along a room's axes."""
    env = sn.Environment(room(), sn.worlds.Kinematic({"drone": moving_sensor()}, step_s=0.01))
    lidar = env.attach(sn.Lidar(pattern=SPINNING, normals=True, frame=frame), body="drone")
    run(env)
    scan = lidar.read()
    pose = scan.pose(scan.start_ns + np.broadcast_to(scan.offset_ns, scan.range_m.shape))
    in_world = scan.normals if frame == "world" else pose.rotate(scan.normals)
    flat = scan.label != env.scene.labels["pillar"]
    np.testing.assert_allclose(np.abs(in_world[flat]).max(axis=-1), 1.0, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(scan.normals, axis=-1), 1.0, atol=1e-5)
    assert (np.einsum("...i,...i", in_world, pose.rotate(SPINNING.rays().direction_S)) < 0.0).all()
    sn.record.save_npz(tmp_path / "scan.npz", scan)
    np.testing.assert_array_equal(sn.record.load_npz(tmp_path / "scan.npz").normals, scan.normals)
    assert scan.flat().normals.shape == (scan.valid.sum(), 3)
    assert (scan.voided(np.ones(scan.range_m.shape, bool)).normals == 0.0).all()


def test_only_a_geometric_lidar_has_normals():
    with pytest.raises(SpecError, match="normals is True with mode 'relative'"):
        sn.Lidar(pattern=SPINNING, mode="relative", normals=True)
