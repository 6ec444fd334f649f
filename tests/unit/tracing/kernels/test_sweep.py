"""The sweep kernel: rays aimed with the sensor's pose at their own time, cast while everything moves."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.sweep import RayTables, aim_block, shift_block
from sensorium.tracing.reference import brute_force as reference

NO_ORIGINS = np.zeros((0, 3), np.float32)


def unit_vectors(count, seed=0):
    v = np.random.default_rng(seed).normal(size=(count, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def tables(directions, time, origin=NO_ORIGINS):
    d = np.asarray(directions, np.float32)
    return RayTables(d[:, 0].copy(), d[:, 1].copy(), d[:, 2].copy(), np.asarray(time, np.float32), origin)


def aimed(rays, poses_at, knot_time):
    """Origins and directions that the kernel gives the rays, for a path of poses given as a function of time."""
    dense = np.sort(np.concatenate([knot_time, (knot_time[1:] + knot_time[:-1]) / 2]))
    matrix = poses_at(dense).matrix.reshape(-1, 12).astype(np.float32)
    block = np.zeros(13 * BLOCK, np.float32)
    count = len(rays.x)
    times = np.asarray(knot_time, np.float32)
    aim_block(block, rays.x, rays.y, rays.z, rays.time, matrix, times, count)
    if rays.origin.shape[0] > 0:
        shift_block(block, rays.origin, matrix, times, count)
    rows = block.reshape(13, BLOCK)[:, :count]
    at = [pk.B_ORIGIN_X // BLOCK, pk.B_DIRECTION_X // BLOCK]
    return rows[at[0] : at[0] + 3].T, rows[at[1] : at[1] + 3].T


@pytest.mark.parametrize("turn", [0.05, 0.2, 0.6])
def test_a_parabola_between_knots_follows_the_turn(turn):
    """Off by less than phi^3 / 120, and not by much less: the bound says how many knots are needed."""
    axis = np.array([0.36, -0.48, 0.8])

    def path(t):
        return sn.Pose.exp(np.zeros(3), np.asarray(t)[..., None] * turn * axis)

    time = np.linspace(0, 1, BLOCK)
    directions = np.tile(np.cross(axis, [1.0, 0, 0]) / np.linalg.norm(np.cross(axis, [1.0, 0, 0])), (BLOCK, 1))
    _, seen = aimed(tables(directions, time), path, np.array([0.0, 1.0]))
    away = np.linalg.norm(seen - path(time).rotate(directions), axis=1).max()
    assert away < turn**3 / 120 + 2e-7
    assert away > turn**3 / 140 - 2e-7


def test_many_knots_at_uneven_times():
    def path(t):
        t = np.asarray(t)
        return sn.Pose(
            np.stack([3 * t, t**2, 0 * t], -1), sn.Pose.exp(np.zeros(3), t[..., None] * turn_rate).quaternion
        )

    turn_rate = np.array([0.1, -0.2, 0.3])
    knots = np.array([0.0, 0.1, 0.15, 0.5, 0.8, 1.0])
    time = np.linspace(0, 1, 400)
    directions = unit_vectors(400)
    origins, seen = aimed(tables(directions, time), path, knots)
    turn = np.linalg.norm(turn_rate) * 0.35
    np.testing.assert_allclose(seen, path(time).rotate(directions), atol=turn**3 / 120 + 3e-7)
    np.testing.assert_allclose(origins, path(time).position, atol=1e-6)


def test_the_order_of_times_does_not_matter():
    def path(t):
        return sn.Pose.from_euler_deg(np.asarray(t)[..., None] * [5.0, 1.0, 0.0], yaw=30 * np.asarray(t))

    knots = np.linspace(0, 1, 9)
    time = np.random.default_rng(0).uniform(0, 1, 300).astype(np.float32)
    time[:4] = [1.0, 0.0, 0.125, np.nextafter(np.float32(0.125), np.float32(0))]
    rising = np.argsort(time)
    directions = unit_vectors(300)
    origins, seen = aimed(tables(directions, time), path, knots)
    sorted_origins, sorted_seen = aimed(tables(directions[rising], time[rising]), path, knots)
    np.testing.assert_array_equal(origins[rising], sorted_origins)
    np.testing.assert_array_equal(seen[rising], sorted_seen)


def test_a_sensor_that_stands_still_has_one_knot():
    X_WS = sn.Pose((1, 2, 3), (0.9, 0.2, -0.3, 0.1))
    directions = unit_vectors(50)
    rays = tables(directions, np.linspace(0, 1, 50))
    origins, seen = aimed(rays, lambda t: X_WS.broadcast_to(np.shape(t)), np.zeros(1))
    np.testing.assert_allclose(seen, X_WS.rotate(directions), atol=3e-7)
    np.testing.assert_allclose(origins, np.tile(X_WS.position, (50, 1)), atol=3e-7)


def test_rays_with_origins_of_their_own_start_there():
    def path(t):
        return sn.Pose.from_euler_deg(np.asarray(t)[..., None] * [2.0, 0, 1.0], yaw=5 * np.asarray(t))

    time, offsets = np.linspace(0, 1, 200), np.random.default_rng(1).uniform(-0.3, 0.3, (200, 3)).astype(np.float32)
    origins, _ = aimed(tables(unit_vectors(200), time, offsets), path, np.linspace(0, 1, 5))
    np.testing.assert_allclose(origins, path(time).apply(offsets), atol=1e-6)


@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_every_ray_meets_the_world_of_its_own_time(frame):
    """Sensor and bodies move; each ray is checked on its own, by brute force, with everything at its firing time."""
    parts = {
        "flyer": sn.shapes.box(2, 1, 1),
        "tumbler": sn.shapes.box(1, 3, 0.4),
        "slow": sn.shapes.cylinder(0.5, 3, segments=12),
    }
    scene = sn.Scene()
    room = scene.add(sn.shapes.box(30, 20, 10))
    mount = sn.Pose((0.2, 0.1, -0.3), (0.9, 0.1, 0.2, 0.3))
    for body, mesh in parts.items():
        scene.add(mesh, body=body, pose=mount)
    paths = {
        "flyer": sn.paths.Line(start=(6, -2, 0), velocity=(-8, 20, 0)),
        "tumbler": sn.paths.Spin(position=(-4, 3, 1), axis=(1, 2, 3), rate=20.0),
        "slow": sn.paths.Circle(center=(3, 4, 0), radius=1.0, rate=0.5),
        "drone": sn.paths.Circle(center=(0, 0, 0), radius=2.0, rate=3.0),
    }
    pattern = sn.patterns.Spinning(elevation_deg=(12.0, 0.0, -14.0), columns=200, rate_hz=10)
    env = sn.Environment(scene, sn.worlds.Kinematic(paths, step_s=0.01))
    lidar = env.attach(sn.Lidar(pattern=pattern, frame=frame), body="drone", pose=sn.Pose((0.1, 0, 0.2)))
    for _ in env.run(duration_s=0.2):
        pass
    scan = lidar.read()
    assert scan.valid.all()
    met, differ = set(), 0
    X_WS, directions = scan.pose(scan.ray_time_ns), pattern.rays().direction_S.astype(np.float64)

    def between(path, t_ns):
        """As the design says: lines and slerp between the world's states."""
        before = t_ns // 10_000_000 * 10_000_000
        a, b = path.pose(before * 1e-9), path.pose((before + 10_000_000) * 1e-9)
        return a.interpolate(b, (t_ns - before) / 10_000_000)

    for row in range(3):
        for column in range(0, 200, 2):
            t_ns = int(scan.ray_time_ns[row, column])
            things = [(room.mesh, sn.Pose())]
            things += [(mesh, between(paths[body], t_ns) @ mount) for body, mesh in parts.items()]
            pose = X_WS[row, column]
            ray = pose.rotate(directions[row, column])
            expected = reference.cast(things, pose.position[None], ray[None])
            if scan.object_id[row, column] != expected.object_id[0]:
                differ += 1  # at a silhouette
                continue
            met.add(int(expected.object_id[0]))
            # 20 um of motion across the surface, seen along the ray
            slant = max(abs(expected.normal[0] @ ray), 0.05)
            assert abs(scan.range_m[row, column] - expected.range_m[0]) < 4e-5 / slant
            point = pose.position + expected.range_m[0] * ray
            seen = scan.points[row, column] if frame == "world" else pose.apply(scan.points[row, column])
            np.testing.assert_allclose(seen, point, atol=6e-5 / slant)
    assert met == {0, 1, 2, 3}
    assert differ <= 1


def test_ranges_are_of_the_same_bytes_with_and_without_more_heads():
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(8.0, subdivisions=3), body="shell")
    world = {"shell": sn.paths.Spin(position=(0, 0, 0), axis=(0, 1, 0), rate=2.0)}
    # 1050 rays: the last block is not full
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(-20, 20, 7)), columns=150, rate_hz=10)
    scans = []
    for poses in ([sn.Pose((1, 0, 0))], [sn.Pose((0, 2, 0)), sn.Pose((1, 0, 0)), sn.Pose((0, 0, 1))]):
        env = sn.Environment(scene, sn.worlds.Kinematic(world))
        lidar = env.attach(sn.Lidar(pattern=pattern), pose=poses)
        for _ in env.run(duration_s=0.1):
            pass
        scans.append(lidar.read())
    for name in ("range_m", "points", "object_id", "face_id", "label"):
        assert getattr(scans[0], name)[0].tobytes() == getattr(scans[1], name)[1].tobytes()
