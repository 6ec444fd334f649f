import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.view.viewer.pcd_file import read_pcd


def test_what_was_written_comes_back(yard, tmp_path):
    env = yard()
    for _ in env.run(0.1):
        pass
    scan = env.sensors["top"].read()
    sn.record.save_pcd(tmp_path / "cloud.pcd", scan)
    points, label = read_pcd(tmp_path / "cloud.pcd")
    assert points == pytest.approx(scan.flat().points)
    assert label.tolist() == scan.flat().label.tolist()


TEXT = "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA ascii\n1 2 3\n4 5 6\n"


def test_text_without_labels(tmp_path):
    (tmp_path / "cloud.pcd").write_text(TEXT)
    points, label = read_pcd(tmp_path / "cloud.pcd")
    assert points.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert label.tolist() == [0, 0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no header",
        TEXT.replace("ascii", "binary"),
        TEXT.replace("x y z", "a b c"),
        TEXT.replace("TYPE F", "TYPE Q"),
        TEXT.replace("ascii", "zip"),
    ],
)
def test_what_is_no_cloud_is_one_clear_line(tmp_path, text):
    (tmp_path / "cloud.pcd").write_text(text)
    with pytest.raises(SpecError, match=r"'cloud.pcd' is"):
        read_pcd(tmp_path / "cloud.pcd")
