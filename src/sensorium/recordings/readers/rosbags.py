"""Packets of lidars and radars in rosbags: rosbag1, and rosbag2 in SQLite and MCAP.

Drivers record the packets themselves, in a message a turn or a message a packet. Messages are taken apart by hand: the
few types are listed below, and no definition in a file is trusted.
"""

import sqlite3
import struct
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import numpy as np

from sensorium.core.errors import SpecError, in_one_line
from sensorium.files.mcap_messages import open_mcap
from sensorium.files.plain_files import first_bytes
from sensorium.recordings.readers.datagrams import MOST_BYTES, Datagrams, listed
from sensorium.recordings.readers.rosbag1 import START, BagMessage, read_rosbag1

_SQLITE, _MCAP = b"SQLite format 3\0", b"\x89MCAP0\r\n"

# Fields of one packet, after the header and the count of packets; a type without a header holds one packet
_STAMP, _SIZE = "stamp", "size"
_TURNS = {
    "velodyne_msgs/VelodyneScan": (_STAMP, 1206),
    "pandar_msgs/PandarScan": (_STAMP, 1500, _SIZE),
    "hesai_lidar/PandarScan": (_STAMP, 1500, _SIZE),
    "nebula_msgs/NebulaPackets": (_STAMP, 0),
}
_SINGLE = {
    "velodyne_msgs/VelodynePacket": (_STAMP, 1206),
    "ouster_ros/PacketMsg": (0,),
    "ouster_sensor_msgs/PacketMsg": (0,),
}
PACKET_TYPES = (*_TURNS, *_SINGLE)
"""Types of messages that hold packets, without "/msg"."""

# Work that a query may take, in instructions of SQLite's machine a byte of the file: a message takes some fifty
_STEPS_A_BYTE, _SMALL_STEPS = 20, 1_000_000


def is_bag(start: bytes) -> bool:
    """Whether a file that begins with these bytes is a rosbag."""
    return start.startswith((START, _SQLITE, _MCAP))


def bag_files(folder: Path) -> list[Path]:
    """Files of a rosbag2 in a folder, in the order in which they were written: `..._0`, `..._1`, ..., `..._10`."""
    found = [path for path in folder.iterdir() if path.suffix in (".db3", ".mcap")] if folder.is_dir() else []
    return sorted(found, key=lambda path: (len(path.name), path.name))


def read_bag_packets(path: str | PathLike[str]) -> Datagrams:
    """Packets in the messages of a rosbag; the name of a stream is its topic."""
    path = Path(path)
    times, numbers, payloads = list[int](), list[int](), list[bytes | memoryview]()
    streams: dict[str, int] = {}
    others = dict[str, None]()
    start = first_bytes(path, 16)
    is_ros1 = start.startswith(START)
    for message in _messages(path, start):
        kind = message.kind.replace("/msg/", "/")
        if kind not in PACKET_TYPES:
            others[f"{message.topic} ({message.kind})"] = None
            continue
        try:
            found = list(_packets(message.data, kind, is_ros1=is_ros1))
        except (struct.error, IndexError, ValueError) as error:
            raise SpecError(
                f"{path.name!r} has a broken {message.kind} in {message.topic!r}: {in_one_line(error)}"
            ) from None
        number = streams.setdefault(message.topic, len(streams))
        for time_ns, payload in found:
            times.append(message.time_ns if time_ns is None else time_ns)
            numbers.append(number)
            payloads.append(payload)
    if not streams:
        raise SpecError(f"{path.name!r} has no messages with packets; it has {listed(list(others))}")
    return Datagrams(path.name, np.array(times, np.int64), np.array(numbers, np.int64), tuple(streams), payloads)


def _messages(path: Path, start: bytes) -> Iterator[BagMessage]:
    if start.startswith(START):
        yield from read_rosbag1(path)
    elif start.startswith(_MCAP):
        with open_mcap(path) as file:
            kinds = {topic: schema.name for topic, (_, schema) in file.channels.items() if schema is not None}
            for message in file.messages(sorted(kinds)):
                yield BagMessage(message.topic, kinds[message.topic], message.log_ns, message.data)
    elif start.startswith(_SQLITE):
        yield from _sqlite_messages(path)
    else:
        raise SpecError(f"{path.name!r} is no rosbag; it begins with {start[:4].hex()}")


def _sqlite_messages(path: Path) -> Iterator[BagMessage]:
    """Messages of a rosbag2 in SQLite, in the order of time.

    The file is opened read-only, and `topics` and `messages` must be tables: a view could compute without an end.
    """
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise SpecError(f"{path.name!r} has {size} bytes; a bag may have {MOST_BYTES}")
    steps_left = [1 + (_SMALL_STEPS + _STEPS_A_BYTE * size) // 10_000]

    def count_steps() -> int:
        steps_left[0] -= 1
        return int(steps_left[0] < 0)

    try:
        base = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error as error:
        raise SpecError(f"{path.name!r} cannot be opened as SQLite: {in_one_line(error)}") from None
    try:
        base.set_progress_handler(count_steps, 10_000)
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(size, 1 << 16))
        base.execute("PRAGMA trusted_schema = OFF")
        tables = {str(name) for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"topics", "messages"} <= tables:
            raise SpecError(f"{path.name!r} is no rosbag2: it has no tables named topics and messages")
        topics = {
            number: (str(name), str(kind)) for number, name, kind in base.execute("SELECT id, name, type FROM topics")
        }
        total = 0
        for number, time_ns, data in base.execute(
            "SELECT topic_id, timestamp, data FROM messages ORDER BY timestamp, id"
        ):
            if number not in topics or not isinstance(data, bytes) or not isinstance(time_ns, int):
                raise SpecError(f"{path.name!r} has a message without a topic, a time or bytes")
            total += len(data)
            if total > 2 * size:
                raise SpecError(f"{path.name!r} has messages of more bytes than the file")
            yield BagMessage(*topics[number], time_ns, data)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise SpecError(f"{path.name!r} is no whole rosbag2: {in_one_line(error)}") from None
    finally:
        base.close()


def _packets(data: bytes | memoryview, kind: str, *, is_ros1: bool) -> Iterator[tuple[int | None, bytes | memoryview]]:
    """Time [ns], if there is one, and bytes of each packet in a message."""
    view = memoryview(data)
    order, base = "<", 0
    if not is_ros1:  # CDR: four bytes say the byte order; values are aligned from there
        order, base = ("<" if view[1] & 1 else ">"), 4
    at, fields, count = base, _SINGLE.get(kind, ()), 1

    def integer() -> int:
        nonlocal at
        at = at if is_ros1 else base + (at - base + 3) // 4 * 4
        at += 4
        return int(struct.unpack_from(order + "I", view, at - 4)[0])

    def octets(length: int) -> memoryview:
        nonlocal at
        if at + length > len(view):
            raise ValueError(f"{length} bytes are claimed where {len(view) - at} are left")
        at += length
        return view[at - length : at]

    if kind in _TURNS:
        fields = _TURNS[kind]
        for _ in range(3 if is_ros1 else 2):  # header: number (ROS 1), seconds, nanoseconds
            integer()
        octets(integer())
        count = integer()
    for _ in range(count):
        time_ns: int | None = None
        payload = view[:0]
        for field in fields:
            if field == _STAMP:
                time_ns = integer() * 1_000_000_000 + integer()
            elif field == _SIZE:
                length = integer()
                if length > len(payload):
                    raise ValueError(f"a packet claims {length} of {len(payload)} bytes")
                payload = payload[:length]
            else:
                assert isinstance(field, int)
                payload = octets(field or integer())
        yield time_ns, payload
