"""Lidars of an environment whose scene lies in parts read what they read in one process."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import BackendError, SpecError
from sensorium.tracing import light_cast

FIELDS = ("range_m", "points", "object_id", "face_id", "label")
LIGHT = ("intensity", "cause", "depth", "mirror_id")
PATTERN = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(8.0, -25.0, 32)), columns=400, rate_hz=10)
SPARSE = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(8.0, -25.0, 12)), columns=150, rate_hz=10)


def yard():
    """Hills far from the origin that carry labels and reflectance, a fog bank, mirrors, a pane, bodies that move."""
    rng, scene = np.random.default_rng(0), sn.Scene()
    hills = sn.shapes.heightfield(rng.uniform(0, 0.6, (80, 80)), 60.0, 60.0)
    label = {"label": np.where(np.arange(len(hills.faces)) % 3, "grass", "road")}
    albedo = {"albedo": rng.uniform(0.1, 0.9, len(hills.vertices))}
    hills = sn.Mesh(hills.vertices + [1000, 0, 0], hills.faces, face_properties=label, vertex_properties=albedo)
    scene.add(hills, material=sn.Lambertian(reflectance="albedo"))
    scene.add(sn.shapes.box(6, 6, 6), pose=sn.Pose((1008, 0, 2)), material=sn.media.Fog(visibility_m=20))
    scene.add(sn.shapes.box(0.1, 8, 4), pose=sn.Pose((994, 0, 2)), material=sn.Mirror(reflectance=0.9), label="mirror")
    pane = sn.Pose.from_euler_deg((1002, -5, 2), roll=88, pitch=4, yaw=10)
    scene.add(sn.shapes.plane(4, 4), pose=pane, material=sn.ThinGlass(), label="pane")
    paint = sn.TwoLayer(refractive_index=1.5, roughness=0.1, reflectance=0.3)
    scene.add(sn.shapes.box(2, 1, 1), body="car", label="car", material=paint)
    scene.add(sn.shapes.box(0.4, 0.4, 2), body="mast", label="mast")

    # Curved mirrors: a wavy one that is cut, and one that turns
    x = np.linspace(-3, 3, 60)
    waves = sn.shapes.heightfield(0.1 * np.sin(2 * x)[:, None] * np.cos(x), 8.0, 8.0)
    chrome = sn.Mirror(reflectance=0.8)
    scene.add(waves, pose=sn.Pose.from_euler_deg((1000, 9, 1.5), roll=80), material=chrome, name="waves")
    scene.add(sn.shapes.ellipsoid(0.4, 0.6, 0.9, 3), pose=sn.Pose((0, 0, 1.4)), body="car", material=chrome)
    return scene


def world():
    around = sn.paths.Circle(center=(1000, 0, 1.0), radius=8.0, rate=1.5)
    return sn.worlds.Kinematic({"car": around, "mast": sn.paths.Line((1000, 0, 2), (5, 2, 0))}, step_s=0.05)


def lidars(scene, **options):
    """What lidars read last, by name, and their truth: three of geometry, five of light."""
    sun, air = sn.fields.Sun(elevation_deg=30), sn.media.air(visibility_m=300)
    env = sn.Environment(scene, world(), sun=sun, atmosphere=air, **options)
    spec = sn.Lidar(pattern=PATTERN, min_range_m=0.5, max_range_m=40.0)
    pair = [sn.Pose((0.5, 0, 1)), sn.Pose((-0.5, 0, 1))]
    in_fog = [sn.Pose((1007, 0.3, 3)), sn.Pose((1000, 1, 3))]
    noise = sn.RangeNoise(base_m=0.01, angle_std_rad=1e-3, dropout=0.01)
    wild = sn.RangeNoise(base_m=0.3, slope=0.01, bias_m=0.1, angle_std_rad=3e-3, dropout=0.1)
    light = {"pattern": SPARSE, "max_range_m": 40.0, "noise": noise, "returns": "dual"}
    strong = {
        "saturation": sn.Saturation(level=0.01, trigger=1e-4),
        "blooming": sn.Blooming(strength=0.9, radius_deg=8.0, above=0.5),
        "repetition": sn.PulseRepetition(rate_hz=1e7, reach_m=40.0),
        "crosstalk": sn.Crosstalk(clock_spread_s=0.0),
        "receiver": sn.Receiver(half_field_rad=0.4),
    }
    made = {
        "two": env.attach(spec, body="mast", pose=pair, name="two", hide=["mast"]),
        "top": env.attach(
            spec.model_copy(update={"frame": "world"}), body="mast", name="top", pose=sn.Pose((0, 0, 1.2))
        ),
        "still": env.attach(spec.model_copy(update={"motion": "snapshot"}), body="car", name="still", hide=["car"]),
        "noisy": env.attach(
            sn.Lidar(pattern=PATTERN, max_range_m=12.0, frame="world", noise=wild), body="mast", name="noisy", pose=pair
        ),
        "astray": env.attach(
            sn.Lidar(pattern=PATTERN, max_range_m=12.0, noise=wild), body="mast", name="astray", hide=["mast"]
        ),
        "relative": env.attach(sn.Lidar(mode="relative", max_depth=4, **light), pose=in_fog, name="relative"),
        "watts": env.attach(
            sn.Lidar(mode="radiometric", frame="world", max_depth=1, **light), body="mast", hide=["mast"], name="watts"
        ),
        "beams": env.attach(
            sn.Lidar(mode="relative", max_depth=3, beam={"rays": 7}, **light), pose=in_fog, name="beams"
        ),
        "beams_in_watts": env.attach(
            sn.Lidar(mode="radiometric", frame="world", beam={"rays": 19}, **light),
            body="mast",
            hide=["mast"],
            name="beams_in_watts",
        ),
        "pulses": env.attach(
            sn.Lidar(mode="waveform", max_depth=2, waveform={"keep": True}, **light), pose=in_fog[1], name="pulses"
        ),
        "strong": env.attach(
            sn.Lidar(mode="relative", max_depth=1, **(light | strong | {"max_range_m": 14.0})),
            pose=[sn.Pose((1000, 3, 2)), sn.Pose((1000, 1, 3))],
            name="strong",
        ),
    }
    place = sn.Placement(min_translation_m=(-0.5, -0.5, -0.2), max_rotation_deg=(5.0, 10.0, 90.0))
    drawn = {"randomize": sn.Randomization(when="step", placement=place), "normalize": True, "min_range_m": 5.0}
    on_mast = {"body": "mast", "hide": ["mast"]}  # in which some of them stand
    made["drawn"] = env.attach(sn.Lidar(pattern=SPARSE, max_range_m=30.0, noise=wild, **drawn), name="drawn", **on_mast)
    made["drawn_light"] = env.attach(
        sn.Lidar(mode="relative", motion="snapshot", **(light | drawn)), name="drawn_light", **on_mast
    )
    for _ in env.run(0.2):
        pass
    read = {name: (lidar.read(), lidar.truth()) for name, lidar in made.items()}
    env.close()
    return read


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((1, {}), id="1", marks=pytest.mark.slow),
        pytest.param((2, {"worlds": 2}), id="2"),
        pytest.param((3, {}), id="3", marks=pytest.mark.slow),
    ],
)
def readings(request, local_cluster, tmp_path_factory):
    """What lidars read in parts and in one process."""
    parts, options = request.param
    folder = tmp_path_factory.mktemp("parts") / "parts"
    sn.split_scene(yard().objects, folder, parts=parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(light_cast, "_MOST_WALKS", 3)  # so that blocks are followed in several groups
        found = lidars(sn.SceneInParts(folder), **options)
    return found, lidars(yard(), **options)


def other_faces(found, expected):
    """Returns whose face is a neighbor's, since their ray met an edge; there are hardly any."""
    other = (found.face_id != expected.face_id) | (found.object_id != expected.object_id)
    print(f"{other.sum()} of {other.size} returns are of an edge and give a neighbor's face")
    assert other.mean() < 1e-4
    return other


