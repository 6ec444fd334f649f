"""Hits for light that is followed elsewhere, against the hits that everybody gets."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.rays import checked_rays

ANCHOR = PlacedScenes.on_grid(np.array([[130.0, 0.0, 0.0]]))


def scene(**reflectance):
    """Hills that carry their reflectance, a ball that moves, a fog bank."""
    rng, made = np.random.default_rng(0), sn.Scene()
    hills = sn.shapes.heightfield(rng.uniform(0, 0.6, (20, 20)), 20.0, 20.0)
    albedo = {"albedo": rng.uniform(0.1, 0.9, len(hills.vertices))}
    label = {"label": np.where(np.arange(len(hills.faces)) % 3, "grass", "road")}
    hills = sn.Mesh(hills.vertices, hills.faces, vertex_properties=albedo, face_properties=label)
    turned = sn.Pose.from_euler_deg((128, 0, 0), yaw=20, roll=3)
    made.add(hills, pose=turned, material=sn.Lambertian(**{"reflectance": "albedo", **reflectance}))
    made.add(sn.shapes.sphere(1.0, subdivisions=2), body="ball", label="ball")
    made.add(sn.shapes.box(2, 2, 2), pose=sn.Pose((131, 3, 2)), material=sn.media.Fog(visibility_m=20))
    return made


@pytest.fixture(scope="module")
def caster():
    made = sn.RayCaster(scene())
    made.move({"ball": sn.Pose([[126, 0, 2], [128, 1, 2.5]], [[1.0, 0, 0, 0], [0.8, 0, 0, 0.6]])})
    return made


def rays(count=3000):
    rng = np.random.default_rng(1)
    origin, direction = rng.normal(0, 2, (count, 3)) + [0, 0, 5], rng.normal(size=(count, 3)) * [1, 1, 0.5] - [0, 0, 1]
    checked, _ = checked_rays(origin, direction, rng.uniform(0, 1, count), 30.0, 0, world_count=1)
    return checked._replace(origin=checked.origin.astype(np.float32).astype(np.float64))


def test_hits_are_those_that_everybody_gets(caster):
    sent, nowhere = rays(), np.zeros(3000, np.float32)
    found = caster.remote_hits(sent, nowhere, hide=frozenset(), coherent=False, anchor=ANCHOR)
    expected = caster.cast_rays(sent, near=ANCHOR, from_anchor=True, air=False)
    for name in ("range_m", "object_id", "face_id", "label"):
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name
    assert set(np.unique(found.object_id)) == {-1, 0, 1}  # the fog bank is no surface
    length = np.linalg.norm(found.normal, axis=1, keepdims=True)
    met = found.object_id >= 0
    np.testing.assert_allclose(found.normal[met] / length[met], expected.normal[met], atol=3e-7)
    assert not found.normal[~met].any()

    # Reflectance where the mesh carries it, and nowhere else
    hills = found.object_id == 0
    mesh = caster.layout.meshes[0]
    values = mesh.property_at("albedo", found.face_id[hills], expected.barycentric[hills])
    np.testing.assert_allclose(found.surface[hills, 0], values, rtol=1e-6)
    assert (found.surface[~hills] == -1.0).all()


def test_rays_begin_to_look_where_they_are_told(caster):
    """A child starts on the face that it left: a little further on, everything before is passed."""
    sent = rays()
    at_once = caster.remote_hits(sent, np.zeros(3000, np.float32), hide=frozenset(), coherent=False, anchor=ANCHOR)
    clear = np.where(at_once.object_id >= 0, at_once.range_m + np.float32(0.01), 0.0).astype(np.float32)
    beyond = caster.remote_hits(sent, clear, hide=frozenset(), coherent=False, anchor=ANCHOR)
    again = (at_once.object_id > 0) & (beyond.object_id >= 0)
    assert again.sum() > 100
    assert (beyond.range_m[again] > clear[again]).all()


def test_hidden_bodies_are_passed(caster):
    at_once = np.zeros(3000, np.float32)
    found = caster.remote_hits(rays(), at_once, hide=frozenset({"ball"}), coherent=True, anchor=ANCHOR)
    assert set(np.unique(found.object_id)) == {-1, 0}


def test_a_reflectance_that_cannot_be_is_told():
    made = sn.RayCaster(scene(reflectance="shade"))
    with pytest.raises(SceneError, match="the mesh has no property 'shade'"):
        made.remote_hits(rays(), np.zeros(3000, np.float32), hide=frozenset(), coherent=False, anchor=ANCHOR)
