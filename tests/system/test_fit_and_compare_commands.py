"""`sensorium fit` and `sensorium compare` on a capture that the test writes."""

import numpy as np
import pytest

import sensorium as sn
from fuzz.readers import READERS
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


def write_radar_list(path):
    """Detections of a radar at 9 m/s by NumPy, as a driver prints them."""
    rng = np.random.default_rng(5)
    azimuth, elevation = rng.uniform(-0.8, 0.8, 120), rng.uniform(-0.1, 0.1, 120)
    rate = -9.0 * np.cos(azimuth) * np.cos(elevation) + rng.normal(0.0, 0.03, 120)
    lines = ["header:", "  stamp:", "    sec: 1", "ambiguity_free_velocity_max: 25.0", "detections:"]
    for range_m, *angles, v in zip(rng.uniform(5.0, 90.0, 120), azimuth, elevation, rate, strict=True):
        lines += [f"  - azimuth_angle: {angles[0]:.6g}", f"    elevation_angle: {angles[1]:.6g}"]
        lines += [f"    range: {range_m:.6g}", f"    range_rate: {v:.6g}"]
    path.write_text("\n".join(lines) + "\n")


def test_from_a_radar_list_to_a_device_and_its_page(command, tmp_path):
    write_radar_list(tmp_path / "list.yaml")
    done = command("fit", tmp_path / "list.yaml", "--out", tmp_path / "mine.toml")
    assert done.returncode == 0, done.stderr
    assert "use it by sn.Radar.from_device" in done.stdout
    assert 0.01 < sn.Radar.from_device("mine", folder=tmp_path).speed.noise.std < 0.06
    words = ("compare", tmp_path / "list.yaml", "--sheet", tmp_path / "mine.toml", "--out", tmp_path / "page.html")
    done = command(*words)
    assert done.returncode == 0, done.stderr
    assert "radar beside mine" in done.stdout
    assert "doppler_noise" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("name", ["emva1288", "realsense-bag", "las-waveforms", "radar-list"])
def test_files_that_are_cut_off_are_refused_in_one_line(command, tmp_path, name):
    reader = READERS[name]
    path = tmp_path / ("EMVA1288_Data.txt" if name == "emva1288" else f"cut{reader.suffix}")
    whole = reader.seeds(tmp_path)[0]
    path.write_bytes(whole[: len(whole) // 3])
    for words in (("fit", path, "--out", tmp_path / "x.toml"), ("compare", path, "--out", tmp_path / "x.html")):
        done = command(*words)
        assert done.returncode == 2, done.stdout
        assert done.stderr.startswith("sensorium: ")
        assert done.stderr.count("\n") == 1
        assert not (tmp_path / str(words[-1])).exists()


def test_devices_and_recordings_of_another_kind_are_refused_in_one_line(command, tmp_path):
    write_radar_list(tmp_path / "list.yaml")
    objects = (tmp_path / "list.yaml").read_text().replace("detections:", "objects:")
    (tmp_path / "objects.yaml").write_text(objects)
    (tmp_path / "base.obs").write_bytes(READERS["rinex"].seeds(tmp_path)[0])
    out = ("--out", tmp_path / "x.html")
    for words, sentence in (
        (
            ("compare", tmp_path / "list.yaml", "--device", "velodyne-vlp16", *out),
            "is of kind 'lidar'; 'list.yaml' is of",
        ),
        (("compare", tmp_path / "objects.yaml", *out), "has no detections"),
        (("fit", tmp_path / "base.obs", "--out", tmp_path / "x.toml"), "can be measured, not fitted or compared"),
        (("fit", tmp_path / "list.yaml", "--gravity", "9.8", "--out", tmp_path / "x.toml"), "has no use for it"),
    ):
        done = command(*words)
        assert done.returncode == 2, words
        assert sentence in done.stderr
        assert done.stderr.count("\n") == 1
