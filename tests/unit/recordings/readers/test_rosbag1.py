"""Bags of ROS 1: messages as another library wrote them, packed or not, cut off, and broken."""

import struct
from contextlib import suppress

import numpy as np
import pytest
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore

from sensorium.core.errors import SpecError
from sensorium.recordings.readers.rosbag1 import ros1_decoder, rosbag1_messages

STORE = get_typestore(Stores.ROS1_NOETIC)
NUMBER = "std_msgs/msg/Float32"


def write_bag(path, numbers, compression=None):
    writer = Writer(path)
    if compression is not None:
        writer.set_compression(compression)
    with writer:
        topics = dict.fromkeys(topic for topic, _ in numbers)
        connections = {topic: writer.add_connection(topic, NUMBER, typestore=STORE) for topic in topics}
        for k, (topic, number) in enumerate(numbers):
            data = STORE.serialize_ros1(STORE.types[NUMBER](number), NUMBER)
            writer.write(connections[topic], 1_700_000_000_000_000_000 + 1_000_000 * k, data)
    return path


def read_numbers(path, wanted=lambda topic: True):
    found = []
    for message in rosbag1_messages(path, wanted):
        assert message.kind == NUMBER
        found.append((message.topic, message.time_ns, ros1_decoder(NUMBER)(message.data).data))
    return found


@pytest.mark.parametrize("compression", [None, Writer.CompressionFormat.BZ2, Writer.CompressionFormat.LZ4])
def test_messages_come_as_they_were_written(tmp_path, compression):
    rng = np.random.default_rng(2)
    numbers = [(f"/t{rng.integers(3)}", float(np.float32(rng.normal()))) for _ in range(200)]
    path = write_bag(tmp_path / "a.bag", numbers, compression)
    found = read_numbers(path)
    assert [(topic, value) for topic, _, value in found] == numbers
    assert [time_ns for _, time_ns, _ in found] == [1_700_000_000_000_000_000 + 1_000_000 * k for k in range(200)]
    one = [(topic, value) for topic, value in numbers if topic == "/t1"]
    assert [(topic, value) for topic, _, value in read_numbers(path, lambda topic: topic == "/t1")] == one


def test_a_bag_cut_off_gives_what_it_has_and_then_an_error(tmp_path):
    path = write_bag(tmp_path / "a.bag", [("/t", float(k)) for k in range(50)])
    data = path.read_bytes()
    found = []
    for length in range(0, len(data), max(1, len(data) // 60)):
        path.write_bytes(data[:length])
        with suppress(SpecError):
            found += iter(rosbag1_messages(path, lambda topic: True))
    assert found


def test_other_files_and_broken_records_are_refused(tmp_path):
    path = write_bag(tmp_path / "a.bag", [("/t", 1.0)])
    data = path.read_bytes()
    for broken, says in (
        (b"", "is no bag of ROS 1"),
        (b"#ROSBAG V1.2\n" + data[13:], "is no bag of ROS 1"),
        (data[:13] + struct.pack("<I", 2**31) + data[17:], "bytes are claimed where"),
        (data.replace(b"compression=none", b"compression=nine"), "must be none, bz2 or lz4"),
        (data.replace(b"topic=/t", b"topiq=/t"), "no whole bag"),
    ):
        path.write_bytes(broken)
        with pytest.raises(SpecError, match=says):
            list(rosbag1_messages(path, lambda topic: True))
    with pytest.raises(SpecError, match="cannot be read: No such file"):
        list(rosbag1_messages(tmp_path / "none.bag", lambda topic: True))


def test_a_chunk_unpacks_to_what_it_states(tmp_path):
    path = write_bag(tmp_path / "a.bag", [("/t", 1.0)] * 2000, Writer.CompressionFormat.BZ2)
    data = path.read_bytes()
    at = data.index(b"size=") + 5
    path.write_bytes(data[:at] + struct.pack("<I", 100) + data[at + 4 :])
    with pytest.raises(SpecError, match="has 101 bytes and claims 100"):
        list(rosbag1_messages(path, lambda topic: True))
    path.write_bytes(data[:at] + struct.pack("<I", 2**32 - 1) + data[at + 4 :])
    with pytest.raises(SpecError, match="unpacks to more than"):
        list(rosbag1_messages(path, lambda topic: True))
