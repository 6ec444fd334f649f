"""The search for nearest points in a cone: everything it leaves out changes nothing."""

import math

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.cone import half_angle_tangent, nearest_on_lines, nearest_on_triangle, recovered_quads
from sensorium.physics.cone.edges import outward_signs
from sensorium.physics.media import Fog
from sensorium.sensors.cone.caster import ConeCaster, ConeOptions
from sensorium.tracing.kernels.cone.tables import HIDDEN_OUTSIDE, face_tables

FOV_H, FOV_V, REACH_M = 70.0, 40.0, 12.0
A, B = half_angle_tangent(FOV_H), half_angle_tangent(FOV_V)
MESHES = (
    sn.shapes.box(1.0, 2.0, 0.5),
    sn.shapes.sphere(0.8, 2),
    sn.shapes.cylinder(0.5, 1.5, 12),
    sn.shapes.plane(1.5, 1.0),
    sn.shapes.heightfield(np.random.default_rng(1).normal(size=(5, 6)) * 0.2, 3.0, 3.0),
)


def random_pose(random):
    return sn.Pose(random.uniform((-4, -8, -5), (14, 8, 5)), random.normal(size=4))


@pytest.fixture(scope="module")
def field():
    """Things all around: 40 of five kinds, every other on a body, and where each is in the sensor's frame."""
    random = np.random.default_rng(7)
    scene, placed = sn.Scene(), []
    X_WB = {name: sn.Pose(random.uniform(-1.0, 1.0, 3), random.normal(size=4)) for name in ("one", "two")}
    for number in range(40):
        X_WO, body = random_pose(random), (None, "one", "two")[number % 3]
        scene.add(
            MESHES[number % 5], pose=X_WO if body is None else X_WB[body].inverse() @ X_WO, body=body, label=number + 1
        )
        placed.append((MESHES[number % 5], X_WO))
    env = sn.Environment(scene, sn.worlds.Static(X_WB, step_s=0.1))
    mount = sn.Pose(random.uniform(-0.5, 0.5, 3), random.normal(size=4) + np.array([5.0, 0, 0, 0]))
    X_SW = mount.inverse()
    return env, mount, [(mesh, X_SW @ X_WO) for mesh, X_WO in placed]


def caster(env, mount, **options):
    cone = {"horizontal_fov_deg": FOV_H, "vertical_fov_deg": FOV_V, "range_m": REACH_M, "per_object": True}
    sensor = env.attach(sn.ConeSensor(**cone), pose=mount, name=f"cone {len(env.sensors)}")
    return ConeCaster(sensor.rig, ConeOptions(**(cone | options)))


def by_force(placed, spherical, lines=None):
    """Ranges of objects from all their faces: of closed ones with lines, only those that face the sensor."""
    found = []
    for mesh, X_SO in placed:
        points = X_SO.apply(mesh.vertices)
        best2 = math.inf
        if lines is None:
            for face in mesh.faces:
                nearest = nearest_on_triangle(*map(tuple, points[face]), A, B, REACH_M, spherical, math.inf)
                best2 = min(best2, nearest[0])
        else:
            sign, quads = outward_signs(mesh.vertices, mesh.faces), recovered_quads(mesh.vertices, mesh.faces)
            for corners, outward in zip(points[quads.corners], sign[quads.face], strict=True):
                away = outward * (np.cross(corners[1] - corners[0], corners[2] - corners[0]) @ corners[0]) >= 0.0
                if outward == 0 or not away:
                    best2 = min(best2, nearest_on_lines(corners, lines, A, B, REACH_M, spherical, math.inf)[0])
        found.append(math.sqrt(best2))
    return np.array(found)


@pytest.mark.parametrize("front", ["flat", "spherical"])
def test_nearest_points_are_those_of_all_triangles(field, front):
    env, mount, placed = field
    found = caster(env, mount, front=front).at(0)
    expected = by_force(placed, front == "spherical")
    np.testing.assert_allclose(found.range_m[0], expected, rtol=1e-12)
    assert 8 < np.isfinite(expected).sum() < 32
    seen = np.isfinite(expected)
    np.testing.assert_allclose(np.linalg.norm(found.point[0, seen], axis=1), expected[seen], rtol=1e-12)
    assert (found.object_id[0] == np.where(seen, np.arange(40), -1)).all()
    assert (found.label[0] == np.where(seen, np.arange(1, 41), -1)).all()

    # The nearest of all is the least of them, though most are never looked at
    nearest = caster(env, mount, front=front, per_object=False).at(0)
    assert nearest.range_m.shape == (1, 1)
    assert nearest.range_m[0, 0] == found.range_m.min()
    assert nearest.object_id[0, 0] == found.range_m.argmin()