def test_readings_are_those_of_one_process(readings):
    for name, hidden in (("two", "mast"), ("top", ""), ("still", "car")):
        found, expected = readings[0][name][0], readings[1][name][0]
        other = other_faces(found, expected)
        for field in FIELDS:
            assert getattr(found, field)[~other].tobytes() == getattr(expected, field)[~other].tobytes(), field
        assert set(np.unique(expected.label)) >= {-1, 1, 2} | ({5} if hidden != "car" else {6})
        assert (expected.object_id != 1).all()  # the fog bank
        np.testing.assert_array_equal(found.ray_time_ns, expected.ray_time_ns)


def test_errors_of_rays_are_those_of_one_process(readings):
    """Byte by byte, with ranges that noise brings out of the limits and into them; truth has none of it."""
    for name in ("noisy", "astray"):
        for found, expected in zip(readings[0][name], readings[1][name], strict=True):
            other = other_faces(found, expected)
            for field in FIELDS:
                assert getattr(found, field)[~other].tobytes() == getattr(expected, field)[~other].tobytes(), field
        scan, truth = readings[1][name]
        assert (scan.valid & ~truth.valid).any()
        assert (truth.valid & ~scan.valid).any()
        assert scan.range_m.max() <= 12.0


def test_drawn_placements_and_range_images_are_those_of_one_process(readings):
    for name in ("drawn", "drawn_light"):
        for found, expected in zip(readings[0][name], readings[1][name], strict=True):
            np.testing.assert_array_equal(found.X_WS.position, expected.X_WS.position)
            other = other_faces(found, expected)
            assert found.range_image.values[~other].tobytes() == expected.range_image.values[~other].tobytes()
            assert {-1.0, 1.0} < set(np.unique(expected.range_image.values))


