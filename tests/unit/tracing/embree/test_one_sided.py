"""Faces without backs: every sensor sees them from the front, and what is behind them from behind."""

import pickle

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError, SensoriumError, SpecError
from sensorium.scene.partition.split import split_scene
from sensorium.tracing.reference import brute_force as reference

LENS = sn.patterns.Pinhole.from_fov(32, 16, 80.0, rate_hz=10.0)
ODD = LENS.model_copy(update={"width": 31, "height": 15})
UP = sn.Pose.from_euler_deg((0.0, 0.0, -1.0), pitch=-90.0)
DOWN = sn.Pose.from_euler_deg((0.0, 0.0, 1.0), pitch=90.0)
RATE = {"rate_hz": 10.0}
BEAM = sn.patterns.Table(azimuth_deg=(0.0,) * 8, elevation_deg=(0.0,) * 8, time_s=(0.0,) * 8, rate_hz=10)


def one_sided(mesh, chosen=True):
    which = np.broadcast_to(np.asarray(chosen, np.bool_), len(mesh.faces))
    return sn.Mesh(mesh.vertices, mesh.faces, face_properties={"one_sided": which})


def floor(**options):
    """A floor at z = 0 that is not there from below, and ceilings 2 m from it on both sides."""
    scene = sn.Scene()
    scene.add(one_sided(sn.shapes.plane(40.0)), label="floor", name="floor", **options)
    for z in (2.0, -2.0):
        scene.add(sn.shapes.box(40.0, 40.0, 0.2), pose=sn.Pose((0.0, 0.0, 1.05 * z)), label="ceiling")
    return scene


def read(spec, pose, scene=None, **options):
    env = sn.Environment(floor() if scene is None else scene, sn.worlds.Static(step_s=0.1), **options)
    sensor = env.attach(spec, pose=pose)
    env.step()
    return sensor.read()


