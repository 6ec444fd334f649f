"""Depth cameras as ROS 2 messages: every output as it is, distances by REP 118, where a drawn camera is."""

import numpy as np
import pytest

import sensorium as sn

LENS = sn.patterns.Pinhole.from_fov(16, 12, 80.0, rate_hz=10.0)
OUTPUTS = {
    "depth",
    "range",
    "points",
    "segmentation",
    "object_id",
    "normals",
    "face_id",
    "flow",
    "scene_flow",
    "color",
}


def recorded(path, label="wall", **options):
    """An image of a wall on the left half, and the file it was recorded to."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 10.0, 10.0), pose=sn.Pose(position=(3.1, 5.0, 0.0)), label=label)
    scene.add(sn.shapes.box(0.1, 1.0, 0.3), pose=sn.Pose(position=(0.5, 0.5, -0.4)), label="near")
    world = sn.worlds.Static({"mast": sn.Pose()}, step_s=0.1)
    env = sn.Environment(scene, world)
    camera = sn.DepthCamera(pattern=LENS, outputs=OUTPUTS, min_range_m=1.0, max_range_m=8.0, **options)
    sensor = env.attach(camera, body="mast", name="eye")
    with sn.record.McapRecorder(path) as recorder:
        env.step()
        recorder.record(env)
    return sensor.read()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("depth") / "run.mcap"
    noise = sn.DepthNoise(dropout=0.2)
    placed = sn.Randomization(placement=sn.Placement(min_rotation_deg=(-2, -2, -2), max_rotation_deg=(2, 2, 2)))
    return path, recorded(path, noise=noise, normalize=True, randomize=placed)


def pixels(message, dtype, *tail):
    return np.frombuffer(bytes(message.data), dtype).reshape(12, 16, *tail)


def test_distances_are_meters_with_what_is_none_by_rep_118(run, read_back):
    path, reading = run
    for name in ("depth", "range"):
        for (message,) in read_back(path, f"/eye/{name}"):
            assert (message.encoding, message.header.frame_id) == ("32FC1", "eye_optical")
            told, shown = pixels(message, "<f4"), reading.images[name]
            assert np.isnan(told[shown == 0.0]).all()
            assert (told[shown == 1.0] == np.inf).all()
            assert (told[shown == -1.0] == -np.inf).all()
            measured = np.isfinite(told)
            np.testing.assert_array_equal(measured, reading.valid)
            assert min(measured.sum(), (shown == 0.0).sum(), (shown == 1.0).sum(), (shown == -1.0).sum()) > 3
            np.testing.assert_allclose(told[measured], 8.0 * shown[measured])


@pytest.mark.parametrize(
    ("name", "encoding", "dtype", "tail"),
    [
        ("segmentation", "16SC1", "<i2", ()),
        ("object_id", "32SC1", "<i4", ()),
        ("face_id", "32SC1", "<i4", ()),
        ("normals", "32FC3", "<f4", (3,)),
        ("flow", "32FC2", "<f4", (2,)),
        ("scene_flow", "32FC3", "<f4", (3,)),
        ("color", "rgb8", "u1", (3,)),
    ],
)
def test_other_outputs_come_back_as_they_are(run, read_back, name, encoding, dtype, tail):
    path, reading = run
    for (message,) in read_back(path, f"/eye/{name}"):
        assert message.encoding == encoding
        np.testing.assert_array_equal(pixels(message, dtype, *tail), reading.images[name])


def test_points_are_a_cloud_of_what_was_measured_with_labels(run, read_back):
    path, reading = run
    for (message,) in read_back(path, "/eye/points"):
        assert message.header.frame_id == "eye"
        assert [field.name for field in message.fields] == ["x", "y", "z", "label"]
        kind = np.dtype([("xyz", "<f4", 3), ("label", "<i4")])
        records = np.frombuffer(bytes(message.data), kind)
        np.testing.assert_array_equal(records["xyz"], reading.points[reading.valid])
        np.testing.assert_array_equal(records["label"], reading.segmentation[reading.valid])


def test_the_projection_and_the_place_of_a_drawn_camera(run, read_back):
    path, reading = run
    for (info,) in read_back(path, "/eye/camera_info"):
        assert (info.k[0], info.k[2], info.k[5]) == (LENS.focal_px[0], 7.5, 5.5)
        assert info.distortion_model == "plumb_bob"
    for (pose,) in read_back(path, "/eye/pose"):
        q = pose.pose.orientation
        np.testing.assert_allclose([q.w, q.x, q.y, q.z], reading.X_WS[0, 0, 0].quaternion)
        assert pose.header.frame_id == "world"


def test_of_lenses_to_choose_from_the_one_chosen_is_told(tmp_path, read_back):
    bent = LENS.model_copy(update={"distortion": (-0.1, 0.01, 0.001, -0.002, 0.0)})
    wide = sn.patterns.Fisheye.from_fov(16, 12, 150.0, rate_hz=10.0, distortion=(0.02, -0.01, 0.0, 0.0))
    models = set()
    for number, chosen in enumerate([(bent, wide), (wide, bent), (wide,), (bent,)]):
        path = tmp_path / f"{number}.mcap"
        reading = recorded(path, randomize=sn.Randomization(projections=chosen))
        lens = chosen[reading.projection.item()]
        for (info,) in read_back(path, "/eye/camera_info"):
            assert info.distortion_model == ("equidistant" if lens is wide else "plumb_bob")
            assert tuple(info.d) == lens.distortion
            assert info.k[0] == lens.focal_px[0]
            models.add(info.distortion_model)
    assert models == {"equidistant", "plumb_bob"}


def test_large_labels_need_more_bits(tmp_path, read_back):
    reading = recorded(tmp_path / "run.mcap", label=70_000)
    for (message,) in read_back(tmp_path / "run.mcap", "/eye/segmentation"):
        assert message.encoding == "32SC1"
        np.testing.assert_array_equal(pixels(message, "<i4"), reading.segmentation)
