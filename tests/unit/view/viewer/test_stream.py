import sys

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.view.viewer.stream import Stream


def test_poses_clouds_and_words_come_back(tmp_path, columns):
    path = tmp_path / "run.rrd"
    stream = Stream(path, "Run")
    stream.pose(["van", "top"], sn.Pose.from_euler_deg((1, 2, 3), yaw=90.0), 5_000_000)
    stream.names({"wall": 2})
    stream.cloud("top", np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([2, -1]), 5_000_000)
    stream.words("imu: stuck is active", 7_000_000, is_bad=True)
    stream.image("camera", np.zeros((4, 6, 3), np.uint8), 8_000_000)
    assert not path.exists()
    stream.close()
    ((time_ns, place),) = columns(path, "/world/van/top", "Transform3D:translation")
    assert (time_ns, place.tolist()) == (5_000_000, [[1.0, 2.0, 3.0]])
    half = np.sqrt(0.5)
    assert columns(path, "/world/van/top", "Transform3D:quaternion")[0][1][0] == pytest.approx([0, 0, half, half])
    points = "/world/top\\ points"
    assert columns(path, points, "Points3D:positions")[0][1].tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert columns(path, points, "Points3D:class_ids")[0][1].tolist() == [2, 0]
    assert columns(path, "/faults", "TextLog:text")[0] == (7_000_000, np.array(["imu: stuck is active"]))
    assert columns(path, "/images/camera", "Image:format")
    assert list(tmp_path.iterdir()) == [path]


def test_numbers_keep_their_times_whether_sent_in_one_piece_or_many(tmp_path, columns):
    path = tmp_path / "run.rrd"
    stream = Stream(path, "Run")
    for k in range(2500):
        stream.numbers(["imu", "rate"], ["x", "y"], [k, -k], 1000 * k)
    stream.close()
    rows = columns(path, "/signals/imu/rate", "Scalars:scalars")
    assert [time_ns for time_ns, _ in rows] == [1000 * k for k in range(2500)]
    assert [values.tolist() for _, values in rows] == [[k, -k] for k in range(2500)]
    assert columns(path, "/signals/imu/rate", "SeriesLines:names")[0][1].tolist() == ["x", "y"]


def test_hostile_names_stay_one_part_of_a_path(tmp_path, entities):
    stream = Stream(tmp_path / "run.rrd", "</script>")
    stream.numbers(["a/b ../c", "rate"], ["x"], [1.0], 0)
    stream.close()
    assert "/signals/a\\/b\\ ..\\/c/rate" in entities(tmp_path / "run.rrd")


def test_a_folder_that_does_not_exist_is_one_clear_line(tmp_path):
    with pytest.raises(SpecError, match="its folder does not exist"):
        Stream(tmp_path / "none" / "run.rrd", "Run")


def test_what_is_abandoned_leaves_nothing(tmp_path):
    stream = Stream(tmp_path / "run.rrd", "Run")
    stream.numbers(["imu", "rate"], ["x"], [1.0], 0)
    stream.abandon()
    assert list(tmp_path.iterdir()) == []


def test_without_rerun_the_report_is_pointed_to(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sensorium\[view\]', or open the run's report.html"):
        Stream(tmp_path / "run.rrd", "Run")