def test_light_is_that_of_one_process(readings):
    """Ghosts of a mirror, what is behind glass, fog from outside and inside: every byte of every return."""
    causes, mirrors = set(), set()
    for name in ("relative", "watts", "beams", "beams_in_watts", "pulses", "strong"):
        (found, truth), (expected, expected_truth) = readings[0][name], readings[1][name]
        other = other_faces(found, expected)
        for field in FIELDS + LIGHT:
            assert getattr(found, field)[~other].tobytes() == getattr(expected, field)[~other].tobytes(), (name, field)
        other = other_faces(truth, expected_truth)
        assert truth.range_m[~other].tobytes() == expected_truth.range_m[~other].tobytes()
        causes |= set(np.unique(expected.cause))
        assert len(np.unique(expected.label)) > 3
        mirrors |= set(np.unique(expected.mirror_id))
        # a beam or pulse on the edge of two things
        assert (sn.Cause.MIXED in expected.cause) == (name not in ("relative", "watts", "strong"))
    assert causes >= {sn.Cause.SURFACE, sn.Cause.REFLECTION, sn.Cause.TRANSMISSION, sn.Cause.ATMOSPHERE}
    assert mirrors >= {2, 3, 6, 7}  # flat ones, and curved ones
    assert causes >= {sn.Cause.SATURATED, sn.Cause.BLOOM, sn.Cause.FOLDED, sn.Cause.CROSSTALK}


def test_sunlight_and_waveforms_are_those_of_one_process(readings):
    for name in ("watts", "beams_in_watts", "pulses"):
        found, expected = (each[name][0].light for each in readings)
        assert found.ambient.tobytes() == expected.ambient.tobytes()
        assert len(np.unique(expected.ambient)) > 100
    found, expected = (each["pulses"][0] for each in readings)
    assert found.waveform.samples.tobytes() == expected.waveform.samples.tobytes()
    assert found.light.width_s.tobytes() == expected.light.width_s.tobytes()


def test_what_parts_cannot_do_is_told(local_cluster, tmp_path):
    sn.split_scene(yard().objects, tmp_path / "parts", parts=1)
    parts = sn.SceneInParts(tmp_path / "parts")
    assert parts.labels == {"grass": 1, "road": 2, "mirror": 3, "pane": 4, "car": 5, "mast": 6}
    env = sn.Environment(parts, world())
    try:
        with pytest.raises(SpecError, match="'depth_camera' looks into a scene in parts; only lidars can"):
            env.attach(sn.DepthCamera(pattern=sn.patterns.Pinhole.from_fov(8, 6, 60.0, rate_hz=10)))
        with pytest.raises(SpecError, match="normals is True and 'lidar' looks into a scene in parts"):
            env.attach(sn.Lidar(pattern=PATTERN, normals=True))
        env.attach(sn.Lidar(pattern=SPARSE, motion="snapshot"))
    finally:
        env.close()
    with pytest.raises(BackendError, match="the processes of the parts of"):
        list(env.run(0.1))
    with pytest.raises(SpecError, match="on body 'car', which the world does not have"):
        sn.Environment(parts)
