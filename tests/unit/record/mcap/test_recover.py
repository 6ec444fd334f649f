"""Recordings cut off at every place, and processes killed while they record."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mcap.data_stream import RecordBuilder
from mcap.reader import make_reader
from mcap.records import Channel
from mcap.writer import CompressionType, Writer
from mcap_ros2.decoder import DecoderFactory
from typer.testing import CliRunner

from sensorium.app.cli import app
from sensorium.core.errors import RecordError, SpecError
from sensorium.record.mcap.file import McapFile
from sensorium.record.mcap.recorder import McapRecorder
from sensorium.record.mcap.recover import recover
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import DeferredBytes, Message, header
from sensorium.record.ros2.run_topics import clock

COUNT = 20


def times(path: Path) -> list[int]:
    """Clock messages of a file as an independent decoder gives them [ns]."""
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        assert reader.get_summary() is not None
        return [d.decoded_message.clock.nanosec for d in reader.iter_decoded_messages(topics=["/clock"])]


@pytest.fixture(scope="module", params=[1, 10**9], ids=["one chunk", "a chunk each"])
def whole(request, tmp_path_factory) -> tuple[bytes, list[int]]:
    """A recording, and its length after each frame: messages so close that one chunk holds all, or a second apart."""
    path, ends = tmp_path_factory.mktemp("whole") / "run.mcap", []
    with McapRecorder(path) as recorder:
        for k in range(COUNT):
            recorder.write("/clock", clock(k), log_ns=k * request.param)
            ends.append(path.stat().st_size)
    return path.read_bytes(), ends


def test_cut_off_anywhere_all_frames_before_are_there(tmp_path, whole):
    content, ends = whole
    rng = np.random.default_rng(1)
    for length in {*rng.integers(60, len(content), 60).tolist(), *ends}:
        (tmp_path / "run.mcap").write_bytes(content[:length])
        if length < ends[0] and length < 80:
            continue
        result = recover(tmp_path / "run.mcap", force=True)
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


def test_a_broken_chunk_costs_that_chunk_alone(tmp_path):
    ends = []
    with McapRecorder(tmp_path / "run.mcap") as recorder:
        for k in range(COUNT):
            recorder.write("/clock", clock(k), log_ns=k * 10**9)
            ends.append((tmp_path / "run.mcap").stat().st_size)
    broken = bytearray((tmp_path / "run.mcap").read_bytes())
    # The clock's seconds and nanoseconds are the last that was written
    for at in range(ends[10] - 8, ends[10]):
        broken[at] ^= 0xFF
    (tmp_path / "run.mcap").write_bytes(broken)
    result = recover(tmp_path / "run.mcap")
    assert result.lost_chunks == 1
    assert times(result.path) == [k for k in range(COUNT) if k != 10]


def test_a_cloud_that_was_not_there_yet_costs_nothing_else(tmp_path):
    data = DeferredBytes(1 << 20, lambda out: out.fill(7))
    file = McapFile(tmp_path / "run.mcap", profile="ros2", library="test")
    schema = file.schema("sensor_msgs/msg/Image", "ros2msg", cdr.definition("sensor_msgs/msg/Image"))
    channel = file.channel("/image", "cdr", schema, {})
    for k in range(4):
        message = Message(
            "sensor_msgs/msg/Image",
            k,
            {
                "header": header(k, "eye"),
                "height": 1024,
                "width": 1024,
                "encoding": "mono8",
                "is_bigendian": 0,
                "step": 1024,
                "data": data,
            },
        )
        head, later, tail = cdr.parts(message)
        place = file.place(channel, (head, later.length, tail), log_ns=k, publish_ns=k)
        if k != 2:
            place.fill(later.materialize())
    file.message(channel, cdr.encoded(message), log_ns=9, publish_ns=9)
    file.flush()
    result = recover(tmp_path / "run.mcap")
    assert (result.lost_chunks, result.messages, result.complete) == (1, {"/image": 4}, False)
    with result.path.open("rb") as read:
        messages = list(make_reader(read, decoder_factories=[DecoderFactory()]).iter_decoded_messages())
    assert [m.message.log_time for m in messages] == [0, 1, 3, 9]
    assert all(bytes(m.decoded_message.data) == b"\7" * (1 << 20) for m in messages)
    file.close()


def test_random_bytes_never_end_in_a_traceback(tmp_path, whole):
    rng = np.random.default_rng(2)
    for _ in range(150):
        broken = np.frombuffer(whole[0], np.uint8).copy()
        at = rng.integers(8, len(broken), 5)
        broken[at] = rng.integers(0, 256, 5)
        (tmp_path / "run.mcap").write_bytes(broken.tobytes())
        try:
            recover(tmp_path / "run.mcap", force=True)
        except RecordError:
            continue
        # What has no checksum, as the end of a file that is cut off, may be wrong; yet it is an MCAP file
        with (tmp_path / "run.recovered.mcap").open("rb") as file:
            assert len(list(make_reader(file, validate_crcs=True).iter_messages())) <= COUNT


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


def test_what_stands_there_is_replaced_only_when_asked(tmp_path, whole):
    (tmp_path / "run.mcap").write_bytes(whole[0])
    (tmp_path / "run.recovered.mcap").write_text("mine")
    with pytest.raises(SpecError, match=r"out is '.*run\.recovered\.mcap', which exists; .* replace it with --force"):
        recover(tmp_path / "run.mcap")
    assert (tmp_path / "run.recovered.mcap").read_text() == "mine"
    command = ["recover", str(tmp_path / "run.mcap")]
    assert CliRunner().invoke(app, command).exit_code != 0
    done = CliRunner().invoke(app, [*command, "--force"])
    assert done.exit_code == 0
    assert times(tmp_path / "run.recovered.mcap") == list(range(COUNT))
    size = (tmp_path / "run.recovered.mcap").stat().st_size
    assert 1000 < size < 50_000
    assert f"({size / 1000:.1f} kB)" in done.output


def test_what_is_recovered_out_of_an_unfinished_run_lies_beside_its_folder(tmp_path, whole, monkeypatch):
    """The next run begins the folder again, with all that lies in it."""
    (tmp_path / "results.part").mkdir()
    (tmp_path / "results.part" / "run.mcap").write_bytes(whole[0])
    monkeypatch.chdir(tmp_path / "results.part")
    assert recover("run.mcap").path == tmp_path / "results.recovered.mcap"
    assert times(tmp_path / "results.recovered.mcap") == list(range(COUNT))


def test_what_is_dropped_is_told(tmp_path):
    """A message of a channel that is lost, a channel of a schema that is, and a channel that takes another's number."""
    path = tmp_path / "run.mcap"
    with path.open("wb") as file:
        writer = Writer(file, use_chunking=False)
        writer.start()
        first = writer.register_channel("/first", "json", writer.register_schema("a", "jsonschema", b"{}"))
        writer.add_message(first, 1, b"{}", 1)
        writer.add_message(77, 2, b"{}", 2)
        for channel in (Channel(9, "/lost", "json", {}, 55), Channel(first, "/second", "json", {}, 1)):
            builder = RecordBuilder()
            channel.write(builder)
            file.write(builder.end())
        writer.add_message(9, 3, b"{}", 3)
        writer.add_message(first, 4, b"{}", 4)
    result = recover(path)
    assert result.messages == {"/first": 2}
    assert result.dropped == {
        "messages whose channel was lost": 2,
        "channels whose schema was lost": 1,
        "channels that another one of their number came before": 1,
    }
    assert not result.complete
    told = CliRunner().invoke(app, ["recover", str(path), "--force"]).output
    assert "2 messages whose channel was lost" in told


