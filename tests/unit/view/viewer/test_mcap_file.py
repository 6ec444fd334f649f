from types import SimpleNamespace

import numpy as np
import pytest
from mcap.writer import Writer

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.record.ros2.message import ENCODINGS, Message, header, image
from sensorium.view.quantities import world_points
from sensorium.view.viewer.mcap_file import can_be_shown, pixels_of, show_mcap
from sensorium.view.viewer.stream import Stream


def recorded(env, path, seconds=0.3):
    sweeps, readings = [], []
    with sn.record.McapRecorder(path) as recorder:
        for _ in env.run(seconds):
            recorder.record(env)
            sweeps += env.sensors["top"].readings()
            readings += env.sensors["imu"].readings()
    return sweeps, readings


def shown(path, tmp_path):
    out = tmp_path / "out.rrd"
    stream = Stream(out, "Run")
    count = show_mcap(path, stream)
    stream.close()
    return out, count


def test_clouds_lie_where_things_are_though_the_lidar_moved(yard, tmp_path, columns):
    sweeps, _ = recorded(yard(), tmp_path / "run.mcap")
    out, _ = shown(tmp_path / "run.mcap", tmp_path)
    clouds = columns(out, "/world/top\\ points", "Points3D:positions")
    assert len(clouds) == len(sweeps) == 3

    # The first sweep began before the first pose in the file, a step after the start
    for (_, points), sweep in zip(clouds[1:], sweeps[1:], strict=True):
        assert points == pytest.approx(world_points(sweep.flat()), abs=1e-3)
    labels = columns(out, "/world/top\\ points", "Points3D:class_ids")[1][1]
    assert labels.tolist() == sweeps[1].flat().label.tolist()


def test_labels_have_their_names_though_clouds_have_numbers(yard, tmp_path, monkeypatch):
    recorded(yard(label="brick wall"), tmp_path / "run.mcap")
    told = []
    monkeypatch.setattr(Stream, "names", lambda stream, labels: told.append(labels))
    shown(tmp_path / "run.mcap", tmp_path)
    assert told[0] == {"ground": 1, "brick wall": 2, "car": 3}


def test_signals_poses_and_faults_are_shown(yard, tmp_path, columns):
    _, readings = recorded(yard(), tmp_path / "run.mcap")
    out, count = shown(tmp_path / "run.mcap", tmp_path)
    forces = columns(out, "/signals/imu/acceleration", "Scalars:scalars")
    assert np.array([v for _, v in forces]) == pytest.approx(np.array([r.acceleration for r in readings]))
    assert len(columns(out, "/signals/gnss/position", "Scalars:scalars")) == 3
    assert len(columns(out, "/world/van", "Transform3D:translation")) == 30
    assert columns(out, "/world/van/top", "Transform3D:translation")[0][1].tolist() == [[0.0, 0.0, 1.0]]
    words = [text.tolist() for _, text in columns(out, "/faults", "TextLog:text")]
    assert words == [["imu: stuck is active"], ["imu: stuck is over"]]
    assert count > 60


def test_every_output_of_a_depth_camera_is_an_image_of_its_own(tmp_path, columns):
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), pose=sn.Pose((3, 0, 0)), label="box")
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1))
    pattern = sn.patterns.Pinhole(width=4, height=3, focal_px=(2.0, 2.0), rate_hz=10.0)
    outputs = ("depth", "range", "segmentation", "object_id", "face_id", "normals", "flow", "scene_flow")
    env.attach(sn.DepthCamera(pattern=pattern, outputs=set(outputs)), name="eye")
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.2):
            recorder.record(env)
    out, _ = shown(tmp_path / "run.mcap", tmp_path)
    assert {name: len(columns(out, f"/images/eye\\/{name}", "Image:buffer")) for name in outputs} == dict.fromkeys(
        outputs, 2
    )


def image_of(encoding):
    fields = {
        "height": 1,
        "width": 1,
        "encoding": encoding,
        "is_bigendian": 0,
        "step": 2,
        "data": np.zeros(2, np.uint8),
    }
    return Message("sensor_msgs/msg/Image", 0, {"header": header(0, "camera"), **fields})


