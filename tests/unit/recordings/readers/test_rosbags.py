"""Bags that the test writes itself, and broken ones."""

import contextlib
import io
import random
import sqlite3

import pytest

from fuzz import captures
from sensorium.core.errors import SpecError
from sensorium.recordings.readers.rosbag1 import read_rosbag1
from sensorium.recordings.readers.rosbags import read_bag_packets

RNG = random.Random(28)
KINDS = {
    "velodyne_msgs/msg/VelodyneScan": [RNG.randbytes(1206) for _ in range(5)],
    "pandar_msgs/msg/PandarScan": [RNG.randbytes(size) for size in (1080, 1198, 1072, 1500, 0)],
    "nebula_msgs/msg/NebulaPackets": [RNG.randbytes(size) for size in (7, 1262, 1, 30_000)],
}


def contents(found) -> list[bytes]:
    return [bytes(payload) for payload in found.payloads]


@pytest.mark.parametrize("kind", KINDS)
def test_packets_of_sqlite_mcap_and_rosbag1(tmp_path, kind):
    packets = KINDS[kind]
    parts = [packets[:2], packets[2:]]
    messages = [captures.scan_message(kind, part) for part in parts]
    found = read_bag_packets(captures.sqlite_bag(tmp_path / "a.db3", kind, messages))
    assert contents(found) == packets
    assert found.streams == ("/packets",)
    assert found.time_ns[1] == 1700 * 10**9 + 1000

    from mcap.writer import Writer

    file = io.BytesIO()
    writer = Writer(file)
    writer.start(profile="ros2")
    channel = writer.register_channel("/packets", "cdr", writer.register_schema(kind, "ros2msg", b"uint8 a"))
    for k, data in enumerate(messages):
        writer.add_message(channel, k, data, k)
    writer.finish()
    (tmp_path / "a.mcap").write_bytes(file.getvalue())
    assert contents(read_bag_packets(tmp_path / "a.mcap")) == packets

    old = kind.replace("/msg/", "/")
    data = captures.rosbag1(old, [captures.scan_message(old, part, is_ros1=True) for part in parts])
    (tmp_path / "a.bag").write_bytes(data)
    assert contents(read_bag_packets(tmp_path / "a.bag")) == packets


@pytest.mark.parametrize("packing", ["none", "bz2", "lz4"])
def test_messages_of_packed_chunks(tmp_path, packing):
    messages = [RNG.randbytes(size) for size in (0, 10, 5000)]
    (tmp_path / "a.bag").write_bytes(captures.rosbag1("std_msgs/String", messages, packing=packing))
    found = list(read_rosbag1(tmp_path / "a.bag"))
    assert [bytes(each.data) for each in found] == messages
    assert {(each.topic, each.kind) for each in found} == {("/packets", "std_msgs/String")}
    assert [each.time_ns for each in found] == [1700 * 10**9 + k for k in range(3)]


def test_an_empty_rosbag1_written_by_another_program_agrees(tmp_path):
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    with Writer(tmp_path / "a.bag") as bag:
        connection = bag.add_connection("/words", "std_msgs/msg/String", typestore=store)
        for k in range(20):
            message = store.types["std_msgs/msg/String"](data="x" * k)
            bag.write(connection, 1000 + k, store.serialize_ros1(message, "std_msgs/msg/String"))
    found = list(read_rosbag1(tmp_path / "a.bag"))
    assert [each.time_ns for each in found] == [1000 + k for k in range(20)]
    assert bytes(found[3].data) == b"\3\0\0\0xxx"
    assert found[0].kind == "std_msgs/String"


def test_a_bag_that_was_cut_off_gives_its_whole_messages(tmp_path):
    kind, packets = "velodyne_msgs/VelodyneScan", KINDS["velodyne_msgs/msg/VelodyneScan"]
    data = captures.rosbag1(kind, [captures.scan_message(kind, [each], is_ros1=True) for each in packets])
    start = data.index(b"op=\5") - 30
    (tmp_path / "a.bag").write_bytes(data[:start] + data[start:])
    assert len(read_bag_packets(tmp_path / "a.bag").payloads) == 5
    (tmp_path / "a.bag").write_bytes(data[:-5])
    with pytest.raises(SpecError, match="has no messages with packets"):
        read_bag_packets(tmp_path / "a.bag")