def test_bytes_after_the_end_are_told(tmp_path, whole):
    (tmp_path / "run.mcap").write_bytes(whole[0] + bytes(100))
    result = recover(tmp_path / "run.mcap")
    assert (result.lost_bytes, result.complete) == (100, False)


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_file_is_neither_read_nor_replaced(tmp_path, whole, kind):
    (tmp_path / "run.mcap").write_bytes(whole[0])
    other = tmp_path / "other"
    os.mkfifo(other) if kind == "pipe" else other.mkdir()
    with pytest.raises(SpecError, match=r"cannot be read: (it is a pipe|Is a directory)"):
        recover(other, tmp_path / "new.mcap")
    with pytest.raises(SpecError, match="which is no file; it must be a file or a new name"):
        recover(tmp_path / "run.mcap", other, force=True)


@pytest.mark.parametrize("compression", [CompressionType.ZSTD, CompressionType.LZ4])
def test_chunks_that_together_unpack_to_too_much_are_refused(tmp_path, compression):
    """Each chunk keeps to its own limit."""
    path = tmp_path / "run.mcap"
    with path.open("wb") as file:
        writer = Writer(file, compression=compression, chunk_size=1)
        writer.start()
        channel = writer.register_channel("/x", "json", 0)
        for k in range(3):
            writer.add_message(channel, k, bytes(30 << 20), k)
        writer.finish()
    if compression == CompressionType.LZ4:  # 255 to 1 is all that it packs: the file accounts for it
        assert recover(path).messages == {"/x": 3}
        return
    with pytest.raises(RecordError, match=r"a file of \d+ bytes unpacks to \d+ bytes or more; it may to \d+"):
        recover(path)
    assert [file.name for file in tmp_path.iterdir()] == ["run.mcap"]