def test_nearest_points_of_lines_are_those_of_all_lines(field):
    env, mount, placed = field
    found = caster(env, mount, lines=7).at(0)
    expected = by_force(placed, spherical=False, lines=7)
    np.testing.assert_allclose(found.range_m[0], expected, rtol=1e-12)
    assert (found.range_m >= caster(env, mount).at(0).range_m).all()
    nearest = caster(env, mount, lines=7, per_object=False).at(0)
    assert nearest.range_m[0, 0] == found.range_m.min()


def test_points_in_the_world_are_on_their_objects(field):
    env, mount, placed = field
    found = caster(env, mount).at(0)
    for number in np.flatnonzero(found.in_sight[0]):
        mesh, X_SO = placed[number]
        X_WO = mount @ X_SO
        p_O = X_WO.inverse().apply(found.point_W[0, number])
        assert (p_O >= mesh.bounds[0] - 1e-9).all()
        assert (p_O <= mesh.bounds[1] + 1e-9).all()


def test_more_lines_come_closer_and_a_spacing_needs_fewer():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 1.0, 1.0), pose=sn.Pose((5.5, 0.0, 0.23)))
    env = sn.Environment(scene)
    exact = caster(env, sn.Pose()).at(0)
    off = [caster(env, sn.Pose(), lines=lines).at(0).range_m[0, 0] - exact.range_m[0, 0] for lines in (2, 11, 101)]
    assert off[0] > off[1] > 0.0
    assert off[2] == pytest.approx(0.0, abs=1e-12)

    # 4.1 with the bound of the distance: of a foot the error is kept, with many fewer lines than a million
    for error_deg in (2.0, 0.1):
        found = caster(env, sn.Pose(), lines=1_000_000, half_spacing_deg=error_deg).at(0)
        assert 0.0 < abs(math.degrees(found.elevation[0, 0])) <= error_deg


def test_a_spacing_bounds_no_error_where_the_cone_cuts_a_face():
    """Of boxes at random one in thirteen is off by more than half the spacing, up to three times as much."""
    random, error_deg = np.random.default_rng(17), []
    for _ in range(100):
        scene = sn.Scene()
        scene.add(
            sn.shapes.box(*random.uniform(0.5, 6.0, 3)),
            pose=sn.Pose(random.uniform((3, -4, -3), (9, 4, 3)), random.normal(size=4)),
        )
        env = sn.Environment(scene)
        exact, lines = (
            caster(env, sn.Pose(), **options).at(0) for options in ({}, {"lines": 100_000, "half_spacing_deg": 1.0})
        )
        if exact.in_sight[0, 0] and lines.in_sight[0, 0]:
            one, other = exact.point[0, 0], lines.point[0, 0]
            error_deg.append(math.degrees(math.atan2(np.linalg.norm(np.cross(one, other)), one @ other)))
    assert 0.01 < np.mean(np.array(error_deg) > 1.0) < 0.2
    assert 1.5 < np.max(error_deg) < 6.0


def parts_in_one_mesh(random):
    """Closed parts in one mesh, some wound inward, some within others, some open; and its faces."""
    vertices, faces, first = [], [], 0
    for _ in range(random.integers(2, 6)):
        part = MESHES[random.integers(0, 5)]
        place = sn.Pose(random.uniform(-1.5, 1.5, 3), random.normal(size=4))
        vertices.append(place.apply(part.vertices * random.uniform(0.2, 1.5)))
        faces.append((part.faces[:, ::-1] if random.random() < 0.5 else part.faces) + first)
        first += len(part.vertices)
    return sn.Mesh(np.concatenate(vertices), np.concatenate(faces))


