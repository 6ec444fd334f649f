"""The Warp back end on Warp's CPU device, held against Embree: the same ids, ranges to 1e-4."""

import importlib.util

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.tracing.warp import caster as warp_caster

pytest.importorskip("warp")

SHAPES = (
    sn.shapes.box(1, 2, 0.5),
    sn.shapes.sphere(0.7, subdivisions=2),
    sn.shapes.cylinder(0.4, 1.5, segments=12),
    sn.shapes.capsule(0.3, 1.0, segments=8),
    sn.shapes.plane(9.0),
)


def random_poses(rng, shape, spread=3.0):
    return sn.Pose(rng.uniform(-spread, spread, (*shape, 3)), rng.normal(size=(*shape, 4)))


def random_rays(count, seed, spread=4.0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-spread, spread, (count, 3)), rng.normal(size=(count, 3))


def assert_same(found, expected, *, ties=1e-3):
    """Every id equal and every range to 1e-4, but for a share of rays within rounding of an edge.

    Such a ray may take the face on the other side of the edge, or at an outline miss what the other caster hits.
    """
    same = (found.object_id == expected.object_id) & (found.face_id == expected.face_id)
    assert same.mean() >= 1.0 - ties
    assert (same & expected.hit).sum() > 100
    np.testing.assert_allclose(found.range_m[same], expected.range_m[same], rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(found.label[same], expected.label[same])
    np.testing.assert_allclose(found.normal[same], expected.normal[same], atol=2e-4)
    np.testing.assert_allclose(found.barycentric[same], expected.barycentric[same], atol=2e-3)


@pytest.fixture(scope="module")
def clutter():
    """Every shape twice, some on bodies; faces of one have labels of their own."""
    rng = np.random.default_rng(3)
    scene = sn.Scene()
    for i, mesh in enumerate(SHAPES * 2):
        if i == 1:
            names = np.where(np.arange(len(mesh.faces)) % 2 == 0, "even", "")
            temperature = np.arange(len(mesh.vertices), dtype=float)
            mesh = sn.Mesh(
                mesh.vertices,
                mesh.faces,
                face_properties={"label": names},
                vertex_properties={"temperature": temperature},
            )
        body = f"body{i}" if i % 3 == 0 else None
        scene.add(mesh, pose=random_poses(rng, ()), body=body, label=f"kind{i % 4}")
    return scene


@pytest.fixture(scope="module")
def casters(clutter):
    return sn.WarpCaster(clutter, device="cpu"), sn.RayCaster(clutter)


def test_the_same_hits_as_embree(casters):
    warp, embree = casters
    poses = random_poses(np.random.default_rng(1), (len(warp.bodies),), spread=1.0)
    assert warp.bodies == embree.bodies
    for caster in casters:
        caster.place(dict(zip(caster.bodies, poses, strict=True)))
    rays = random_rays(4000, seed=0)
    assert_same(warp.cast(*rays), embree.cast(*rays))


def test_the_same_within_an_interval_of_fast_turns(casters):
    """Bodies turn by up to half a turn between knots, off their origins: boxes must hold the arc, not the chord."""
    warp, embree = casters
    rng = np.random.default_rng(7)
    for knots in (2, 4):
        moves = {name: random_poses(rng, (knots,), spread=1.0) for name in warp.bodies}
        for caster in casters:
            caster.move(moves)
        rays, time = random_rays(3000, seed=knots), rng.uniform(0.0, 1.0, 3000)
        time[:2] = 0.0, 1.0
        assert_same(warp.cast(*rays, time=time), embree.cast(*rays, time=time), ties=2e-3)


def test_what_swings_on_a_long_arm_is_found_off_the_chord():
    """A small ball 5 m from its body's origin, half a turn between two knots: midway it is 5 m to the side."""
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(0.1, subdivisions=2), pose=sn.Pose((5, 0, 0)), body="arm")
    knots = sn.Pose.from_euler_deg(np.zeros((2, 3)), yaw=np.array([0.0, 170.0]))
    for caster in (sn.WarpCaster(scene, device="cpu"), sn.RayCaster(scene)):
        caster.move({"arm": knots})
        time = np.linspace(0.0, 1.0, 41)
        angle = np.radians(170.0 * time)
        outwards = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
        hits = caster.cast(10.0 * outwards, -outwards, time=time, t_max_m=6.0)
        assert hits.hit.all()
        np.testing.assert_allclose(hits.range_m, 4.9, atol=0.01)
        assert not caster.cast(10.0 * outwards, -outwards, time=(time + 0.5) % 1.0, t_max_m=6.0).hit.any()


