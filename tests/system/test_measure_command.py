"""`sensorium measure` on captures that the test writes."""

import json

from fuzz.readers.lidars import lidar_captures


def test_a_capture_is_measured_as_table_file_and_pictures(command, tmp_path):
    (tmp_path / "room.pcap").write_bytes(lidar_captures(tmp_path)[1])
    done = command(
        *("measure", tmp_path / "room.pcap", "--json", tmp_path / "room.json", "--pictures", tmp_path / "pictures")
    )
    assert done.returncode == 0
    assert "VLP-16 in room.pcap" in done.stdout
    assert "firing_period" in done.stdout
    found = json.loads((tmp_path / "room.json").read_text())
    assert found["device"] == "VLP-16"
    assert {figure["quantity"] for figure in found["figures"]} >= {"firing_period", "quantum", "noise.along_ring"}
    pictures = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert pictures == sorted(f"{curve['quantity'].replace('.', '-')}.png" for curve in found["curves"])


def test_what_cannot_be_measured_is_one_line(command, tmp_path):
    (tmp_path / "a.txt").write_text("nothing")
    for path, sentence in ((tmp_path / "a.txt", "it is none of"), (tmp_path / "none.pcap", "cannot be read")):
        done = command("measure", path)
        assert done.returncode == 2
        assert done.stderr.startswith("sensorium: ")
        assert sentence in done.stderr
        assert done.stderr.count("\n") == 1
