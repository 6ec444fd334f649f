"""A growing MCAP file: chunks that are open on the disk, and space reserved for long messages.

The bytes of a file depend only on the recorded data, so that runs can be compared by their hashes: the end of a chunk
follows from its size and its span of logged time, never from a clock or a thread. Data handed to the operating system
survive the death of the process, so that a file that was cut off lacks only the data being written:

- Short messages go to a chunk that is *open*: its records lie in the file already, while the length in its header still
  says so (`OPEN_LENGTH`). The header gets its numbers when the chunk is full; its index follows it.
- A long message gets a chunk of its own, at a *place* that is kept for it: header, index and all that comes after are
  written at once, for its length is known, and the bytes in between whenever they are ready, on any thread. Its
  checksum is written last: until then it is wrong, by which `recover` knows that nothing is there.

Chunks are not compressed: how long they become must be known before. Measured on clouds of 262,144 points, 7.3 MB, in
CPU time of one core: packing takes 1.3 ms, the checksum 2 ms, and writing 2 to 3 ms, or up to 15 where the machine's
memory was never used before. lz4 would take another 12 ms and save a third of a clean cloud, zstd 43 ms and save two
thirds; `mcap compress` does it afterwards.
"""

import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPEN_LENGTH = 2**64 - 1
"""Length in the header of a chunk that is still being written."""

_MAGIC = b"\x89MCAP0\r\n"

# Opcode, length; then times of the first and last message, size, checksum, compression (none), size
CHUNK = struct.Struct("<BQQQQIIQ")
_CHUNK_OPCODE, _CRC_AT = 6, 33

# Opcode, length; then channel, sequence, times of logging and publishing
_MESSAGE = struct.Struct("<BQHIQQ")
_MESSAGE_OPCODE = 5
_RECORD_HEAD = 9

# A chunk is full at either limit: bytes of records, or span of logged time [ns]
_FULL_BYTES, _FULL_NS = 1 << 20, 1_000_000_000

# Written at once [bytes]. With longer pieces Linux now and then takes ten times as long, looking for large pages; and
# short messages need not wait for all of a long one
_PIECE = 1 << 18

# Placeholder for the checksum until the bytes are written
_NOT_THERE = 0xFFFFFFFF


class _Chunk:
    """State of a chunk while it is written."""

    def __init__(self, at: int) -> None:
        self.at, self.size, self.crc = at, 0, 0
        self.first_ns, self.last_ns = 0, 0
        self.index: dict[int, list[tuple[int, int]]] = {}

    def add(self, record: bytes) -> None:
        self.size += len(record)
        self.crc = zlib.crc32(record, self.crc)

    def note(self, channel: int, log_ns: int) -> None:
        """A message begins here."""
        self.first_ns = min(self.first_ns, log_ns) if self.index else log_ns
        self.last_ns = max(self.last_ns, log_ns)
        self.index.setdefault(channel, []).append((log_ns, self.size))

    def is_full(self, log_ns: int) -> bool:
        return self.size >= _FULL_BYTES or (bool(self.index) and log_ns - self.first_ns >= _FULL_NS)

    def header(self) -> bytes:
        length = CHUNK.size - _RECORD_HEAD + self.size
        return CHUNK.pack(_CHUNK_OPCODE, length, self.first_ns, self.last_ns, self.size, self.crc, 0, self.size)


class Place:
    """Room in the file for the bytes of one long message."""

    def __init__(self, file: Any, chunk: _Chunk, at: int, tail: bytes) -> None:
        self._file, self._chunk, self._at, self._tail = file, chunk, at, tail

    def fill(self, data: NDArray[np.uint8]) -> None:
        """Write the bytes, then the checksum that says they are there; one place of a file at a time."""
        crc = zlib.crc32(self._tail, zlib.crc32(data.data, self._chunk.crc))
        _write(self._file, self._at, data.data)
        _write(self._file, self._chunk.at + _CRC_AT, struct.pack("<I", crc))


