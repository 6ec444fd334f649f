"""Scenes in parts: hits are those of one process to the byte, whatever the parts, and whoever dies on the way."""

import threading
import time

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError, SpecError
from sensorium.scene.partition.part_files import INDEX
from sensorium.tracing.partitioned import forwarding
from sensorium.tracing.reference.ray_tree import ray_tree

FIELDS = ("range_m", "object_id", "face_id", "label", "normal", "barycentric")

CAR = sn.Pose(
    np.array([[5.0, 0, 3], [6, 1, 3], [9, 1, 3.5]]), np.array([[1.0, 0, 0, 0], [0.8, 0, 0, 0.6], [0.6, 0, 0, 0.8]])
)


def yard():
    """Hills far from the origin and turned, balls on them, a mirror, and a car that moves."""
    rng, scene = np.random.default_rng(0), sn.Scene()
    hills = sn.shapes.heightfield(rng.uniform(0, 0.6, (120, 120)), 60.0, 60.0)
    heat = {"heat": np.arange(float(len(hills.vertices)))}
    label = {"label": np.where(np.arange(len(hills.faces)) % 3, "grass", "road")}
    hills = sn.Mesh(hills.vertices + [3e5, 0, 0], hills.faces, vertex_properties=heat, face_properties=label)
    turn = sn.Pose.from_euler_deg(yaw=25, roll=2)
    scene.add(hills, pose=sn.Pose(turn.apply([-3e5, 0.0, 0.0]), turn.quaternion))
    ball = sn.shapes.sphere(0.6, subdivisions=2)
    for _ in range(40):
        scene.add(ball, pose=sn.Pose((*rng.uniform(-25, 25, 2), 1.0)), label="ball")
    scene.add(sn.shapes.box(0.1, 8, 4), pose=sn.Pose((-6, 0, 2)), material=sn.Mirror(reflectance=0.9), label="mirror")
    scene.add(sn.shapes.box(2, 1, 1), body="car", label="car")
    return scene


def rays(count, seed=1):
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=(count, 3)) * [1, 1, 0.25]
    return rng.normal(size=(count, 3)) * 0.3 + [0, 0, 4.0], direction, rng.uniform(0, 1, count)


@pytest.fixture(scope="module")
def scene():
    return yard()


@pytest.fixture(scope="module")
def whole(scene):
    caster = sn.RayCaster(scene)
    caster.move({"car": CAR})
    return caster


SLOW = pytest.mark.slow  # every part is a process that loads all of the library, and some are killed and loaded again


@pytest.fixture(scope="module", params=[1, pytest.param(2, marks=SLOW), 3, pytest.param(5, marks=SLOW)])
def caster(request, local_cluster, scene, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts") / "parts"
    sn.split_scene(scene.objects, folder, parts=request.param)
    with sn.PartitionedCaster(folder) as made:
        assert len(made.reports()) == request.param
        made.move({"car": CAR})
        yield made


def test_hits_are_those_of_one_process(caster, whole):
    origin, direction, when = rays(150_000)
    for more in ({}, {"t_max_m": 12.0}, {"hide": ["car"]}, {"coherent": True}):
        expected, found = (each.cast(origin, direction, time=when, **more) for each in (whole, caster))
        assert 0.1 < expected.hit.mean() < 0.95
        for name in FIELDS:
            assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), (name, more)
    assert len(np.unique(expected.label)) == 6
    assert caster.labels == {"grass": 1, "road": 2, "ball": 3, "mirror": 4, "car": 5}


