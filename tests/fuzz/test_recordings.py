"""MCAP recordings: messages and schemas, what is shown of them, and what was written comes back."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcap.writer import CompressionType

from fuzz.promise import check
from fuzz.readers import READERS
from fuzz.readers.recordings import cloud, encoded, joints, tf, written
from fuzz.strategies import attempts
from sensorium.core.errors import SpecError
from sensorium.files.mcap_reading import BoundedFile
from sensorium.record.mcap.recover import recover
from sensorium.view.viewer.mcap_file import show_mcap
from sensorium.view.viewer.stream import Stream
from sensorium.worlds import Replay

# Rerun's threads take memory when they like, and not what a reader may take: they get a process of their own
SHOWN = ["mcap-show", "mcap-show-message"]


@attempts()
@given(
    positions=st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=6),
    compression=st.sampled_from(list(CompressionType)),
    chunked=st.booleans(),
)
def test_what_is_recorded_comes_back(folder, positions, compression, chunked):
    messages = [joints(k, wheel=position) for k, position in enumerate(positions)]
    messages += [tf(k, ("world", "car")) for k in range(len(positions))]
    path = folder / "run.mcap"
    path.write_bytes(written(encoded(messages), compression=compression, chunked=chunked))
    world = Replay.from_mcap(path)
    np.testing.assert_array_equal(world.tracks["car"].poses.position[:, 0], 0.5 * np.arange(len(positions)))
    assert world.joints["wheel"].position[0] == positions[0]

    # A whole file is recovered whole
    found = recover(path, folder / "again.mcap", force=True).messages
    assert found == {"/tf": len(positions), "/joint_states": len(positions)}


def refused(folder, name, data, says):
    reader = READERS[name]
    assert not check(reader, data, folder)
    with pytest.raises(SpecError, match=says):
        reader.read(folder / f"input{reader.suffix}")


@pytest.mark.parametrize("compression", [CompressionType.ZSTD, CompressionType.LZ4])
def test_bombs_are_not_unpacked(folder, compression):
    """A hundred megabytes of zeros in some kilobytes; all but the bound lies in the promise."""
    message = ("/tf", "tf2_msgs/msg/TFMessage", bytes(100 << 20))
    data = written([message], compression=compression)
    if compression == CompressionType.ZSTD:
        refused(folder, "mcap-replay", data, "a chunk of .* bytes claims to unpack to .*; it may to")
        path = folder / "input.mcap"
        assert recover(path, folder / "again.mcap", force=True).lost_chunks == 1
    assert len(data) < 1 << 20


@pytest.mark.parametrize("name", ["mcap-replay", "mcap-log"])
def test_lengths_beyond_the_end_ask_for_no_memory(folder, name):
    whole = READERS[name].seeds(folder)[0]
    at = whole.index(b"/tf" if name == "mcap-replay" else b"/imu") - 4
    refused(folder, name, whole[:at] + b"\xff\xff\xff\xfe" + whole[at + 4 :], "is not a whole MCAP file")


def test_a_file_reads_no_further_than_its_end(folder):
    path = folder / "short.bin"
    path.write_bytes(b"12345")
    with path.open("rb") as file:
        bounded = BoundedFile(file)
        assert (bounded.size, bounded.read(3), bounded.read(2)) == (5, b"123", b"45")
        bounded.seek(4)
        with pytest.raises(EOFError, match="2 bytes are claimed where 1 are left"):
            bounded.read(2)


@pytest.mark.parametrize("frames", [[("a", "b"), ("b", "a")], [("a", "a")], [("a", "b"), ("b", "c"), ("c", "a")]])
def test_frames_that_sit_on_each_other_have_no_place(folder, frames):
    """The viewer went round for ever."""
    path = folder / "circle.mcap"
    path.write_bytes(written(encoded([tf(0, *frames)])))
    stream = Stream(folder / "circle.rrd", "Circle")
    with pytest.raises(SpecError, match="frames must form a tree"):
        show_mcap(path, stream)
    stream.abandon()


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("x", float("inf"), "x of a point is infinite"),
        ("time", float("nan"), "more than 1e.06 s from its cloud's stamp, or at no time"),
        ("time", 1e10, "more than 1e.06 s from its cloud's stamp"),
    ],
)
def test_points_without_a_place_or_a_time_are_told(folder, field, value, says):
    points = np.zeros(3, [(name, "<f4") for name in ("x", "y", "z", "time")])
    points[field][1] = value
    path = folder / "cloud.mcap"
    path.write_bytes(written(encoded([cloud(0, points)])))
    stream = Stream(folder / "cloud.rrd", "Cloud")
    with pytest.raises(SpecError, match=says):
        show_mcap(path, stream)
    stream.abandon()


def test_points_that_were_not_measured_are_shown(folder):
    """NaN of either kind: those that signal warned."""
    points = np.zeros(3, [(name, "<f4") for name in ("x", "y", "z", "time")])
    points["x"][1] = np.nan
    points["y"].view(np.uint32)[2] = 0x7F800001
    path = folder / "cloud.mcap"
    path.write_bytes(written(encoded([tf(0, ("world", "car")), cloud(0, points)])))
    stream = Stream(folder / "cloud.rrd", "Cloud")
    assert show_mcap(path, stream) == 2
    stream.abandon()


def test_points_too_far_away_for_a_number_are_told(folder):
    points = np.zeros(1, [(name, "<f8") for name in ("x", "y", "z")])
    points["x"], points["y"] = 1.7e308, 1.7e308
    path = folder / "far.mcap"
    car = tf(0, ("world", "car"), turned=(np.cos(-np.pi / 8), 0.0, 0.0, np.sin(-np.pi / 8)))
    path.write_bytes(written(encoded([car, cloud(0, points)])))
    stream = Stream(folder / "far.rrd", "Far")
    with pytest.raises(SpecError, match="points of frame 'car' are too far away for a number"):
        show_mcap(path, stream)
    stream.abandon()


@pytest.mark.slow
def test_wrong_files_are_not_shown(tmp_path):
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "fuzz", *SHOWN, "--inputs", "1000", "--out", str(tmp_path)]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    done = subprocess.run(command, cwd=root, env=paths, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("0 broken") == 2


def test_joints_that_jump_too_far_are_told(folder):
    messages = [tf(0, ("world", "car")), joints(0, wheel=-1.7e308), joints(1, wheel=1.7e308)]
    refused(folder, "mcap-replay", written(encoded(messages)), "joint 'wheel' of 'input.mcap': .* finite")


def test_a_second_header_does_not_begin_the_recovered_file_anew(folder):
    whole = READERS["mcap-recover"].seeds(folder)[0]
    (length,) = struct.unpack_from("<Q", whole, 9)
    head = whole[8 : 17 + length]
    assert check(READERS["mcap-recover"], whole[:8] + head + whole[8:], folder)


def test_types_told_at_length_are_not_parsed(folder):
    schema = b"float64 angular_velocity\n" + b"# a comment\n" * 100_000
    refused(folder, "mcap-log-schema", schema, "is told in .* bytes; it may take 1048576")