@pytest.mark.parametrize("kind", KINDS)
def test_every_cut_of_a_message_is_refused_in_a_sentence(tmp_path, kind):
    message = captures.scan_message(kind, KINDS[kind])
    for size in [*range(0, 60), *RNG.sample(range(60, len(message)), 20)]:
        path = tmp_path / f"{size}.db3"
        with pytest.raises(SpecError, match="has a broken") as refused:
            read_bag_packets(captures.sqlite_bag(path, kind, [message[:size]]))
        assert "\n" not in str(refused.value)


def test_a_count_out_of_proportion_is_refused_at_once(tmp_path):
    message = bytearray(captures.scan_message("nebula_msgs/msg/NebulaPackets", [b"ab"]))
    at = message.index(b"\1\0\0\0", 8)
    message[at : at + 4] = b"\xff\xff\xff\xff"
    with pytest.raises(SpecError, match="has a broken"):
        read_bag_packets(captures.sqlite_bag(tmp_path / "a.db3", "nebula_msgs/msg/NebulaPackets", [bytes(message)]))


def test_a_bag_without_packets_names_its_topics(tmp_path):
    path = captures.sqlite_bag(tmp_path / "a.db3", "sensor_msgs/msg/Imu", [b"\0\1\0\0"], topic="/imu")
    with pytest.raises(SpecError, match=r"no messages with packets; it has '/imu \(sensor_msgs/msg/Imu\)'"):
        read_bag_packets(path)


def test_views_that_compute_without_an_end_are_refused(tmp_path):
    base = sqlite3.connect(tmp_path / "a.db3")
    base.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT)")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    base.execute(
        f"CREATE VIEW messages AS {endless} SELECT i AS id, 1 AS topic_id, i AS timestamp, x'00' AS data FROM n"
    )
    base.commit()
    base.close()
    with pytest.raises(SpecError, match="has no tables named topics and messages"):
        read_bag_packets(tmp_path / "a.db3")


def test_a_generated_column_cannot_make_more_bytes_than_the_file(tmp_path):
    base = sqlite3.connect(tmp_path / "a.db3")
    base.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT)")
    base.execute(
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, "
        "data BLOB GENERATED ALWAYS AS (zeroblob(100000000)) VIRTUAL)"
    )
    base.execute("INSERT INTO topics VALUES (1, '/a', 'nebula_msgs/msg/NebulaPackets')")
    base.execute("INSERT INTO messages(id, topic_id, timestamp) VALUES (1, 1, 1)")
    base.commit()
    base.close()
    with pytest.raises(SpecError):
        read_bag_packets(tmp_path / "a.db3")


@pytest.mark.parametrize("data", [b"", b"SQLite format 3\0", b"#ROSBAG V2.0\n", b"\x89MCAP0\r\n", b"#ROSBAG V1.2\n"])
def test_what_is_no_bag_is_refused(tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(SpecError):
        read_bag_packets(tmp_path / "a")


@pytest.mark.parametrize("packing", ["bz2", "lz4"])
def test_a_chunk_may_not_unpack_out_of_proportion(tmp_path, packing):
    data = bytearray(captures.rosbag1("std_msgs/String", [bytes(1000)], packing=packing))
    at = data.index(b"size=") + 5
    data[at : at + 4] = b"\0\0\0\x10"
    (tmp_path / "a.bag").write_bytes(data)
    with pytest.raises(SpecError, match="a chunk that unpacks to 268435456 bytes"):
        list(read_rosbag1(tmp_path / "a.bag"))


@pytest.mark.parametrize("packing", ["bz2", "lz4"])
def test_a_chunk_of_broken_bytes_raises_no_other_error(tmp_path, packing):
    data = bytearray(captures.rosbag1("std_msgs/String", [RNG.randbytes(1000)], packing=packing))
    for at in range(len(data) - 900, len(data) - 40, 60):
        broken = bytearray(data)
        broken[at : at + 30] = RNG.randbytes(30)
        (tmp_path / "a.bag").write_bytes(broken)
        with contextlib.suppress(SpecError):
            list(read_rosbag1(tmp_path / "a.bag"))
