import numpy as np
import pytest

import sensorium as sn
from sensorium.errors import SpecError
from sensorium.view.scan_rows import world_points
from sensorium.view.viewer.mcap_file import show_mcap
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
