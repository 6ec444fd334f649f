"""`sensorium measure` on captures that the test writes."""

import json

import numpy as np

from fuzz import captures
from fuzz.readers.lidars import lidar_captures
from sensorium.recordings.packets import velodyne


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


def room_packets(shift_m=(0.0, 0.0), turns=3):
    """Packets of a VLP-16 in a room of known walls, which shifts from turn to turn."""
    model = velodyne.MODELS[0x22]
    groups, _ = velodyne.layout_of(model, 0x37)
    columns = groups * model.firings_per_block
    packets = turns * 1800 // columns
    firing = np.arange(packets * columns)
    azimuth = np.radians(0.2 * firing)
    rng = np.random.default_rng(1)
    moved = np.outer(firing // 1800, shift_m)
    direction = np.stack([np.cos(azimuth), -np.sin(azimuth)], axis=1)
    to_wall = (np.where(direction > 0.0, [6.0, 4.0], [-6.0, -4.0]) - moved) / (direction + 1e-9)
    range_m = to_wall.min(axis=1)[:, None] + rng.normal(0.0, 0.008, (len(firing), 16))
    shape = (packets, columns, 16, 1)
    fired = velodyne.Firings(
        azimuth=(20 * firing[:: model.firings_per_block] % 36000).reshape(packets, groups).astype(np.uint16),
        distance=np.rint(range_m / model.range_unit_m).reshape(shape).astype(np.uint16),
        reflectivity=np.full(shape, 40, np.uint8),
    )
    time_us = np.rint(55.296 * firing[::columns]).astype(np.int64)
    data = velodyne.encode(velodyne.packets_of(fired, time_us, model, 0x37))
    return [data[k : k + 1206] for k in range(0, len(data), 1206)]


def capture(packets, source="10.0.0.1"):
    return [captures.ethernet(captures.udp(each, source=source, ports=(2368, 2368))) for each in packets]


def test_a_scene_that_moves_is_said_with_the_shift(command, tmp_path):
    for name, shift_m, sentence in (
        ("still", (0.0, 0.0), "the scene is still: it shifts by 0."),
        ("moving", (0.12, 0.0), "the scene moves by 120 mm from turn to turn: noise is measured along rings"),
    ):
        (tmp_path / f"{name}.pcap").write_bytes(captures.pcap(capture(room_packets(shift_m))))
        done = command("measure", tmp_path / f"{name}.pcap")
        assert done.returncode == 0
        assert sentence in done.stdout
    fitted = command("fit", tmp_path / "moving.pcap", "--out", tmp_path / "moving.toml")
    assert fitted.returncode == 0
    assert "along rings" in (tmp_path / "moving.toml").read_text()
    assert "mm from turn to turn" in fitted.stdout


def test_captures_that_are_cut_mixed_or_swapped(command, tmp_path):
    packets = room_packets()
    whole = captures.pcap(capture(packets))
    swapped = [packet for k in range(0, len(packets) - 1, 2) for packet in (packets[k + 1], packets[k])]
    half = len(packets) // 2
    two = [packet for pair in zip(packets[:half], packets[half:], strict=False) for packet in pair]
    other = captures.pcap(capture([bytes(700)] * 40))
    cases = {
        "cut": (whole[: len(whole) * 2 // 3], 0, "the capture was cut off: its last record is left out"),
        "swapped": (captures.pcap(capture(swapped)), 0, "they are sorted by their stamps"),
        "two": (captures.pcap(capture(two)), 2, "has packets of two clocks in one stream"),
        "other": (other, 2, "has no packets of a lidar that is known here: 700 bytes (40 times)"),
        "both": (
            captures.pcap(capture(packets) + capture(packets, "10.0.0.2")), 2,
            "'10.0.0.2:2368 to 2368: VLP-16'; choose one by its stream",
        ),
    }  # fmt: skip
    for name, (content, status, sentence) in cases.items():
        (tmp_path / f"{name}.pcap").write_bytes(content)
        done = command("measure", tmp_path / f"{name}.pcap")
        assert done.returncode == status, name
        assert sentence in (done.stderr if status else done.stdout), name
        assert done.stderr.count("\n") == (1 if status else 0), name
