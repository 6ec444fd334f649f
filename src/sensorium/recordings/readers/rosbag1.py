"""Messages of rosbag1 files, not decoded; read by hand; the format is defined in the wiki of ROS, Bags/Format/2.0.

Records are read one after the other, without the index, so that a file that was cut off gives its whole messages. A
chunk states its unpacked size and must keep to it; all chunks together unpack in proportion to the file.
"""

import bz2
import struct
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from sensorium.core.errors import SpecError
from sensorium.files.plain_files import read_whole
from sensorium.recordings.readers.datagrams import MOST_BYTES

START = b"#ROSBAG V2.0\n"
_MESSAGE, _CHUNK, _CONNECTION = 2, 5, 7
_SMALL_TOTAL, _TOTAL_RATIO = 1 << 26, 100


class BagMessage(NamedTuple):
    """One message, not decoded.

    Attributes:
        topic: Its topic.
        kind: Its type, as "sensor_msgs/Imu".
        time_ns: When it was recorded [ns].
        data: Its bytes.
    """

    topic: str
    kind: str
    time_ns: int
    data: bytes | memoryview


def read_rosbag1(path: str | PathLike[str]) -> Iterator[BagMessage]:
    """Messages of a file in its order; a record that the end of the file cuts off ends it."""
    path = Path(path)
    content = read_whole(path, MOST_BYTES, "a bag")
    if not content.startswith(START):
        raise SpecError(f"{str(path)!r} is no rosbag of version 2.0")
    connections: dict[int, tuple[str, str]] = {}
    left = _SMALL_TOTAL + _TOTAL_RATIO * len(content)
    for header, data in _records(memoryview(content), len(START), path.name):
        if header.get("op") == bytes([_CHUNK]):
            unpacked = _unpacked(header, data, left, path.name)
            left -= len(unpacked)
            for inner, body in _records(unpacked, 0, path.name):
                yield from _message(inner, body, connections, path.name)
        else:
            yield from _message(header, data, connections, path.name)


def _message(
    header: dict[str, bytes], data: memoryview, connections: dict[int, tuple[str, str]], name: str
) -> Iterator[BagMessage]:
    """The message of a record, if it is one; a connection is remembered."""
    op = header.get("op")
    if op not in (bytes([_MESSAGE]), bytes([_CONNECTION])):
        return
    number = _number(header, "conn", "<I", name)
    if op == bytes([_CONNECTION]):
        kind = _fields(data, name).get("type", b"")
        connections[number] = (header.get("topic", b"").decode("utf-8", "replace"), kind.decode("utf-8", "replace"))
    elif number in connections:
        stamp = _number(header, "time", "<Q", name)
        seconds, nanoseconds = stamp & 0xFFFFFFFF, stamp >> 32
        yield BagMessage(*connections[number], seconds * 1_000_000_000 + nanoseconds, data)


def _number(header: dict[str, bytes], key: str, form: str, name: str) -> int:
    value = header.get(key, b"")
    if len(value) != struct.calcsize(form):
        raise SpecError(
            f"{name!r} has a record whose {key} has {len(value)} bytes; it must have {struct.calcsize(form)}"
        )
    return int(struct.unpack(form, value)[0])


def _records(view: memoryview, at: int, name: str) -> Iterator[tuple[dict[str, bytes], memoryview]]:
    """Header and data of each record."""
    while at + 8 <= len(view):
        (size,) = struct.unpack_from("<I", view, at)
        start = at + 4 + size
        if start + 4 > len(view):
            return
        (length,) = struct.unpack_from("<I", view, start)
        if start + 4 + length > len(view):
            return
        yield _fields(view[at + 4 : start], name), view[start + 4 : start + 4 + length]
        at = start + 4 + length


def _fields(view: memoryview, name: str) -> dict[str, bytes]:
    """Fields `name=value` of a header."""
    found, at = {}, 0
    while at + 4 <= len(view):
        (size,) = struct.unpack_from("<I", view, at)
        if at + 4 + size > len(view):
            raise SpecError(f"{name!r} has a field of {size} bytes in a header of {len(view)}")
        key, equals, value = bytes(view[at + 4 : at + 4 + size]).partition(b"=")
        if not equals:
            raise SpecError(f"{name!r} has a field without a value in a header")
        found[key.decode("utf-8", "replace")] = value
        at += 4 + size
    return found


def _unpacked(header: dict[str, bytes], data: memoryview, most: int, name: str) -> memoryview:
    """The records of a chunk."""
    packing, size = header.get("compression", b""), _number(header, "size", "<I", name)
    if packing == b"none":
        return data
    if size > most:
        raise SpecError(f"{name!r} has a chunk that unpacks to {size} bytes; {most} are allowed")
    try:
        if packing == b"bz2":
            content = bz2.BZ2Decompressor().decompress(data, size)
        elif packing == b"lz4":
            from lz4.frame import LZ4FrameDecompressor

            content = LZ4FrameDecompressor().decompress(data, size)
        else:
            raise SpecError(
                f"{name!r} has a chunk packed by {packing.decode('ascii', 'replace')!r}; it must be bz2 or lz4"
            )
    except (OSError, RuntimeError, EOFError, ValueError) as error:
        if isinstance(error, SpecError):
            raise
        raise SpecError(f"{name!r} has a chunk that cannot be unpacked: {error}") from None
    return memoryview(content)
