"""`sensorium fit` and `sensorium compare` on a capture that the test writes."""

import sensorium as sn
from fuzz.readers.lidars import lidar_captures


def test_from_a_capture_to_a_device_and_its_page(command, tmp_path):
    (tmp_path / "room.pcap").write_bytes(lidar_captures(tmp_path)[1])
    done = command("fit", tmp_path / "room.pcap", "--out", tmp_path / "mine.toml")
    assert done.returncode == 0, done.stderr
    assert "wrote" in done.stdout
    lidar = sn.Lidar.from_device("mine", folder=tmp_path)
    assert lidar.noise.base_m > 0.0
    told = command("devices", tmp_path / "mine.toml", "--out", tmp_path)
    assert "measured in room.pcap" in told.stdout
    done = command(
        *("compare", tmp_path / "room.pcap", "--sheet", tmp_path / "mine.toml", "--out", tmp_path / "page.html")
    )
    assert done.returncode == 0, done.stderr
    assert "VLP-16 beside mine" in done.stdout
    assert "A figure agrees if" in done.stdout
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")


def test_what_cannot_be_done_is_one_line(command, tmp_path):
    (tmp_path / "a.txt").write_text("nothing")
    (tmp_path / "room.pcap").write_bytes(lidar_captures(tmp_path)[1])
    room = tmp_path / "room.pcap"
    for words, sentence in (
        (("fit", tmp_path / "a.txt", "--out", tmp_path / "x.toml"), "it is none of"),
        (("fit", room, "--out", tmp_path / "x.txt"), "a data sheet must end in .toml"),
        (("compare", room, "--device", "velodyne-vlp16", "--sheet", "x.toml"), "give one of them"),
        (("compare", room, "--device", "velodyne-vls128", "--out", tmp_path / "x.html"), "has 128 channels"),
        (("compare", room, "--out", tmp_path / "x.pdf"), "a page must end in .html"),
    ):
        done = command(*words)
        assert done.returncode == 2, words
        assert done.stderr.startswith("sensorium: ")
        assert sentence in done.stderr
        assert done.stderr.count("\n") == 1
