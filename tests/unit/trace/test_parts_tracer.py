"""Lidars of an environment whose scene lies in parts read what they read in one process."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.errors import SpecError

FIELDS = ("range_m", "points", "object_id", "face_id", "label")
PATTERN = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(8.0, -25.0, 32)), columns=400, rate_hz=10)


def yard():
    """Hills far from the origin, a fog bank that geometric lidars do not see, a car and the lidars' mast."""
    rng, scene = np.random.default_rng(0), sn.Scene()
    hills = sn.shapes.heightfield(rng.uniform(0, 0.6, (80, 80)), 60.0, 60.0)
    scene.add(sn.Mesh(hills.vertices + [1000, 0, 0], hills.faces), label="grass")
    scene.add(sn.shapes.box(6, 6, 6), pose=sn.Pose((1008, 0, 2)), material=sn.media.Fog(visibility_m=20))
    scene.add(sn.shapes.box(2, 1, 1), body="car", label="car")
    scene.add(sn.shapes.box(0.4, 0.4, 2), body="mast", label="mast")
    return scene


def world():
    around = sn.paths.Circle(center=(1000, 0, 1.0), radius=8.0, rate=1.5)
    return sn.worlds.Kinematic({"car": around, "mast": sn.paths.Line((1000, 0, 2), (5, 2, 0))}, step_s=0.05)


def lidars(scene, **options):
    """What three lidars read last: a pair in the sensor frame, one in the world, and one that fires all at once."""
    env = sn.Environment(scene, world(), **options)
    spec = sn.Lidar(pattern=PATTERN, min_range_m=0.5, max_range_m=40.0)
    pair = [sn.Pose((0.5, 0, 1)), sn.Pose((-0.5, 0, 1))]
    made = [
        env.attach(spec, body="mast", pose=pair, name="two", hide=["mast"]),
        env.attach(spec.model_copy(update={"frame": "world"}), body="mast", name="top", pose=sn.Pose((0, 0, 1.2))),
        env.attach(spec.model_copy(update={"motion": "snapshot"}), body="car", name="still", hide=["car"]),
    ]
    for _ in env.run(0.2):
        pass
    scans = [lidar.read() for lidar in made]
    env.close()
    return scans


@pytest.fixture(scope="module", params=[2, 3])
def parts(request, local_cluster, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts") / "parts"
    sn.split_scene(yard().objects, folder, parts=request.param)
    return sn.SceneInParts(folder)


@pytest.mark.parametrize("options", [{}, {"worlds": 2}])
def test_readings_are_those_of_one_process(parts, options):
    seen = zip(lidars(parts, **options), lidars(yard(), **options), ("mast", "", "car"), strict=True)
    for found, expected, hidden in seen:
        other = (found.face_id != expected.face_id) | (found.object_id != expected.object_id)
        print(f"{other.sum()} of {other.size} rays met an edge and give a neighbour's face")
        assert other.mean() < 1e-4
        for name in FIELDS:
            assert getattr(found, name)[~other].tobytes() == getattr(expected, name)[~other].tobytes(), name
        assert set(np.unique(expected.label)) >= {-1, 1} | ({2} if "car" not in hidden else {3})
        assert (expected.object_id != 1).all()  # the fog bank
        np.testing.assert_array_equal(found.time_ns, expected.time_ns)


def test_what_parts_cannot_do_is_told(local_cluster, tmp_path):
    sn.split_scene(yard().objects, tmp_path / "parts", parts=2)
    parts = sn.SceneInParts(tmp_path / "parts")
    assert parts.labels == {"grass": 1, "car": 2, "mast": 3}
    env = sn.Environment(parts, world())
    try:
        with pytest.raises(SpecError, match="'light' looks into a scene in parts; only a lidar"):
            env.attach(sn.Lidar(pattern=PATTERN, mode="relative"), name="light")
    finally:
        env.close()
    with pytest.raises(SpecError, match="on body 'car', which the world does not have"):
        sn.Environment(parts)