@pytest.mark.parametrize("seed", range(4))
def test_random_meshes_are_met_as_the_reference_meets_them(seed, reference_caster):
    """Some faces of each object are one-sided, at random; rays start anywhere, inside closed bodies too."""
    rng = np.random.default_rng(seed)
    scene, objects = sn.Scene(), []
    for mesh in (sn.shapes.sphere(1.0, 2), sn.shapes.box(2.0, 1.0, 1.5), sn.shapes.plane(3.0, 2.0)):
        for _ in range(3):
            which = rng.random(len(mesh.faces)) < rng.random()
            pose = sn.Pose(rng.uniform(-3.0, 3.0, 3), rng.normal(size=4))
            objects.append((one_sided(mesh, which), pose))
            scene.add(objects[-1][0], pose=pose)
    origin, direction = rng.uniform(-4.0, 4.0, (3000, 3)), rng.normal(size=(3000, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    hits, truth = sn.RayCaster(scene).cast(origin, direction), reference.cast(objects, origin, direction)
    same = hits.face_id == truth.face_id
    assert same.mean() > 0.999  # but for rays through edges
    both = same & (truth.face_id >= 0)
    np.testing.assert_allclose(hits.range_m[both], truth.range_m[both], rtol=1e-4, atol=1e-5)
    two_sided = reference.cast([(sn.Mesh(m.vertices, m.faces), pose) for m, pose in objects], origin, direction)
    assert (two_sided.face_id != truth.face_id).mean() > 0.01

    casters = sn.RayCaster(scene), reference_caster(scene)
    for o, d in zip(origin[:50], direction[:50], strict=True):
        every, expected = (sorted(caster.cast_all(o, d).range_m.tolist()) for caster in casters)
        assert every == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_a_face_in_a_mesh_that_turns():
    """A sheet on a body that spins shows its front for half a turn."""
    scene = sn.Scene()
    scene.add(one_sided(sn.shapes.plane(1.0)), pose=sn.Pose.from_euler_deg(pitch=90.0), body="sheet")
    caster = sn.RayCaster(scene)
    for yaw in np.arange(5.0, 360.0, 10.0):
        caster.place({"sheet": sn.Pose.from_euler_deg(yaw=yaw)})
        assert np.isfinite(caster.cast([-5.0, 0.0, 0.0], [1.0, 0.0, 0.0]).range_m) == (np.cos(np.radians(yaw)) < 0.0)


@pytest.mark.parametrize("mode", ["geometric", "relative", "radiometric", "waveform"])
def test_lidars_in_every_mode(mode):
    options = {} if mode == "geometric" else {"detection": None, "max_depth": 1}
    lidar = sn.Lidar(pattern=BEAM, mode=mode, **options)
    for pose, range_m in ((UP, 3.0), (DOWN, 1.0)):
        np.testing.assert_allclose(np.ravel(read(lidar, pose).range_m), range_m, atol=0.02)


@pytest.mark.parametrize("pattern", [LENS, ODD], ids=["drawn", "traced"])
def test_depth_cameras_drawn_and_traced(pattern):
    camera = sn.DepthCamera(pattern=pattern, outputs={"depth", "segmentation"})
    np.testing.assert_allclose(read(camera, UP).depth_m, 3.0, rtol=1e-5)
    np.testing.assert_allclose(read(camera, DOWN).depth_m, 1.0, rtol=1e-5)


def test_the_shadows_that_cameras_see():
    """Rays from the ground to the sun pass a sheet that they meet from behind, so that it throws no shadow."""
    sheet, lit = one_sided(sn.shapes.plane(40.0)), {}
    for roll in (0.0, 180.0):
        scene = sn.Scene()
        scene.add(sheet, pose=sn.Pose.from_euler_deg((0.0, 0.0, 5.0), roll=roll))
        scene.add(sn.shapes.plane(40.0), material=sn.Lambertian(reflectance=0.5))
        camera = sn.Camera(
            pupil_distance_m=0.0101, width_m=0.01, height_m=0.005, columns=16, rows=8, focal_length_m=0.01,
            pupil_radius_m=0.001, exposure_s=1e-4, bits=16, full_well_e=1e9,
        )  # fmt: skip
        lit[roll] = float(np.mean(read(camera, DOWN, scene, sun=sn.fields.Sun(elevation_deg=90.0)).image))
    assert lit[0.0] > 3.0 * lit[180.0]


def test_cones():
    """The nearest point of a sheet from the front, and of what is behind it from behind; in a box of such faces too."""
    for options in ({"lines": "exact"}, {"lines": 9}):
        cone = sn.ConeSensor(horizontal_fov_deg=20.0, vertical_fov_deg=20.0, range_m=9.0, timing=RATE, **options)
        assert np.ravel(read(cone, DOWN).range_m) == pytest.approx([1.0], abs=1e-6)
        assert np.ravel(read(cone, UP).range_m) == pytest.approx([3.0], abs=1e-6)
        inside = sn.Scene()
        inside.add(one_sided(sn.shapes.box(4.0, 4.0, 4.0)))
        inside.add(sn.shapes.box(1.0, 1.0, 1.0), pose=sn.Pose((0.0, 0.0, 5.5)))
        assert np.ravel(read(cone, UP, inside).range_m) == pytest.approx([6.0], abs=1e-6)


@pytest.mark.parametrize("source", ["rays", "cone"])
def test_radars_take_no_echo_from_a_back(source):
    """A target of stated cross-section that rays are aimed at, and one whose area counts, from both sides."""
    for turn, seen in ((-90.0, True), (90.0, False)):
        scene = sn.Scene()
        scene.add(one_sided(sn.shapes.plane(0.05)), pose=sn.Pose.from_euler_deg((20.0, 1.0, 0.0), pitch=turn), name="t")
        scene.add(one_sided(sn.shapes.plane(2.0)), pose=sn.Pose.from_euler_deg((30.0, -3.0, 0.0), pitch=turn))
        chirp = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32)
        env = sn.Environment(scene, sn.worlds.Static(step_s=0.1))
        sensor = env.attach(sn.Radar(chirp=chirp, source=source, fluctuation="steady", cross_sections={"t": 5.0}))
        env.step()
        assert sorted(set(sensor.truth().object_id.tolist())) == ([0, 1] if seen else [])


def test_it_is_carried_along(tmp_path):
    mesh = one_sided(sn.shapes.box(1.0, 1.0, 1.0), [True, False] * 6)
    for other in (mesh.scaled(2.0), mesh.transformed(UP), pickle.loads(pickle.dumps(mesh)), sn.Mesh.merge([mesh])):
        assert other.one_sided.tolist() == mesh.one_sided.tolist()
    assert one_sided(mesh, False).one_sided is None

    # Into the files of a scene in parts, cut or whole
    ball = sn.shapes.sphere(1.0, 3)
    which = np.arange(len(ball.faces)) % 3 == 0
    scene = sn.Scene()
    scene.add(one_sided(ball, which))
    split_scene(scene.objects, tmp_path / "parts", parts=3)
    pieces = [sn.Mesh.load(path) for path in sorted(tmp_path.rglob("object-*.npz"))]
    assert len(pieces) > 1
    for piece in pieces:
        assert piece.one_sided.tolist() == which[piece.face_properties["whole_face"]].tolist()


def test_refusals():
    sheet, box = sn.shapes.plane(1.0), one_sided(sn.shapes.box(1.0, 1.0, 1.0))
    for bad in ([[1, 0], [0, 1]], [2, 0]):
        with pytest.raises(SceneError, match="true or false"):
            sn.Mesh(sheet.vertices, sheet.faces, face_properties={"one_sided": bad})
    with pytest.raises(SceneError, match="must be given for faces"):
        sn.Mesh(sheet.vertices, sheet.faces, vertex_properties={"one_sided": np.ones(len(sheet.vertices))})
    with pytest.raises(SceneError, match=r"a volume of Uniform.* there from both sides"):
        sn.Scene().add(box, material=sn.media.uniform(extinction_per_m=0.1))
    cone = sn.ConeSensor(horizontal_fov_deg=20.0, vertical_fov_deg=20.0, range_m=9.0, timing=RATE, target="aabb_center")
    with pytest.raises(SpecError, match="no sides"):
        read(cone, UP)


def test_warp_refuses_them():
    pytest.importorskip("warp")
    with pytest.raises(SensoriumError, match="Warp sees both sides"):
        sn.WarpCaster(floor(), device="cpu")