def test_the_command_line_recovers(tmp_path, whole):
    (tmp_path / "run.mcap").write_bytes(whole[0][: whole[1][6] + 10])
    done = CliRunner().invoke(app, ["recover", str(tmp_path / "run.mcap"), "--out", str(tmp_path / "out.mcap")])
    assert done.exit_code == 0
    assert "7 messages" in done.output
    assert "10 bytes at the end" in done.output
    assert times(tmp_path / "out.mcap") == list(range(7))


# Children of one warm process record until they are killed; each tells after every step that it made it
KILLED = """
import json, os, random, signal, sys, time
import sensorium as sn

folder, step_s = sys.argv[1], float(sys.argv[2])
sensors = sys.argv[3:]

def environment():
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0), label="ground")
    scene.add(sn.shapes.sphere(1.0, subdivisions=3), body="ball", label="ball")
    world = sn.worlds.Kinematic({"ball": sn.paths.Circle(center=(4, 2, 1), radius=2.0, rate=3.0)}, step_s=step_s)
    env = sn.Environment(scene, world)
    if "lidar" in sensors:
        pattern = sn.patterns.Spinning(elevation_deg=tuple(range(-32, 0)), columns=1024, rate_hz=10)
        env.attach(sn.Lidar(pattern=pattern), pose=sn.Pose((0, 0, 2)))
    if "imu" in sensors:
        env.attach(sn.Imu(timing=sn.Timing(rate_hz=1000.0)), body="ball")
    return env

env = environment()
with sn.record.McapRecorder(folder + "/warm.mcap") as recorder:
    for _ in env.run(0.1):
        recorder.record(env)
rng, told = random.Random(4), []
for number in range(50):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        env = environment()
        recorder = sn.record.McapRecorder(f"{folder}/{number}.mcap")
        while True:
            env.step()
            recorder.record(env)
            os.write(writing, b"x")
    os.close(writing)
    # After as many steps as chance says, on fast machines and slow ones, and somewhere in the next
    steps, wanted = 0, rng.randint(1, max(8, round(0.25 / step_s)))
    while steps < wanted:
        data = os.read(reading, wanted - steps)
        assert data, "a child ended by itself"
        steps += len(data)
    time.sleep(rng.uniform(0.0, 0.01))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while data := os.read(reading, 1 << 16):
        steps += len(data)
    os.close(reading)
    told.append(steps)
env = environment()
sweeps, rates = [], []
for _ in range(max(told) + 1):
    env.step()
    if "lidar" in sensors and env.sensors["lidar"].fresh:
        scan = env.sensors["lidar"].read()
        sweeps.append([len(rates), float(scan.points.sum(dtype=float)), int(scan.valid.sum())])
    if "imu" in sensors:
        rates.append(env.sensors["imu"].read().acceleration.tolist())
    else:
        rates.append(None)
print(json.dumps({"told": told, "sweeps": sweeps, "rates": rates}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize(
    ("step_s", "sensors"), [(0.1, ["lidar"]), (0.001, ["imu"]), (0.001, ["lidar", "imu"])], ids=str
)
def test_kill_9_at_50_random_moments_loses_at_most_the_frame_in_flight(tmp_path, step_s, sensors):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(step_s), *sensors],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    report = json.loads(done.stdout)
    assert max(report["told"]) > 3
    for number, steps in enumerate(report["told"]):
        result = recover(tmp_path / f"{number}.mcap")
        with result.path.open("rb") as file:
            reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
            found: dict[str, list] = {}
            for decoded in reader.iter_decoded_messages():
                found.setdefault(decoded.channel.topic, []).append(decoded.decoded_message)

        # Of short messages nothing is lost at all
        assert len(found["/clock"]) in (steps, steps + 1)
        if "imu" in sensors:
            rates = [
                [m.linear_acceleration.x, m.linear_acceleration.y, m.linear_acceleration.z]
                for m in found["/imu/data_raw"]
            ]
            assert len(rates) in (steps, steps + 1)
            assert rates == report["rates"][: len(rates)]

        # Of sweeps, the one that was being written
        if "lidar" in sensors:
            ended = sum(step < steps for step, *_ in report["sweeps"])
            clouds = found.get("/lidar/points", [])
            assert ended - 1 <= len(clouds) <= ended + 1, f"killed after {ended} sweeps, {len(clouds)} recovered"
            for cloud, (_, total, count) in zip(clouds, report["sweeps"], strict=False):
                assert cloud.width == count
                points = np.frombuffer(bytes(cloud.data), np.uint8).reshape(count, cloud.point_step)[:, :12]
                assert np.ascontiguousarray(points).view("<f4").sum(dtype=float) == pytest.approx(total, rel=1e-9)