# From above, where each ray meets the faces around its aim; from low down and afar, where outlines hide others
@pytest.mark.parametrize("start", [(0.5, 0.25, 30.0), (-20.0, 3.0, 5.0), (100.0, 40.0, 8.0)])
def test_on_shared_edges_hits_are_those_of_one_process(caster, whole, scene, start):
    """Rays at vertices and at middles of edges: of the faces that meet there the same is found in all parts.

    Where an outline is so far away that its two faces are equally far, the face may be either. Such rays are counted.
    """
    hills, origin = scene.objects[0], np.array(start)
    corners = hills.pose.apply(hills.mesh.vertices[hills.mesh.faces])
    targets = np.concatenate([corners.reshape(-1, 3), 0.5 * (corners + np.roll(corners, 1, axis=1)).reshape(-1, 3)])
    expected, found = (each.cast(origin, targets - origin) for each in (whole, caster))
    u, v = expected.barycentric.T
    on_edge = expected.hit & (u * v * (1 - u - v) < 1e-6)
    other = (found.face_id != expected.face_id) | (found.object_id != expected.object_id)
    print(
        f"{len(caster.reports())} parts, {len(targets)} rays at edges and corners from {start}: {on_edge.sum()} end on "
        f"one; {other.sum()} give a neighbor's face, {(found.range_m != expected.range_m).sum()} another range"
    )
    assert on_edge.mean() > 0.1
    assert found.range_m.tobytes() == expected.range_m.tobytes()
    for name in FIELDS:
        assert getattr(found, name)[~other].tobytes() == getattr(expected, name)[~other].tobytes(), name
    assert other.sum() <= (0 if start[2] > 20 else 1e-3 * len(targets))


def test_shapes_and_properties_are_as_of_one_process(caster, whole):
    origin, direction, _ = rays(600)
    down = np.array([0.3, 0.2, -1.0])
    many = caster.cast(origin.reshape(20, 30, 3), direction.reshape(20, 30, 3))
    assert many.range_m.shape == (20, 30)
    assert many.normal.shape == (20, 30, 3)
    assert caster.cast(origin[0], down).range_m.shape == ()
    grid = np.stack(np.meshgrid(np.linspace(-20, 20, 40), np.linspace(-20, 20, 40), [9.0]), axis=-1)
    found, expected = (each.cast(grid, down, t_max_m=50.0) for each in (caster, whole))
    ground = found.object_id <= 0
    pick = (grid[ground], down)
    assert np.array_equal(caster.cast(*pick).property("heat"), whole.cast(*pick).property("heat"))
    assert np.ptp(caster.cast(*pick).property("heat")) > 1000
    assert expected.hit.any()
    with pytest.raises(SceneError, match="the mesh has no property 'color'"):
        caster.cast(*pick).property("color")
    nothing = caster.cast([0, 0, 50], [0, 0, 1])
    assert not nothing.hit
    assert nothing.property("heat") == 0.0
    assert caster.cast(np.zeros((0, 3)), np.zeros((0, 3))).range_m.shape == (0,)


def test_all_hits_and_their_properties_are_as_of_one_process(caster, whole):
    origin, direction, _ = rays(300)
    for more in ({}, {"t_max_m": 12.0}, {"hide": ["car"]}):
        found, expected = (each.cast_all(origin, direction, **more) for each in (caster, whole))
        assert len(found.ray) > 100
        for name in ("ray", *FIELDS):
            assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name
        for name, rows in (("heat", found.object_id == 0), ("curvature_tensor", found.object_id > 0)):
            for row in np.flatnonzero(rows)[::9]:
                values = (each.only(row).property(name) for each in (found, expected))
                assert np.array_equal(*values), (name, row)

    # Where the ground comes first, as far as there
    first = whole.cast(origin, direction)
    ground, ends_m = first.object_id == 0, first.range_m + 1e-3
    some = [each.cast_all(origin[ground], direction[ground], t_max_m=ends_m[ground]) for each in (caster, whole)]
    assert len(some[0].ray) == ground.sum() > 20
    assert np.array_equal(*(hits.property("heat") for hits in some))
    with pytest.raises(SpecError, match="hide names body 'bus'"):
        caster.cast_all(origin, direction, hide=["bus"])


def test_ray_trees_go_through_the_parts(caster, whole):
    met = 0
    for angle in np.linspace(-0.3, 0.3, 9):
        direction = np.array([-1.0, angle, -0.1])
        found, expected = (ray_tree(each, [0, 0, 2.0], direction, max_depth=3) for each in (caster, whole))
        assert [(n.number, n.object_id, n.face_id) for n in found] == [
            (n.number, n.object_id, n.face_id) for n in expected
        ]
        assert [(n.opl_m, n.intensity) for n in found] == [(n.opl_m, n.intensity) for n in expected]
        met += any(node.mirror_id >= 0 for node in found)
    assert met >= 5