class McapFile:
    """Writes an MCAP file: schemas and channels, messages, and at the end the summary."""

    def __init__(self, path: Path, *, profile: str, library: str) -> None:
        """Begin a file; one that exists is replaced."""
        from mcap.records import Header

        # Places are filled through a file of their own, whose position is no one else's
        self._file = path.open("wb", buffering=0)
        self._places = path.open("r+b", buffering=0)
        self._written = self._end = 0
        self._waiting: list[bytes] = []
        self._chunk: _Chunk | None = None
        self._schemas: list[Any] = []
        self._channels: list[Any] = []
        self._counts: dict[int, int] = {}

        # Records of the index, one after the other: a day of ten clouds a second has a million of some 80 bytes each,
        # which as objects would have eight times as much
        self._chunk_indexes, self._chunks = bytearray(), 0
        self._metadata_indexes: list[Any] = []
        self._first_ns: int | None = None
        self._last_ns = 0
        self._append(_MAGIC)
        self._append(_record(Header(profile, library)))
        self.flush()

    def schema(self, name: str, encoding: str, data: bytes) -> int:
        """Announce a type of messages; returns its number."""
        from mcap.records import Schema

        self._schemas.append(Schema(id=len(self._schemas) + 1, name=name, encoding=encoding, data=data))
        self._add(_record(self._schemas[-1]))
        return len(self._schemas)

    def channel(self, topic: str, encoding: str, schema: int, metadata: dict[str, str]) -> int:
        """Announce a topic; returns its number."""
        from mcap.records import Channel

        number = len(self._channels) + 1
        self._channels.append(
            Channel(id=number, topic=topic, message_encoding=encoding, schema_id=schema, metadata=metadata)
        )
        self._counts[number] = 0
        self._add(_record(self._channels[-1]))
        return number

    def metadata(self, name: str, words: dict[str, str]) -> None:
        """Add metadata, which are outside of chunks."""
        from mcap.records import Metadata, MetadataIndex

        self._close_chunk()
        record = _record(Metadata(name=name, metadata=words))
        self._metadata_indexes.append(MetadataIndex(offset=self._end, length=len(record), name=name))
        self._append(record)

    def message(self, channel: int, data: bytes, *, log_ns: int, publish_ns: int) -> None:
        """Add a message; `flush` hands it to the operating system."""
        if self._chunk is not None and self._chunk.is_full(log_ns):
            self._close_chunk()
        self._open_chunk().note(channel, log_ns)
        self._add(self._message_head(channel, len(data), log_ns, publish_ns) + data)

    def place(self, channel: int, parts: tuple[bytes, int, bytes], *, log_ns: int, publish_ns: int) -> Place:
        """Keep a place for a message, and hand all that came before it to the operating system.

        Args:
            channel: Its channel.
            parts: The bytes before its long part, the length of that part, and the bytes after.
            log_ns: When it is logged [ns].
            publish_ns: When it was published [ns].
        """
        self._close_chunk()
        head, length, tail = parts
        chunk = _Chunk(self._end)
        chunk.note(channel, log_ns)
        before = self._message_head(channel, len(head) + length + len(tail), log_ns, publish_ns) + head
        chunk.add(before)
        crc_before = chunk.crc
        chunk.size += length + len(tail)
        chunk.crc = _NOT_THERE
        self._append(chunk.header() + before)
        self.flush()
        at = self._end
        self._written = self._end = at + length
        self._append(tail)
        self._index(chunk)
        chunk.crc = crc_before
        return Place(self._places, chunk, at, tail)

    def flush(self) -> None:
        """Hand everything to the operating system."""
        if self._waiting:
            data = b"".join(self._waiting)
            self._waiting.clear()
            _write(self._file, self._written, memoryview(data))
            self._written += len(data)

    def finish(self) -> None:
        """Close the chunk and write the summary; every place must have been filled."""
        from mcap.opcode import Opcode
        from mcap.records import DataEnd, Footer, Statistics, SummaryOffset

        self._close_chunk()
        self._append(_record(DataEnd(data_section_crc=0)))
        start, summary, offsets = self._end, bytearray(), b""
        statistics = Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts={number: count for number, count in self._counts.items() if count},
            chunk_count=self._chunks,
            message_count=sum(self._counts.values()),
            message_end_time=self._last_ns,
            message_start_time=self._first_ns or 0,
            metadata_count=len(self._metadata_indexes),
            schema_count=len(self._schemas),
        )
        groups: tuple[tuple[int, bytes | bytearray], ...] = (
            (Opcode.SCHEMA, _records(self._schemas)),
            (Opcode.CHANNEL, _records(self._channels)),
            (Opcode.STATISTICS, _record(statistics)),
            (Opcode.CHUNK_INDEX, self._chunk_indexes),
            (Opcode.METADATA_INDEX, _records(self._metadata_indexes)),
        )
        for opcode, records in groups:
            if records:
                offsets += _record(SummaryOffset(opcode, start + len(summary), len(records)))
                summary += records
        offsets_at = start + len(summary)
        summary += offsets
        crc = zlib.crc32(struct.pack("<BQQQ", Opcode.FOOTER, 20, start, offsets_at), zlib.crc32(summary))
        self._append(bytes(summary) + _record(Footer(start, offsets_at, crc)) + _MAGIC)
        self.flush()

    def close(self) -> None:
        """Close the file, in any state."""
        self._file.close()
        self._places.close()

    # --- inside -----------------------------------------------------------------------------------------------------

    def _message_head(self, channel: int, length: int, log_ns: int, publish_ns: int) -> bytes:
        """All of a message but its data; counts it."""
        number = self._counts[channel]
        self._counts[channel] += 1
        self._first_ns = log_ns if self._first_ns is None else min(self._first_ns, log_ns)
        self._last_ns = max(self._last_ns, log_ns)
        size = _MESSAGE.size - _RECORD_HEAD + length
        return _MESSAGE.pack(_MESSAGE_OPCODE, size, channel, number & 0xFFFFFFFF, log_ns, publish_ns)

    def _open_chunk(self) -> _Chunk:
        """The open chunk; a new one if there is none."""
        if self._chunk is None:
            self._chunk = _Chunk(self._end)
            self._append(CHUNK.pack(_CHUNK_OPCODE, OPEN_LENGTH, 0, 0, 0, 0, 0, OPEN_LENGTH))
        return self._chunk

    def _add(self, record: bytes) -> None:
        """Append a record to the open chunk."""
        self._open_chunk().add(record)
        self._append(record)

    def _append(self, data: bytes) -> None:
        self._waiting.append(data)
        self._end += len(data)

    def _close_chunk(self) -> None:
        """Write the true header of the open chunk over its first one, and its index."""
        if self._chunk is None:
            return
        chunk, self._chunk = self._chunk, None
        self.flush()
        _write(self._file, chunk.at, chunk.header())
        self._index(chunk)

    def _index(self, chunk: _Chunk) -> None:
        from mcap.records import ChunkIndex, MessageIndex

        start, offsets = self._end, {}
        for channel, records in chunk.index.items():
            offsets[channel] = self._end
            self._append(_record(MessageIndex(channel_id=channel, records=records)))
        index = ChunkIndex(
            message_start_time=chunk.first_ns,
            message_end_time=chunk.last_ns,
            chunk_start_offset=chunk.at,
            chunk_length=CHUNK.size + chunk.size,
            message_index_offsets=offsets,
            message_index_length=self._end - start,
            compression="",
            compressed_size=chunk.size,
            uncompressed_size=chunk.size,
        )
        self._chunk_indexes += _record(index)
        self._chunks += 1


def _records(records: Iterable[Any]) -> bytes:
    """Records as bytes, one after the other."""
    return b"".join(_record(record) for record in records)


def _record(record: Any) -> bytes:
    """A record as bytes."""
    from mcap.data_stream import RecordBuilder

    builder = RecordBuilder()
    record.write(builder)
    data: bytes = builder.end()  # type: ignore[no-untyped-call]
    return data


def _write(file: Any, at: int, data: bytes | memoryview) -> None:
    """Write all of it at a place, in pieces."""
    file.seek(at)
    view = memoryview(data)
    while view:
        view = view[file.write(view[:_PIECE]) :]
