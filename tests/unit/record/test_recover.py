"""Recordings cut off at every place, and processes killed while they record."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from typer.testing import CliRunner

from sensorium.cli import app
from sensorium.errors import RecordError, SpecError
from sensorium.record.mcap import McapRecorder
from sensorium.record.recover import recover
from sensorium.record.ros2.clock import clock

COUNT = 20


def times(path: Path) -> list[int]:
    """Clock messages of a file as an independent decoder gives them [ns]."""
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        assert reader.get_summary() is not None
        return [d.decoded_message.clock.nanosec for d in reader.iter_decoded_messages(topics=["/clock"])]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[bytes, list[int]]:
    """A recording, and its length after each frame."""
    path, ends = tmp_path_factory.mktemp("whole") / "run.mcap", []
    with McapRecorder(path) as recorder:
        for k in range(COUNT):
            recorder.write("/clock", clock(k))
            recorder.flush()
            ends.append(path.stat().st_size)
    return path.read_bytes(), ends


def test_cut_off_anywhere_all_frames_before_are_there(tmp_path, whole):
    content, ends = whole
    rng = np.random.default_rng(1)
    for length in {*rng.integers(60, len(content), 60).tolist(), *ends}:
        (tmp_path / "run.mcap").write_bytes(content[:length])
        if length < ends[0] and length < 80:
            continue
        result = recover(tmp_path / "run.mcap")
        assert result.path == tmp_path / "run.recovered.mcap"
        # A frame's index may be missing, its messages not
        frames = sum(end <= length for end in ends)
        assert times(result.path)[:frames] == list(range(frames))
        assert len(times(result.path)) <= frames + 1
        assert result.messages.get("/clock", 0) == len(times(result.path))
        assert not result.complete
    assert {p.name for p in tmp_path.iterdir()} == {"run.mcap", "run.recovered.mcap"}


def test_a_whole_file_is_said_to_be_whole(tmp_path, whole):
    (tmp_path / "run.mcap").write_bytes(whole[0])
    result = recover(tmp_path / "run.mcap", tmp_path / "again.mcap")
    assert result.complete
    assert (result.lost_bytes, result.lost_chunks, result.messages) == (0, 0, {"/clock": COUNT})
    assert times(tmp_path / "again.mcap") == list(range(COUNT))


def test_a_broken_chunk_costs_that_chunk_alone(tmp_path, whole):
    content, ends = whole
    broken = bytearray(content)
    # The clock's nanoseconds stand at the end of the chunk, before its index
    for at in range(ends[9] + 60, ends[9] + 90):
        broken[at] ^= 0xFF
    (tmp_path / "run.mcap").write_bytes(broken)
    result = recover(tmp_path / "run.mcap")
    assert result.lost_chunks == 1
    assert times(result.path) == [k for k in range(COUNT) if k != 10]


def test_random_bytes_never_end_in_a_traceback(tmp_path, whole):
    rng = np.random.default_rng(2)
    for _ in range(150):
        broken = np.frombuffer(whole[0], np.uint8).copy()
        at = rng.integers(8, len(broken), 5)
        broken[at] = rng.integers(0, 256, 5)
        (tmp_path / "run.mcap").write_bytes(broken.tobytes())
        try:
            recover(tmp_path / "run.mcap")
        except RecordError:
            continue
        assert len(times(tmp_path / "run.recovered.mcap")) <= COUNT


def test_what_is_no_recording_is_refused_and_nothing_written(tmp_path):
    with pytest.raises(SpecError, match="No such file"):
        recover(tmp_path / "none.mcap")
    for content in (b"", b"\x89MCAP0\r\n", b"hello world, this is no recording"):
        (tmp_path / "run.mcap").write_bytes(content)
        with pytest.raises(RecordError, match=r"'run\.mcap' is no MCAP file"):
            recover(tmp_path / "run.mcap")
    with pytest.raises(SpecError, match="the file itself"):
        recover(tmp_path / "run.mcap", tmp_path / "run.mcap")
    with pytest.raises(SpecError, match="folder does not exist"):
        recover(tmp_path / "run.mcap", tmp_path / "no" / "out.mcap")
    assert [p.name for p in tmp_path.iterdir()] == ["run.mcap"]


def test_the_command_line_recovers(tmp_path, whole):
    (tmp_path / "run.mcap").write_bytes(whole[0][: whole[1][6] + 10])
    done = CliRunner().invoke(app, ["recover", str(tmp_path / "run.mcap"), "--out", str(tmp_path / "out.mcap")])
    assert done.exit_code == 0
    assert "7 messages" in done.output
    assert "10 bytes at the end" in done.output
    assert times(tmp_path / "out.mcap") == list(range(7))


# Children of one warm process record a lidar until they are killed; each tells after every step how many it made
KILLED = """
import json, os, random, signal, sys, time
import sensorium as sn

def environment():
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0), label="ground")
    scene.add(sn.shapes.sphere(1.0, subdivisions=3), body="ball", label="ball")
    world = sn.worlds.Kinematic({"ball": sn.paths.Circle(center=(4, 2, 1), radius=2.0, rate=3.0)}, step_s=0.1)
    env = sn.Environment(scene, world)
    pattern = sn.patterns.Spinning(elevation_deg=tuple(range(-32, 0)), columns=1024, rate_hz=10)
    return env, env.attach(sn.Lidar(pattern=pattern), pose=sn.Pose((0, 0, 2)))

env, _ = environment()
env.step()
with sn.record.McapRecorder(sys.argv[1] + "/warm.mcap", env) as recorder:
    recorder.step()
rng, told = random.Random(4), []
for number in range(50):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        env, _ = environment()
        recorder = sn.record.McapRecorder(f"{sys.argv[1]}/{number}.mcap", env)
        while True:
            env.step()
            recorder.step()
            os.write(writing, b"x")
    os.close(writing)
    os.read(reading, 1)
    time.sleep(rng.uniform(0.0, 0.15))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    steps = 1
    while data := os.read(reading, 1 << 16):
        steps += len(data)
    os.close(reading)
    told.append(steps)
env, lidar = environment()
sums = []
for _ in range(max(told) + 1):
    env.step()
    sums.append([float(lidar.read().points.sum(dtype=float)), int(lidar.read().valid.sum())])
print(json.dumps({"told": told, "sums": sums}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="children are forked")
def test_kill_9_at_50_random_moments_loses_at_most_the_frame_in_flight(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, timeout=300, check=True
    )
    report = json.loads(done.stdout)
    assert max(report["told"]) > 3
    for number, steps in enumerate(report["told"]):
        result = recover(tmp_path / f"{number}.mcap")
        recovered = result.messages.get("/lidar/points", 0)
        assert steps - 1 <= recovered <= steps + 1, f"killed after {steps} sweeps, {recovered} recovered"
        with result.path.open("rb") as file:
            reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
            clouds = [d.decoded_message for d in reader.iter_decoded_messages(topics=["/lidar/points"])]
        for cloud, (total, count) in zip(clouds, report["sums"], strict=False):
            assert cloud.width == count
            points = np.frombuffer(bytes(cloud.data), np.uint8).reshape(count, cloud.point_step)[:, :12]
            assert np.ascontiguousarray(points).view("<f4").sum(dtype=float) == pytest.approx(total, rel=1e-9)
