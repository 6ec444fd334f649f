"""Untrusted MCAP files, record by record: every size that a file claims is checked before it is used.

The package mcap unpacks any chunk and allocates as many bytes as a length field states: a kilobyte may take all memory.
This reader never reads beyond the end of the file. A chunk states its unpacked size and must keep to it, all chunks
together unpack to bytes and records in proportion to the file, and an index may not name more entries than there are.
"""

import heapq
import struct
from collections.abc import Iterator
from typing import IO, Any

# Unpacked size of a chunk: at least the first is allowed, then this multiple of its size, at most the last [bytes]
_SMALL_CHUNK, _MAX_RATIO, LARGEST_CHUNK = 1 << 26, 1000, 1 << 30

# Bytes and records that all chunks of a file may unpack to, and the addition for each byte of the file
_SMALL_TOTAL, _TOTAL_RATIO = 1 << 26, 100
_SMALL_RECORDS, _RECORDS_A_BYTE = 200_000, 1

# Opcode and length of a record
_HEAD = struct.Struct("<BQ")


class UnpackedTooMuchError(ValueError):
    """The chunks of a file unpack to more than a file of its size may."""


class BoundedFile:
    """A file that refuses to read more than it has left."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        file.seek(0)
        self.seek, self.tell = file.seek, file.tell

    def read(self, length: int) -> bytes:
        """Read this many bytes; EOFError if there are fewer."""
        left = self.size - self._file.tell()
        if length > left:
            raise EOFError(f"{length} bytes are claimed where {left} are left")
        return self._file.read(length)


def records(file: BoundedFile, *, skip_magic: bool = True) -> Iterator[Any]:
    """The records of a file from the current position, chunks not unpacked."""
    from mcap.stream_reader import StreamReader

    stream: Any = file
    found = iter(StreamReader(stream, skip_magic=skip_magic, emit_chunks=True, record_size_limit=file.size).records)
    if not skip_magic:
        yield next(found)
    while True:
        # A record that does not fit is refused before any of it is read: else a file of such records takes its square
        at = file.tell()
        if file.size - at >= _HEAD.size:
            _, length = _HEAD.unpack(file.read(_HEAD.size))
            if length > file.size - file.tell():
                raise EOFError(f"a record claims {length} bytes where {file.size - file.tell()} are left")
            file.seek(at)
        record = next(found, None)
        if record is None:
            return
        yield record


class Unpacker:
    """Unpacks the chunks of one file, for as long as all of them keep to a total."""

    def __init__(self, file_bytes: int) -> None:
        """Begin a file of this size [bytes]."""
        self._most_bytes = _SMALL_TOTAL + _TOTAL_RATIO * file_bytes
        self._most_records = _SMALL_RECORDS + _RECORDS_A_BYTE * file_bytes
        self._file_bytes, self._bytes, self._records = file_bytes, 0, 0

    def records(self, chunk: Any) -> Iterator[Any]:
        """Schemas, channels and messages in a chunk.

        Raises:
            UnpackedTooMuchError: All chunks together unpack to too much.
            ValueError: This one does, or it is broken in one of many ways, which raise other errors too.
        """
        from mcap.opcode import Opcode
        from mcap.records import Channel, Message, Schema
        from mcap.stream_reader import get_chunk_data_stream

        self._check_claims(chunk)
        stream, length = get_chunk_data_stream(chunk, validate_crc=True)
        if chunk.compression:
            self._count(length, 0)
        while stream.count < length:
            opcode, size = stream.read1(), stream.read8()
            self._count(0, 1)
            if opcode == Opcode.MESSAGE:
                yield Message.read(stream, size)
            elif opcode == Opcode.CHANNEL:
                yield Channel.read(stream)
            elif opcode == Opcode.SCHEMA:
                yield Schema.read(stream)
            else:
                stream.read(size)

    def _check_claims(self, chunk: Any) -> None:
        """Refuse to unpack a chunk that claims to be too long."""
        packed, claimed = len(chunk.data), chunk.uncompressed_size
        if chunk.compression == "zstd":
            import zstandard

            claimed = max(claimed, zstandard.frame_content_size(chunk.data))
        elif chunk.compression == "lz4":
            import lz4.frame

            claimed = max(claimed, lz4.frame.get_frame_info(chunk.data)["content_size"])
        most = min(max(_SMALL_CHUNK, _MAX_RATIO * packed), LARGEST_CHUNK)
        if chunk.compression and claimed > most:
            raise ValueError(f"a chunk of {packed} bytes claims to unpack to {claimed}; it may to {most}")
        if chunk.compression and self._bytes + claimed > self._most_bytes:
            self._count(claimed, 0)

    def _count(self, more_bytes: int, more_records: int) -> None:
        self._bytes += more_bytes
        self._records += more_records
        if self._bytes > self._most_bytes:
            what = f"{self._bytes} bytes or more; it may to {self._most_bytes}"
        elif self._records > self._most_records:
            what = f"more than {self._most_records} records, which is the most"
        else:
            return
        raise UnpackedTooMuchError(f"a file of {self._file_bytes} bytes unpacks to {what}")


def summary_of(file: BoundedFile) -> Any:
    """The summary at the end of a file; None if it has no such part."""
    from mcap.data_stream import ReadDataStream
    from mcap.reader import FOOTER_SIZE
    from mcap.records import (
        AttachmentIndex,
        Channel,
        ChunkIndex,
        Footer,
        MetadataIndex,
        Schema,
        Statistics,
    )
    from mcap.stream_reader import MAGIC_SIZE, read_magic
    from mcap.summary import Summary

    stream: Any = file
    file.seek(0)
    read_magic(ReadDataStream(stream))
    if file.size < FOOTER_SIZE + 2 * MAGIC_SIZE:
        raise EOFError(f"it has {file.size} bytes, which is less than its end takes")
    file.seek(file.size - FOOTER_SIZE - MAGIC_SIZE)
    footer = next(records(file))
    if not isinstance(footer, Footer):
        raise ValueError(f"it ends with a {type(footer).__name__}, not with a footer")
    if footer.summary_start == 0:
        return None
    file.seek(footer.summary_start)
    summary = Summary()
    for record in records(file):
        if isinstance(record, Statistics):
            summary.statistics = record
        elif isinstance(record, Schema):
            summary.schemas[record.id] = record
        elif isinstance(record, Channel):
            summary.channels[record.id] = record
        elif isinstance(record, AttachmentIndex):
            summary.attachment_indexes.append(record)
        elif isinstance(record, ChunkIndex):
            summary.chunk_indexes.append(record)
        elif isinstance(record, MetadataIndex):
            summary.metadata_indexes.append(record)
    return summary


def messages_of(file: BoundedFile, summary: Any, topics: set[str]) -> Iterator[tuple[Any, Any]]:
    """Channel and message of some topics, in the order of logging, then of their places."""
    wanted = {number: channel for number, channel in summary.channels.items() if channel.topic in topics}
    if not summary.chunk_indexes:
        yield from _without_index(file, wanted)
        return
    waiting: list[tuple[int, int, int, Any]] = [
        (index.message_start_time, 0, index.chunk_start_offset, index)
        for index in summary.chunk_indexes
        if not index.message_index_offsets or wanted.keys() & index.message_index_offsets.keys()
    ]
    if len({offset for _, _, offset, _ in waiting}) < len(waiting):
        raise ValueError("its index names a chunk twice")
    heapq.heapify(waiting)

    # Chunks wait with the time of their first message, and give way to their messages
    taken = sequence = 0
    unpacker = Unpacker(file.size)
    while waiting:
        _, is_message, offset, item = heapq.heappop(waiting)
        if is_message:
            yield wanted[item.channel_id], item
            continue
        chunk = _chunk_at(file, offset)
        taken += len(chunk.data)
        if taken > file.size:
            raise ValueError("its index names chunks that lie over each other")
        for record in unpacker.records(chunk):
            if _is_message(record) and record.channel_id in wanted:
                sequence += 1
                heapq.heappush(waiting, (record.log_time, sequence, offset, record))


def _chunk_at(file: BoundedFile, offset: int) -> Any:
    from mcap.records import Chunk

    file.seek(offset)
    chunk = next(records(file))
    if not isinstance(chunk, Chunk):
        raise ValueError(f"its index names a chunk where there is a {type(chunk).__name__}")
    return chunk


def _without_index(file: BoundedFile, wanted: dict[int, Any]) -> Iterator[tuple[Any, Any]]:
    """Messages of a file that was written without chunks, or without an index of them."""
    from mcap.records import Chunk

    found, unpacker = [], Unpacker(file.size)
    file.seek(0)
    for record in records(file, skip_magic=False):
        for each in unpacker.records(record) if isinstance(record, Chunk) else (record,):
            if _is_message(each) and each.channel_id in wanted:
                found.append(each)
    for message in sorted(found, key=lambda message: message.log_time):
        yield wanted[message.channel_id], message


def _is_message(record: Any) -> bool:
    from mcap.records import Message

    return isinstance(record, Message)
