import webbrowser

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError


@pytest.fixture
def opened(monkeypatch):
    """Addresses that the browser was asked to open."""
    addresses = []
    monkeypatch.setattr(webbrowser, "open", lambda address: addresses.append(address) or True)
    return addresses


def test_a_report_and_the_folder_of_one_open_in_the_browser(tmp_path, opened):
    page = tmp_path / "report.html"
    sn.view.Report().save(page)
    (tmp_path / "run.mcap").write_bytes(b"")
    assert sn.view.show(page) == sn.view.show(tmp_path) == f"opened {page}"
    assert opened == [page.resolve().as_uri()] * 2


def test_a_cloud_is_saved_for_rerun(tmp_path, columns):
    text = "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nPOINTS 1\nDATA ascii\n1 2 3\n"
    (tmp_path / "cloud.pcd").write_text(text)
    assert sn.view.show(tmp_path / "cloud.pcd", tmp_path / "out.rrd") == f"wrote {tmp_path / 'out.rrd'}"
    assert columns(tmp_path / "out.rrd", "/world/cloud\\ points", "Points3D:positions")[0][1].tolist() == [[1, 2, 3]]


def test_ply_is_read_by_rerun_itself(tmp_path, entities):
    sn.record.save_ply_points(tmp_path / "cloud.ply", np.ones((3, 3), np.float32))
    sn.view.show(tmp_path / "cloud.ply", tmp_path / "out.rrd")
    assert any("cloud.ply" in name for name in entities(tmp_path / "out.rrd"))


def test_a_folder_is_saved_by_its_recording(yard, tmp_path, entities):
    env = yard()
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.1):
            recorder.record(env)
    sn.view.Report().save(tmp_path / "report.html")
    parts = []
    sn.view.show(tmp_path, tmp_path / "out.rrd", progress=parts.append)
    assert "/world/top\\ points" in entities(tmp_path / "out.rrd")
    assert parts == sorted(parts)
    assert parts[-1] == 1.0


@pytest.mark.parametrize(
    ("name", "rule"),
    [("none.mcap", "does not exist"), ("run.txt", "it must be one of .html, .mcap"), (".", "must have a report.html")],
)
def test_what_cannot_be_shown_is_one_clear_line(tmp_path, name, rule):
    (tmp_path / "run.txt").write_text("words")
    with pytest.raises(SpecError, match=rule):
        sn.view.show(tmp_path / name)


def test_a_broken_recording_leaves_no_file(tmp_path):
    (tmp_path / "run.mcap").write_bytes(b"\x89MCAP0\r\n")
    with pytest.raises(SpecError):
        sn.view.show(tmp_path / "run.mcap", tmp_path / "out.rrd")
    assert [path.name for path in tmp_path.iterdir()] == ["run.mcap"]


def test_only_rrd_is_written(tmp_path):
    (tmp_path / "run.mcap").write_bytes(b"")
    with pytest.raises(SpecError, match=r"it must end in \.rrd"):
        sn.view.show(tmp_path / "run.mcap", tmp_path / "out.mcap")