@pytest.mark.parametrize("front", ["flat", "spherical"])
def test_parts_wound_inward_hide_nothing_of_a_mesh(front):
    """Faces are culled part by part: nearest points of random meshes are those of all their triangles."""
    random, seen = np.random.default_rng(17), 0
    for _ in range(40):
        scene, placed = sn.Scene(), []
        for _ in range(3):
            mesh, X_SO = parts_in_one_mesh(random), random_pose(random)
            scene.add(mesh, pose=X_SO)
            placed.append((mesh, X_SO))
        found = caster(sn.Environment(scene), sn.Pose(), front=front).at(0)
        expected = by_force(placed, front == "spherical")
        np.testing.assert_allclose(found.range_m[0], expected, rtol=1e-12)
        seen += np.isfinite(expected).sum()
    assert seen > 30


def test_faces_that_point_away_are_left_out_of_each_closed_part_whichever_way_it_is_wound():
    box = sn.shapes.box(1.0, 1.0, 1.0)
    both = sn.Mesh(
        np.concatenate([box.vertices, box.vertices + (0.0, 3.0, 0.0)]),
        np.concatenate([box.faces, box.faces[:, ::-1] + 8]),
    )
    for as_quads in (False, True):
        tables = face_tables((both,), as_quads=as_quads)
        assert (tables.hidden == HIDDEN_OUTSIDE).all()
        middle = tables.corners.mean(axis=1)
        middle[middle[:, 1] > 1.5, 1] -= 3.0
        assert ((tables.normal * middle).sum(axis=1) > 0.1).all()


def test_from_inside_a_closed_object_its_walls_are_seen_and_an_open_one_from_both_sides():
    for size in (4.0, 1.0):
        room = sn.Scene()
        room.add(sn.shapes.box(size, size, size))
        assert caster(sn.Environment(room), sn.Pose()).at(0).range_m[0, 0] == pytest.approx(size / 2)
    for yaw in (0.0, 180.0):
        wall = sn.Scene()
        wall.add(sn.shapes.plane(2.0), pose=sn.Pose.from_euler_deg((3, 0, 0), pitch=90.0, yaw=yaw))
        assert caster(sn.Environment(wall), sn.Pose()).at(0).range_m[0, 0] == pytest.approx(3.0)


def test_the_ground_below_is_seen_where_the_cone_meets_it():
    ground = sn.Scene()
    ground.add(sn.shapes.plane(1000.0))
    found = caster(sn.Environment(ground), sn.Pose((0, 0, 2.0))).at(0)
    depth = 2.0 / B
    assert found.point[0, 0] == pytest.approx((depth, 0.0, -2.0))
    assert found.range_m[0, 0] == pytest.approx(math.hypot(depth, 2.0))


def test_hidden_bodies_and_banks_of_fog_are_not_seen():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), pose=sn.Pose((2, 0, 0)), body="own")
    scene.add(sn.shapes.box(1, 1, 1), pose=sn.Pose((4, 0, 0)), material=Fog(visibility_m=20.0))
    scene.add(sn.shapes.box(1, 1, 1), pose=sn.Pose((6, 0, 0)))
    env = sn.Environment(scene, sn.worlds.Static({"own": sn.Pose()}, step_s=0.1))
    rig = env.attach(sn.ConeSensor(horizontal_fov_deg=40, vertical_fov_deg=40, range_m=9), hide=["own"]).rig
    found = ConeCaster(rig, ConeOptions(40.0, 40.0, 9.0, per_object=True)).at(0)
    assert found.in_sight[0].tolist() == [False, False, True]
    assert found.range_m[0, 2] == pytest.approx(5.5)


def test_clusters_hold_all_faces_once():
    mesh = sn.shapes.sphere(1.0, 3)
    tables = face_tables((mesh, sn.shapes.box(1, 1, 1)), as_quads=False)
    assert sorted(tables.triangle[:1280]) == list(range(1280))
    clusters = tables.mesh_first[1]
    assert tables.mesh_first.tolist() == [0, clusters, clusters + 1]
    assert tables.cluster_first[-1] == 1292
    for cluster in range(clusters + 1):
        middle, radius = tables.cluster_sphere[cluster, :3], tables.cluster_sphere[cluster, 3]
        corners = tables.corners[tables.cluster_first[cluster] : tables.cluster_first[cluster + 1]]
        assert np.linalg.norm(corners - middle, axis=2).max() <= radius * (1 + 1e-12)

    # A patch of n-th of a sphere has a radius of about 2 / sqrt(n)
    assert clusters == 64
    assert tables.cluster_sphere[:64, 3].max() < 0.5
    assert (tables.hidden == HIDDEN_OUTSIDE).all()
