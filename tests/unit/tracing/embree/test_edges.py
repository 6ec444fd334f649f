"""Rays that end on edges: the least firm hit of all faces, whatever tree they stand in."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.tracing.rays import Rays

FIELDS = ("range_m", "object_id", "face_id", "normal", "barycentric")


def at_edges(corners):
    """All corners and middles of edges of faces given by their corners, (faces, 3, 3)."""
    return np.concatenate([corners.reshape(-1, 3), 0.5 * (corners + np.roll(corners, 1, axis=1)).reshape(-1, 3)])


def caster_of(mesh, pose):
    scene = sn.Scene()
    scene.add(mesh, pose=pose)
    return sn.RayCaster(scene)


def hills(size, step):
    """Hills whose heights are multiples of a step, 0.5 m between their points."""
    heights = step * np.random.default_rng(3).integers(0, 4, (size, size))
    return sn.shapes.heightfield(heights, 0.5 * (size - 1), 0.5 * (size - 1))


@pytest.fixture(
    scope="module",
    params=[sn.Pose(), sn.Pose.from_euler_deg((7.0, -3.0, 1.0), yaw=25, roll=8)],
    ids=["even", "turned"],
)
def faces_apart(request):
    """Hills, the caster of the whole, and one caster a face, whose trees hold nothing else."""
    pose, mesh = request.param, hills(6, 0.13)
    alone = [caster_of(sn.Mesh(mesh.vertices, mesh.faces[k : k + 1]), pose) for k in range(len(mesh.faces))]
    return pose, mesh, caster_of(mesh, pose), alone


# From above, from afar, from aside where faces hide each other, and from a point of the grid's own planes
@pytest.mark.parametrize("start", [(0.3, 0.2, 9.0), (-60.0, 31.0, 25.0), (-4.0, 0.4, 0.6), (0.5, -0.5, 6.0)])
def test_the_hit_is_the_least_of_all_faces(faces_apart, start):
    pose, mesh, whole, alone = faces_apart
    targets, origin = pose.apply(at_edges(mesh.vertices[mesh.faces])), pose.apply(np.array(start))
    expected = whole.cast(origin, targets - origin)
    range_m = np.full(len(targets), np.inf, np.float32)
    face_id = np.full(len(targets), -1, np.int32)
    for face, caster in enumerate(alone):
        hits = caster.cast(origin, targets - origin)
        nearer = hits.range_m < range_m
        range_m[nearer], face_id[nearer] = hits.range_m[nearer], face
    u, v = expected.barycentric.T
    assert (u * v * (1 - u - v) < 1e-6)[expected.hit].mean() > 0.5
    assert expected.range_m.tobytes() == range_m.tobytes()
    assert expected.face_id.tobytes() == face_id.tobytes()


def test_which_rays_share_a_packet_does_not_matter():
    mesh = hills(40, 0.11)
    caster, targets = caster_of(mesh, sn.Pose()), at_edges(mesh.vertices[mesh.faces])
    origin = np.array([0.3, 0.2, 12.0])
    order = np.random.default_rng(0).permutation(len(targets))
    expected = caster.cast(origin, targets - origin, coherent=True)
    shuffled = caster.cast(origin, targets[order] - origin)
    for name in FIELDS:
        assert getattr(shuffled, name).tobytes() == getattr(expected, name)[order].tobytes(), name


def test_of_equal_objects_the_first_is_hit():
    """Two balls in one place are hit at equal distances: at corners and on edges it is the first of the scene."""
    ball, scene = sn.shapes.sphere(1.0, subdivisions=2), sn.Scene()
    for _ in range(2):
        scene.add(ball, pose=sn.Pose((5.0, 1.0, 0.5)))
    targets = at_edges(ball.vertices[ball.faces]) + [5.0, 1.0, 0.5]
    hits = sn.RayCaster(scene).cast((0, 0, 0), targets)
    u, v = hits.barycentric.T
    on_edge = hits.hit & (u * v * (1 - u - v) < 1e-6)
    assert on_edge.mean() > 0.4
    assert (hits.object_id[on_edge] == 0).all()


def test_rays_in_the_plane_of_a_face_pass_it():
    """A square seen exactly from its edge has no width; Embree alone takes it for hit at distance zero at times."""
    rng = np.random.default_rng(2)
    square = sn.Mesh(np.array([[0, 0, 0], [1.0, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]]))
    scene = sn.Scene()
    scene.add(square, pose=sn.Pose((4.0, 0.0, 0.0)))
    scene.add(sn.shapes.box(1, 40, 40), pose=sn.Pose((10.0, 0.0, 0.0)), label="wall")
    origin = np.concatenate([rng.integers(-8, 8, (500, 2)) / 8, np.zeros((500, 1))], axis=1)
    target = np.concatenate([rng.integers(0, 8, (500, 2)) / 8 + [4, 0], np.zeros((500, 1))], axis=1)
    hits = sn.RayCaster(scene).cast(origin, target - origin)
    assert (hits.range_m > 2.9).all()


def test_few_rays_leave_a_closed_mesh_at_its_corners():
    """Embree lets some of the rays through that are aimed exactly at corners; no more are lost here."""
    ball = sn.shapes.sphere(3.0, subdivisions=4)
    pose = sn.Pose.from_euler_deg(yaw=13, roll=41, pitch=7)
    caster, targets = caster_of(ball, pose), pose.apply(at_edges(ball.vertices[ball.faces]))
    missed = 0
    for start in np.random.default_rng(0).uniform(-1.5, 1.5, (10, 3)):
        missed += int((~caster.cast(start, targets - start).hit).sum())
    print(f"{missed} of {10 * len(targets)} rays from inside at corners and edges get out")
    assert missed < 1e-3 * 10 * len(targets)


def test_a_lidar_sees_on_edges_what_a_caster_hits():
    """Columns of a lidar above a point of an even grid go along its edges and over its points."""
    mesh, scene = sn.shapes.heightfield(np.zeros((65, 65)), 16.0, 16.0), sn.Scene()
    scene.add(mesh)
    env = sn.Environment(scene, sn.worlds.Kinematic({"mast": sn.paths.Fixed(sn.Pose((0.0, 0.0, 2.0)))}, step_s=0.1))
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(-80, -20, 61)), columns=8, rate_hz=10)
    lidar = env.attach(sn.Lidar(pattern=pattern), body="mast")
    env.step()
    scan = lidar.read()
    direction = np.ascontiguousarray(pattern.rays().direction_S.reshape(-1, 3), np.float32)
    count = len(direction)
    rays = Rays(
        np.tile((0.0, 0.0, 2.0), (count, 1)),
        direction,
        np.zeros(count, np.float32),
        np.full(count, np.inf, np.float32),
        np.zeros(count, np.int32),
    )
    hits = sn.RayCaster(scene).cast_rays(rays)
    u, v = hits.barycentric.T
    assert (u * v * (1 - u - v) < 1e-6).mean() > 0.5
    assert scan.range_m.tobytes() == hits.range_m.tobytes()
    assert scan.face_id.tobytes() == hits.face_id.tobytes()
