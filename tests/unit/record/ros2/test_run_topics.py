"""Faults as diagnostic_msgs/DiagnosticArray."""

import numpy as np
import pytest
from mcap.reader import make_reader

import sensorium as sn
from sensorium.corruption import FaultEvent
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.run_topics import fault_status, true_pose


def test_an_onset_is_an_error_and_an_end_is_ok_with_its_times():
    onset = fault_status("imu", FaultEvent("stuck", 3, 10), 20)
    end = fault_status("imu", FaultEvent("stuck", 3, 10, 30), 40)
    (active,), (over,) = onset.fields["status"], end.fields["status"]
    assert (active["level"], active["message"]) == (2, "active")
    assert (over["level"], over["message"]) == (0, "over")
    assert active["name"] == over["name"] == "imu: stuck"
    assert {each["key"]: each["value"] for each in active["values"]} == {"world": "3", "start_ns": "10"}
    assert {each["key"]: each["value"] for each in over["values"]} == {"world": "3", "start_ns": "10", "end_ns": "30"}
    assert (onset.stamp_ns, end.stamp_ns) == (20, 40)


def test_it_is_a_message_of_ros():
    from rosbags.typesys import Stores, get_typestore

    message = fault_status("imu", FaultEvent("stuck", 0, 10), 1_500_000_000)
    told = get_typestore(Stores.ROS2_HUMBLE).deserialize_cdr(cdr.encoded(message), message.kind)
    assert (told.header.stamp.sec, told.header.stamp.nanosec, told.header.frame_id) == (1, 500_000_000, "imu")
    assert told.status[0].name == "imu: stuck"
    assert int(told.status[0].level) == 2


def test_each_row_has_its_own_pose_in_the_frame_of_its_world(attached, decoded):
    """3 worlds of 2 sensors, the first of 4 knots; read from the bytes, x y z and then x y z w."""
    pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=20)
    mounts = [sn.Pose(), sn.Pose((0, 1, 0))]
    _, source = attached(sn.Lidar(pattern=pattern), worlds=3, pose=mounts, name="eye", body="car")
    rng = np.random.default_rng(5)
    position, quaternion = rng.normal(size=(4, 3, 2, 3)), rng.normal(size=(4, 3, 2, 4))
    quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
    poses = sn.Pose(position, quaternion)
    for row in range(6):
        world, sensor = divmod(row, 2)
        message = true_pose(poses, row, source, 12_345_678_901 + row)
        assert message.kind == "geometry_msgs/msg/PoseStamped"
        reader = decoded(message)
        assert reader.header() == (12_345_678_901 + row, f"world_{world}/world")
        np.testing.assert_array_equal(reader.take(*"ddd"), position[0, world, sensor])
        x, y, z, w = reader.take(*"dddd")
        found, expected = np.array([w, x, y, z]), quaternion[0, world, sensor]
        np.testing.assert_allclose(found * np.sign(found @ expected), expected, atol=1e-15)
        assert reader.bytes_left() == 0


@pytest.mark.parametrize("randomize", [False, True])
def test_a_recording_has_them_where_the_placement_is_drawn_and_only_there(tmp_path, read_back, randomize):
    pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=20)
    place = sn.Placement(min_translation_m=(-1.0, -1.0, -1.0), max_translation_m=(1.0, 1.0, 1.0))
    drawn = {"randomize": sn.Randomization(when="step", placement=place)} if randomize else {}
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.05), seed=4)
    lidar = env.attach(sn.Lidar(pattern=pattern, **drawn), name="eye")
    true = []
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.25):
            recorder.record(env)
            true += [scan.X_WS.position.reshape(-1, 3)[0] for scan in lidar.readings()]
    with (tmp_path / "run.mcap").open("rb") as file:
        channels = make_reader(file).get_summary().channels.values()
    assert ("/eye/pose" in {channel.topic for channel in channels}) == randomize
    for found in read_back(tmp_path / "run.mcap", "/eye/pose") if randomize else ():
        places = [message.pose.position for message in found]
        assert [(p.x, p.y, p.z) for p in places] == [tuple(p) for p in true]
    assert not randomize or len({tuple(p) for p in true}) == len(true)
