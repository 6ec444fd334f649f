"""Bags of ROS 1 (format 2.0), read record by record: messages of some topics, in the order of the file.

A record is a header of fields `name=value` and data, each after its length. Chunks hold messages and connections, plain
or packed by bz2 or lz4; a connection gives topic and type. The index at the end of a bag is not needed, so that a bag
whose recording was cut off is read up to its end. Nothing is read beyond the file; a chunk unpacks to the size that it
states, and all of them to 64 MiB and 100 times the file's size at most. Ref: ROS wiki, "Bags/Format/2.0".
"""

import os
import struct
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple

from sensorium.core.errors import SensoriumError, SpecError, in_one_line
from sensorium.files.plain_files import open_regular

MAGIC = b"#ROSBAG V2.0\n"

_MESSAGE, _BAG, _CHUNK, _CONNECTION = 2, 3, 5, 7
_SMALL_TOTAL, _TOTAL_RATIO = 1 << 26, 100
_LENGTH, _TIME = struct.Struct("<I"), struct.Struct("<II")


class BagMessage(NamedTuple):
    """One message, as its bytes.

    Attributes:
        topic: Name.
        kind: Type, as `sensor_msgs/msg/Image`.
        time_ns: When it was recorded [ns].
        data: Serialized message of ROS 1.
    """

    topic: str
    kind: str
    time_ns: int
    data: bytes


def rosbag1_messages(path: str | PathLike[str], wanted: Callable[[str], bool]) -> Iterator[BagMessage]:
    """Messages of the topics for which `wanted` is true.

    Raises:
        SpecError: The file is no bag, it is encrypted, or a record is broken; the records before it are given.
    """
    path = Path(path)
    try:
        with open_regular(path) as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise SpecError(f"{path.name!r} is no bag of ROS 1; it must begin with {MAGIC.decode().strip()!r}")
            yield from _messages(path, file, os.fstat(file.fileno()).st_size, wanted)
    except SensoriumError:
        raise
    except OSError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise
    except Exception as error:  # unpacking may raise anything for broken bytes
        raise SpecError(f"{path.name!r} is no whole bag ({in_one_line(error)})") from None


def ros1_decoder(kind: str) -> Callable[[bytes], Any]:
    """Decoder of messages of a standard type; a broken message raises SpecError."""
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)

    def decoded(data: bytes) -> Any:
        try:
            return store.deserialize_ros1(data, kind)
        except Exception as error:  # the decoder may raise anything for broken bytes
            raise SpecError(f"a message of type {kind!r} cannot be decoded: {in_one_line(error)}") from None

    return decoded


def _messages(path: Path, file: IO[bytes], size: int, wanted: Callable[[str], bool]) -> Iterator[BagMessage]:
    connections: dict[bytes, tuple[str, str]] = {}
    budget = _SMALL_TOTAL + _TOTAL_RATIO * size
    while (at := file.tell()) < size:
        header = _fields(_block(file, size))
        op = _op(header)
        if op != _CHUNK:
            data = _block(file, size)
            if op == _BAG and header.get(b"encryptor"):
                raise SpecError(f"{path.name!r} is encrypted; it must be decrypted first")
            if op == _CONNECTION:
                _connect(header, data, connections)
            continue
        claimed = _LENGTH.unpack(header[b"size"])[0]
        budget -= claimed
        if budget < 0:
            raise SpecError(f"{path.name!r} unpacks to more than {_SMALL_TOTAL + _TOTAL_RATIO * size} bytes, the most")
        chunk = _unpacked(header[b"compression"], _block(file, size), claimed)
        if len(chunk) != claimed:
            raise ValueError(f"the chunk at byte {at} has {len(chunk)} bytes and claims {claimed}")
        yield from _of_chunk(chunk, connections, wanted)


def _of_chunk(
    chunk: bytes, connections: dict[bytes, tuple[str, str]], wanted: Callable[[str], bool]
) -> Iterator[BagMessage]:
    place, view = 0, memoryview(chunk)
    while place < len(chunk):
        header_bytes, place = _part(view, place)
        data, place = _part(view, place)
        header = _fields(bytes(header_bytes))
        op = _op(header)
        if op == _CONNECTION:
            _connect(header, bytes(data), connections)
        elif op == _MESSAGE:
            topic, kind = connections[header[b"conn"]]
            if wanted(topic):
                seconds, nanoseconds = _TIME.unpack(header[b"time"])
                yield BagMessage(topic, kind, seconds * 1_000_000_000 + nanoseconds, bytes(data))


def _connect(header: dict[bytes, bytes], data: bytes, connections: dict[bytes, tuple[str, str]]) -> None:
    package, _, name = _fields(data)[b"type"].decode().partition("/")
    connections[header[b"conn"]] = header[b"topic"].decode(), f"{package}/msg/{name}"


def _block(file: IO[bytes], size: int) -> bytes:
    """Bytes after their length."""
    head = file.read(4)
    length = _LENGTH.unpack(head)[0]
    left = size - file.tell()
    if length > left:
        raise EOFError(f"{length} bytes are claimed where {left} are left")
    return file.read(length)


def _part(view: memoryview, place: int) -> tuple[memoryview, int]:
    """The same in memory, and the place behind them."""
    (length,) = _LENGTH.unpack_from(view, place)
    end = place + 4 + length
    if end > len(view):
        raise EOFError(f"{length} bytes are claimed where {len(view) - place - 4} are left")
    return view[place + 4 : end], end


def _fields(header: bytes) -> dict[bytes, bytes]:
    fields, place = {}, 0
    while place < len(header):
        field, place = _part(memoryview(header), place)
        name, _, value = bytes(field).partition(b"=")
        fields[name] = value
    return fields


def _op(header: dict[bytes, bytes]) -> int:
    (op,) = header[b"op"]
    return op


def _unpacked(compression: bytes, data: bytes, size: int) -> bytes:
    """A chunk of the size it states, or one byte more where it is longer."""
    if compression == b"none":
        return data
    if compression == b"bz2":
        import bz2

        return bz2.BZ2Decompressor().decompress(data, size + 1)
    if compression == b"lz4":
        import lz4.frame

        unpacked: bytes = lz4.frame.LZ4FrameDecompressor().decompress(data, size + 1)
        return unpacked
    raise ValueError(f"a chunk is packed by {compression[:20]!r}; it must be none, bz2 or lz4")