def test_what_is_not_known_is_left_out_with_a_note(tmp_path, columns):
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        recorder.write("/odd/image", image_of("yuv422"))
        recorder.write("/odd/image", image_of("yuv422"), log_ns=5)
        recorder.write("/eye/image", image_of("16SC1"))
        recorder.write("/name", Message("std_msgs/msg/String", 0, {"data": "robot"}))
    notes = []
    stream = Stream(tmp_path / "out.rrd", "Run")
    assert show_mcap(tmp_path / "run.mcap", stream, note=notes.append) == 1
    stream.close()
    assert notes == [
        "'/name' is left out: its messages are 'std_msgs/msg/String'",
        "'/odd/image' is left out: its images are 'yuv422'",
    ]
    assert len(columns(tmp_path / "out.rrd", "/images/eye\\/image", "Image:buffer")) == 1


def test_messages_that_are_not_of_ros_2_are_left_out_with_a_note(tmp_path):
    with (tmp_path / "run.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema("sensor_msgs/msg/Imu", "jsonschema", b"{}")
        writer.add_message(writer.register_channel("/imu", "json", schema), 0, b"{}", 0)
        writer.finish()
    notes = []
    stream = Stream(tmp_path / "out.rrd", "Run")
    assert show_mcap(tmp_path / "run.mcap", stream, note=notes.append) == 0
    stream.close()
    assert notes == ["'/imu' is left out: its messages are written as 'json', and not as cdr (ROS 2)"]


def test_joints_of_a_robot_each_have_their_signals(tmp_path, columns):
    fields = {"name": ["hip", "knee"], "position": np.array([1.0, 2.0]), "effort": np.zeros(0)}
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        for topic, velocity in (("/joint_states", np.zeros(0)), ("/fast/joint_states", np.array([3.0, 4.0]))):
            message = Message(
                "sensor_msgs/msg/JointState", 0, {"header": header(0, ""), **fields, "velocity": velocity}
            )
            recorder.write(topic, message)
    out, count = shown(tmp_path / "run.mcap", tmp_path)
    assert count == 2
    assert columns(out, "/signals/joint_states/knee", "Scalars:scalars")[0][1].tolist() == [2.0]
    assert columns(out, "/signals/fast/knee/velocity", "Scalars:scalars")[0][1].tolist() == [4.0]


def test_worlds_side_by_side_each_have_their_branch(yard, tmp_path, entities):
    recorded(yard(worlds=2), tmp_path / "run.mcap", 0.1)
    out, _ = shown(tmp_path / "run.mcap", tmp_path)
    assert {"/world/world_0\\/top\\ points", "/world/world_1\\/top\\ points"} <= entities(out)


@pytest.mark.parametrize("content", [b"", b"no mcap at all", b"\x89MCAP0\r\n"])
def test_what_is_no_recording_is_one_clear_line(tmp_path, content):
    (tmp_path / "run.mcap").write_bytes(content)
    stream = Stream(tmp_path / "out.rrd", "Run")
    with pytest.raises(SpecError, match=r"'run.mcap' (is not a whole MCAP file|has no summary)"):
        show_mcap(tmp_path / "run.mcap", stream)
    stream.abandon()


def message(**fields):
    return SimpleNamespace(**{"is_bigendian": 0, "width": 2, "height": 2, **fields})


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_that_we_write_can_be_shown(encoding):
    kind, numbers = ENCODINGS[encoding]
    written = np.arange(6 * numbers).reshape((2, 3, numbers) if numbers > 1 else (2, 3)).astype(kind)
    shown = pixels_of(SimpleNamespace(**image(written, encoding, stamp_ns=0, frame_id="camera").fields))
    if encoding in ("32FC2", "32FC3"):
        assert (shown.shape, shown.dtype) == ((2, 3, 3), np.uint8)
    else:
        np.testing.assert_array_equal(shown, written)


def test_padding_order_and_big_endian_numbers():
    padded = message(encoding="bgr8", step=8, data=np.arange(16, dtype=np.uint8))
    np.testing.assert_array_equal(pixels_of(padded)[1], [[10, 9, 8], [13, 12, 11]])
    big = message(encoding="16UC1", step=4, is_bigendian=1, data=np.array([1, 2, 3, 4], ">u2").view(np.uint8))
    np.testing.assert_array_equal(pixels_of(big), [[1, 2], [3, 4]])
    assert pixels_of(big).dtype.isnative
    assert not can_be_shown("yuv422")


def test_vectors_become_colors():
    vectors = np.array([[[2, 0], [0, -1]], [[0, 0], [np.nan, 1]]], np.float32)
    shown = pixels_of(message(encoding="32FC2", step=16, data=vectors.view(np.uint8).reshape(-1)))
    np.testing.assert_array_equal(shown, [[[255, 128, 128], [128, 64, 128]], [[128, 128, 128], [0, 0, 0]]])