def test_bodies_stand_where_they_are_put(caster, whole):
    origin, direction, _ = rays(20_000)
    for position in ((5, 5, 4), (200, 0, 4), (0, -8, 3)):
        for each in (caster, whole):
            each.place({"car": sn.Pose(position)})
        found, expected = (each.cast(origin, direction) for each in (caster, whole))
        assert found.range_m.tobytes() == expected.range_m.tobytes()
        assert found.object_id.tobytes() == expected.object_id.tobytes()
    for each in (caster, whole):
        each.move({"car": CAR})


def test_mistakes_are_told_before_anything_is_sent(caster):
    with pytest.raises(SpecError, match="directions have length zero"):
        caster.cast([0, 0, 0], [0, 0, 0])
    with pytest.raises(SpecError, match="it must be within 0 to 0"):
        caster.cast([0, 0, 0], [1, 0, 0], worlds=1)
    with pytest.raises(SpecError, match="hide names body 'bus'"):
        caster.cast([0, 0, 0], [1, 0, 0], hide=["bus"])
    with pytest.raises(SpecError, match="no object of the scene is on body 'bus'"):
        caster.place({"bus": sn.Pose()})


def test_a_killed_part_costs_no_ray(caster, whole, local_cluster, monkeypatch):
    """Parts are killed one after the other while rays are under way; each is built anew and asked again."""
    monkeypatch.setattr(forwarding, "_CHUNK", 2048)
    origin, direction, when = rays(200_000, seed=5)
    expected = whole.cast(origin, direction, time=when)
    before = {report.pid for report in caster.reports()}
    killed = []

    def kill():
        for part in caster._parts.handles[:2]:
            time.sleep(0.05)
            local_cluster.kill(part, no_restart=False)
            killed.append(part)

    killer = threading.Thread(target=kill)
    killer.start()
    found = caster.cast(origin, direction, time=when)
    killer.join()
    for name in FIELDS:
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name
    after = {report.pid for report in caster.reports()}
    assert len(after - before) == len(killed) == min(2, len(caster._parts))


def test_a_part_takes_the_memory_of_a_part(local_cluster, tmp_path):
    mesh = sn.shapes.heightfield(np.zeros((300, 300)), 10.0, 10.0)
    for parts in (1, 4):
        sn.split_scene([sn.SceneObject(mesh)], tmp_path / "parts", parts=parts)
        with sn.PartitionedCaster(tmp_path / "parts") as caster:
            reports = caster.reports()
        print(f"{parts} parts: {[round(report.mesh_bytes / 1e6, 2) for report in reports]} MB of mesh each")
        whole_bytes = mesh.vertices.nbytes + mesh.faces.nbytes
        assert sum(report.faces for report in reports) == len(mesh.faces)
        for report in reports:
            assert report.mesh_bytes < 1.3 * whole_bytes / parts
            assert report.mesh_bytes < min(report.memory_bytes, report.peak_bytes)


def test_a_part_that_cannot_be_built_is_told(local_cluster, tmp_path):
    with pytest.raises(SceneError, match="cannot be read"):
        sn.PartitionedCaster(tmp_path)
    with pytest.raises(SpecError, match="wait_s is -1; it must be finite and not negative"):
        sn.PartitionedCaster(tmp_path, wait_s=-1)
    sn.split_scene([sn.SceneObject(sn.shapes.box(1, 1, 1))], tmp_path / "parts", parts=1)
    (tmp_path / "parts" / "part-0" / "mesh-0.npz").unlink()
    with pytest.raises(SceneError, match=r"part 0 of .* cannot be built on .*mesh-0.npz: there is no such file"):
        sn.PartitionedCaster(tmp_path / "parts")
    assert (tmp_path / "parts" / INDEX).is_file()
