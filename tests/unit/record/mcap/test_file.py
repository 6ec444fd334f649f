"""MCAP files as they are laid out: the same bytes every time, with every index, by independent readers."""

import io
import time
import tracemalloc

import numpy as np
import pytest
from mcap.reader import NonSeekingReader, make_reader
from mcap.records import Chunk, Message, MessageIndex
from mcap.stream_reader import StreamReader, breakup_chunk

import sensorium as sn
from sensorium.record.mcap.file import McapFile
from sensorium.record.mcap.recorder import McapRecorder
from sensorium.record.ros2.message import DeferredBytes
from sensorium.record.ros2.run_topics import clock


def recorded(path, *, slow_s=0.0):
    """A lidar whose clouds are long, and an IMU, recorded by a thread that is as slow as asked for."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0))
    world = sn.worlds.Kinematic({"car": sn.paths.Line((0, 0, 1), velocity=(5, 0, 0))}, step_s=0.01)
    env = sn.Environment(scene, world, seed=2)
    pattern = sn.patterns.Spinning(elevation_deg=tuple(range(-16, 0)), columns=512, rate_hz=20)
    env.attach(sn.Lidar(pattern=pattern), body="car")
    env.attach(sn.Imu(linear={"noise": {"std": 0.1}}), body="car")
    with McapRecorder(path) as recorder:
        fill = recorder._background._work

        def slowly(places):
            time.sleep(slow_s)
            fill(places)

        recorder._background._work = slowly
        for _ in env.run(0.3):
            recorder.record(env)
    return path.read_bytes()


def test_bytes_depend_on_what_was_recorded_alone(tmp_path):
    first = recorded(tmp_path / "a.mcap")
    assert len(first) > 1_000_000
    assert recorded(tmp_path / "b.mcap", slow_s=0.05) == first


def test_every_message_is_indexed_and_every_chunk(tmp_path):
    content = recorded(tmp_path / "run.mcap")
    summary = make_reader(io.BytesIO(content)).get_summary()
    records = list(StreamReader(io.BytesIO(content), emit_chunks=True, validate_crcs=True).records)
    chunks = [record for record in records if isinstance(record, Chunk)]
    assert summary.statistics.chunk_count == len(chunks) == len(summary.chunk_indexes)
    assert sum(isinstance(record, MessageIndex) for record in records) > len(chunks)

    # Offsets of all indexes lead to the messages
    counted: dict[int, int] = {}
    for index, chunk in zip(summary.chunk_indexes, chunks, strict=True):
        messages = [record for record in breakup_chunk(chunk, validate_crc=True) if isinstance(record, Message)]
        times = [message.log_time for message in messages]
        assert (index.message_start_time, index.message_end_time) == (min(times), max(times))
        for channel, at in index.message_index_offsets.items():
            entry = next(StreamReader(io.BytesIO(content[at:]), skip_magic=True).records)
            assert entry.channel_id == channel
            for log_time, offset in entry.records:
                inside = next(StreamReader(io.BytesIO(chunk.data[offset:]), skip_magic=True).records)
                assert (inside.channel_id, inside.log_time) == (channel, log_time)
                counted[channel] = counted.get(channel, 0) + 1
    assert counted == summary.statistics.channel_message_counts
    assert sum(counted.values()) == summary.statistics.message_count
    assert summary.statistics.message_start_time == 10_000_000
    assert summary.statistics.message_end_time == 300_000_000


@pytest.mark.filterwarnings("ignore:.*_time is deprecated")  # newer names are not in the oldest mcap that will do
def test_a_span_of_time_can_be_read_by_itself_and_without_seeking(tmp_path):
    content = recorded(tmp_path / "run.mcap")
    whole = [(c.topic, m.log_time, m.data) for _, c, m in make_reader(io.BytesIO(content)).iter_messages()]
    span = make_reader(io.BytesIO(content)).iter_messages(start_time=100_000_000, end_time=200_000_000)
    assert [(c.topic, m.log_time, m.data) for _, c, m in span] == [
        one for one in whole if 100_000_000 <= one[1] < 200_000_000
    ]
    streamed = NonSeekingReader(io.BytesIO(content)).iter_messages()
    assert sorted((c.topic, m.log_time, m.data) for _, c, m in streamed) == sorted(whole)


def test_chunks_end_by_size_and_by_span(tmp_path):
    path = tmp_path / "run.mcap"
    file = McapFile(path, profile="", library="test")
    channel = file.channel("/x", "json", 0, {})
    for k in range(48):
        file.message(channel, bytes(1 << 16), log_ns=k, publish_ns=k)
    for k in range(1, 6):
        file.message(channel, b"{}", log_ns=k * 500_000_000, publish_ns=0)
    file.finish()
    file.close()
    chunks = [r for r in StreamReader(path.open("rb"), emit_chunks=True).records if isinstance(r, Chunk)]
    assert [chunk.message_start_time for chunk in chunks] == [0, 16, 32, 500_000_000, 1_500_000_000, 2_500_000_000]


def test_a_file_that_is_open_keeps_no_more_of_a_chunk_than_its_record_in_the_index(tmp_path):
    file = McapFile(tmp_path / "run.mcap", profile="", library="test")
    channel = file.channel("/x", "json", 0, {})

    def long_ones(count):
        for k in range(count):
            file.place(channel, (b"<", 8, b">"), log_ns=k, publish_ns=k)

    long_ones(100)
    tracemalloc.start()
    long_ones(2000)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    file.finish()
    file.close()
    assert kept / 2000 < 120
    with (tmp_path / "run.mcap").open("rb") as opened:
        assert len(make_reader(opened).get_summary().chunk_indexes) == 2100 + 1  # and that of the channel


def test_a_file_without_messages_and_one_of_long_ones_alone_are_read(tmp_path):
    McapRecorder(tmp_path / "empty.mcap").close()
    with (tmp_path / "empty.mcap").open("rb") as file:
        assert make_reader(file).get_summary().statistics.message_count == 0
    path = tmp_path / "long.mcap"
    file = McapFile(path, profile="", library="test")
    channel = file.channel("/x", "json", 0, {})
    data = DeferredBytes(100_000, lambda out: np.copyto(out, np.arange(100_000) % 251, casting="unsafe"))
    file.place(channel, (b"<", data.length, b">"), log_ns=5, publish_ns=4).fill(data.materialize())
    file.finish()
    file.close()
    with path.open("rb") as opened:
        ((_, _, message),) = make_reader(opened, validate_crcs=True).iter_messages()
    assert message.data == b"<" + data.materialize().tobytes() + b">"
    assert (message.log_time, message.publish_time, message.sequence) == (5, 4, 0)


def test_short_messages_are_in_the_file_when_they_have_been_recorded(tmp_path):
    recorder = McapRecorder(tmp_path / "run.mcap")
    sizes = []
    for k in range(5):
        recorder.write("/clock", clock(k))
        sizes.append((tmp_path / "run.mcap").stat().st_size)
    assert np.ptp(np.diff(sizes)) == 0
    assert sizes[1] > sizes[0]
    recorder.close()