def test_what_stands_near_when_it_is_far_from_the_origin(casters):
    """Float32 alone would be off by half a meter out there."""
    away = np.array([5e6, -3e6, 100.0])
    for caster in casters:
        caster.place({name: sn.Pose(away) for name in caster.bodies})
    origins, directions = random_rays(3000, seed=5)
    found, expected = (caster.cast(origins + away, directions) for caster in casters)
    assert_same(found, expected)
    for caster in casters:
        caster.place({name: sn.Pose() for name in caster.bodies})


def test_rays_along_axes_and_faces_in_their_plane(casters):
    """Directions with zeros, from points on the planes of boxes: a slab test by reciprocals could lose them."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(2, 2, 2), pose=sn.Pose((3, 0, 0)))
    scene.add(sn.shapes.box(1, 1, 1), pose=sn.Pose((6, 0, 1)))
    warp, embree = sn.WarpCaster(scene, device="cpu"), sn.RayCaster(scene)
    height = np.linspace(-1.2, 1.6, 57)
    origins = np.stack([0 * height, 0.3 + 0 * height, height], axis=-1)
    found, expected = (caster.cast(origins, (1.0, 0.0, 0.0)) for caster in (warp, embree))
    inside = (np.abs(np.abs(height) - 1.0) > 1e-3) & (np.abs(height - 1.5) > 1e-3) & (np.abs(height - 0.5) > 1e-3)
    np.testing.assert_array_equal(found.object_id[inside], expected.object_id[inside])
    np.testing.assert_allclose(found.range_m[inside], expected.range_m[inside], rtol=1e-6)
    assert set(expected.object_id[inside]) == {-1, 0, 1}


def test_hidden_bodies_limits_shapes_and_properties(casters, clutter):
    warp, embree = casters
    rays = random_rays(3000, seed=11)
    for hide in ((), warp.bodies[:1], warp.bodies):
        assert_same(warp.cast(*rays, hide=hide), embree.cast(*rays, hide=hide))
    near = warp.cast(*rays, t_max_m=2.0)
    assert_same(near, embree.cast(*rays, t_max_m=2.0))
    assert (near.range_m[near.hit] <= 2.0).all()
    grid = warp.cast(np.zeros((4, 1, 3)), np.eye(3))
    assert (grid.range_m.shape, grid.normal.shape) == ((4, 3), (4, 3, 3))
    assert warp.cast(np.zeros((0, 3)), np.zeros((0, 3))).range_m.shape == (0,)

    origins = rays[0]
    warm = warp.cast(origins, clutter.objects[1].pose.position - origins)
    only = warm.object_id == 1
    assert only.sum() > 100
    warm = warp.cast(origins[only], (clutter.objects[1].pose.position - origins)[only])
    cold = embree.cast(origins[only], (clutter.objects[1].pose.position - origins)[only])
    np.testing.assert_allclose(warm.property("temperature"), cold.property("temperature"), atol=0.5)


@pytest.fixture(scope="module")
def forests():
    """Worlds of their own objects, some slots empty, one world without any, one body that carries a slot."""
    rng = np.random.default_rng(2)
    worlds, slots = 40, 6
    index = rng.integers(-1, len(SHAPES), (worlds, slots))
    index[17] = -1
    assets = [sn.SceneObject(mesh, label=f"kind{k}") for k, mesh in enumerate(SHAPES)]
    batch = sn.SceneBatch(assets, index, random_poses(rng, index.shape), body=["mover", *[None] * (slots - 1)])
    movers = random_poses(rng, (worlds,), spread=1.0)
    casters = sn.WarpCaster(batch, device="cpu"), sn.RayCaster(batch)
    for caster in casters:
        caster.place({"mover": movers})
    return casters


def test_many_worlds_in_one_call(forests):
    warp = forests[0]
    origins, directions = random_rays(8000, seed=4)
    worlds = np.sort(np.random.default_rng(9).integers(0, warp.worlds, 8000))
    found, expected = (caster.cast(origins, directions, worlds=worlds) for caster in forests)
    assert_same(found, expected)
    assert not found.hit[worlds == 17].any()
    assert (worlds == 17).sum() > 100
    assert len({world for world in worlds[found.hit]}) == warp.worlds - 1


def test_images_of_all_worlds_stay_on_the_device(forests):
    """Each head's table of rays is what the same rays cast one by one are; depth is along the axis."""
    warp, embree = forests
    table = sn.patterns.Pinhole.from_fov(12, 8, 80.0, rate_hz=1.0).rays()
    heads = random_poses(np.random.default_rng(6), (warp.worlds,), spread=4.0)
    images = warp.images(table, heads, outputs=warp_caster.OUTPUTS)
    directions = heads.reshape((warp.worlds, 1, 1)).rotate(table.direction_S)
    worlds = np.arange(warp.worlds)[:, None, None]
    expected = embree.cast(heads.position[:, None, None], directions, worlds=worlds)

    found = {name: getattr(images, name).numpy() for name in warp_caster.OUTPUTS}
    assert found["range_m"].shape == (warp.worlds, 8, 12)
    assert found["normal"].shape == (warp.worlds, 8, 12, 3)
    same = (found["object_id"] == expected.object_id) & (found["face_id"] == expected.face_id)
    assert same.mean() > 0.999
    assert (same & expected.hit).sum() > 500
    np.testing.assert_allclose(found["range_m"][same], expected.range_m[same], rtol=1e-4, atol=1e-5)
    cosine = np.broadcast_to(table.direction_S[..., 0], same.shape)
    np.testing.assert_allclose(found["depth_m"][same], (expected.range_m * cosine)[same], rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(found["label"][same], expected.label[same])
    np.testing.assert_allclose(found["normal"][same], expected.normal[same], atol=2e-4)

    # Only what is asked for, handed on without a copy
    alone = warp.images(table, heads[3:5], outputs=("label",), worlds=[3, 4])
    assert alone.depth_m is None
    shared = np.from_dlpack(alone.label)
    np.testing.assert_array_equal(shared, found["label"][3:5])
    assert shared.ctypes.data == alone.label.ptr


def test_rays_with_starts_of_their_own(forests):
    warp, embree = forests
    origin_S = np.random.default_rng(8).uniform(-0.5, 0.5, (20, 10, 3))
    table = sn.patterns.RayTable.at_once(np.random.default_rng(9).normal(size=(20, 10, 3)), origin_S)
    head = random_poses(np.random.default_rng(10), (1,))
    found = warp.images(table, head, outputs=("range_m",), worlds=[5], t_max_m=30.0).range_m.numpy()[0]
    expected = embree.cast(head[0].apply(table.origin_S), head[0].rotate(table.direction_S), worlds=5).range_m
    assert np.isfinite(expected).sum() > 50
    close = np.isclose(found, expected, rtol=1e-4)
    assert close.mean() > 0.99


def test_mistakes_are_told_in_a_line(casters, monkeypatch):
    warp, _ = casters
    table = sn.patterns.RayTable.at_once([[(1, 0, 0)]])
    with pytest.raises(SpecError, match="device is 'tpu'; it must be one of Warp's devices here: cpu"):
        sn.WarpCaster(sn.Scene(), device="tpu")
    with pytest.raises(SpecError, match=r"outputs is .'deep',.; it must be one or more of range_m, depth_m"):
        warp.images(table, sn.Pose().reshape(1), outputs=("deep",))
    with pytest.raises(SpecError, match="X_WS has batch shape"):
        warp.images(table, sn.Pose())
    with pytest.raises(SpecError, match="table is a Pinhole; it must be a table of rays, as a pattern's"):
        warp.images(sn.patterns.Pinhole.from_fov(4, 4, 90.0, rate_hz=1.0), sn.Pose().reshape(1))
    with pytest.raises(SpecError, match=r"X_WS is a tuple, \(1, 2, 3\); it must be a sn\.Pose"):
        warp.images(table, (1, 2, 3))
    with pytest.raises(SpecError, match="hide names body 'dog', which the scene does not have"):
        warp.cast((0, 0, 0), (1, 0, 0), hide=("dog",))
    with pytest.raises(SpecError, match="it must be within 0 to 0"):
        warp.images(table, sn.Pose().reshape(1), worlds=[1])
    assert not sn.WarpCaster(sn.Scene(), device="cpu").cast((0, 0, 0), (1, 0, 0)).hit
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sensorium\[gpu\]'"):
        sn.WarpCaster(sn.Scene())
