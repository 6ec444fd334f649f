"""Recovers the readable part of a recording that was cut off, as a valid file."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

from sensorium.core.errors import RecordError, SpecError
from sensorium.files.atomic import replacing
from sensorium.files.mcap_reading import BoundedFile, UnpackedTooMuchError, Unpacker, records
from sensorium.files.plain_files import open_regular
from sensorium.record.mcap.file import CHUNK

_CHUNK_OPCODE, _MAGIC_BYTES = 6, 8


@dataclass(frozen=True)
class Recovery:
    """Result of a recovery.

    Attributes:
        path: The new file.
        messages: Messages in it, by topic.
        lost_chunks: Chunks whose bytes were broken or not there yet, as those of a sweep that was being written.
        lost_bytes: Bytes at the end of the old file that are no whole record.
        dropped: Records that were read and could not be kept, by kind: messages of a lost channel, channels of a lost
            schema, and schemas and channels whose number was already used.
        complete: Whether the old file was complete, so that nothing had to be recovered.
    """

    path: Path
    messages: dict[str, int]
    lost_chunks: int
    lost_bytes: int
    dropped: dict[str, int]
    complete: bool


def recover(
    path: str | PathLike[str],
    out: str | PathLike[str] | None = None,
    *,
    force: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Recovery:
    """Make a proper MCAP file of one that was cut off, such as by a crash.

    Records are read one after the other for as long as they are whole; a chunk whose checksum is wrong is left out. Of
    a chunk that was still open, or is cut off, everything is taken that is there. The new file has everything that was
    read, with an index, and appears only when it is complete.

    Args:
        path: The file, which is not changed.
        out: File to write; by default `run.recovered.mcap` beside `run.mcap`, or beside the folder `results.part` of a
            run that was cut off, `results.recovered.mcap`: the next run begins that folder again.
        force: Whether an existing file is replaced.
        progress: Called with the part that is read, 0 to 1.
    """
    path = Path(path)
    target = _beside(path) if out is None else Path(out)
    if target.exists() and path.exists() and target.samefile(path):
        raise SpecError(f"out is {str(target)!r}, the file itself; it must be another one")
    if target.exists() and not target.is_file():
        raise SpecError(f"out is {str(target)!r}, which is no file; it must be a file or a new name")
    if target.is_file() and not force:
        raise SpecError(f"out is {str(target)!r}, which exists; name another file, or replace it with --force")
    try:
        with open_regular(path) as file:
            return _recovered(path, file, target, progress)
    except UnpackedTooMuchError as error:
        raise RecordError(f"{path.name!r} cannot be recovered: {error}") from None
    except OSError as error:
        raise SpecError(f"{str(path)!r} cannot be read: {error.strerror}") from None


def _beside(path: Path) -> Path:
    """Default path of a recovered file."""
    folder = path.absolute().parent
    if folder.suffix == ".part":
        return folder.with_name(f"{folder.stem}.recovered.mcap")
    return path.with_name(f"{path.stem}.recovered.mcap")


def _recovered(path: Path, file: IO[bytes], target: Path, progress: Callable[[float], None] | None) -> Recovery:
    from mcap.records import Attachment, Channel, Chunk, Footer, Header, Message, Metadata, Schema
    from mcap.writer import CompressionType, Writer

    bounded = BoundedFile(file)
    size, found, unpacker = bounded.size, records(bounded, skip_magic=False), Unpacker(bounded.size)
    lost_chunks, good_until, complete = 0, 0, False
    with replacing(target) as out:
        copy: _Copy | None = None
        while True:
            # Readers may raise anything for a record that is cut off or broken
            try:
                record = next(found, None)
            except MemoryError:
                raise
            except Exception:
                if not _step_inside(file, good_until):
                    break
                good_until, found = file.tell(), records(bounded)
                continue
            if record is None:
                break
            good_until = file.tell()
            if isinstance(record, Header) and copy is None:
                writer: Any = Writer(out, compression=CompressionType.LZ4)
                writer.start(profile=record.profile, library=record.library)
                copy = _Copy(writer)
            elif copy is None:
                break
            elif isinstance(record, Chunk):
                try:
                    for one in unpacker.records(record):
                        copy.add(one)
                except (UnpackedTooMuchError, MemoryError, OSError):
                    raise
                except Exception:  # decompressors and parsers may raise anything for broken bytes
                    lost_chunks += 1
            elif isinstance(record, Schema | Channel | Message | Attachment | Metadata):
                copy.add(record)
            elif isinstance(record, Footer):
                complete = True
            if progress is not None and size:
                progress(good_until / size)
        if copy is None:
            raise RecordError(f"{path.name!r} is no MCAP file; its beginning must be whole")
        copy.writer.finish()
    # The closing magic follows the footer
    lost_bytes = max(0, size - good_until - (_MAGIC_BYTES if complete else 0))
    whole = complete and not (lost_chunks or lost_bytes or copy.dropped)
    return Recovery(target, copy.counts, lost_chunks, lost_bytes, dict(copy.dropped), whole)


def _step_inside(file: IO[bytes], at: int) -> bool:
    """Whether an uncompressed chunk begins at a place; the file is then positioned at its first record.

    The chunk is open or cut off: its records are read as if there were no chunk around them.
    """
    file.seek(at)
    header = file.read(CHUNK.size)
    if len(header) < CHUNK.size:
        return False
    opcode, *_, compression_length, _ = CHUNK.unpack(header)
    return bool(opcode == _CHUNK_OPCODE and compression_length == 0)


class _Copy:
    """Puts records into a new file, under numbers of its own."""

    def __init__(self, writer: Any) -> None:
        self.writer = writer
        self.counts: dict[str, int] = {}
        self.dropped = Counter[str]()
        self._schemas: dict[int, tuple[int, Any]] = {0: (0, None)}
        self._channels: dict[int, tuple[int, Any]] = {}

    def add(self, record: Any) -> None:
        """Take over a record; a message whose channel was lost is dropped, and so is a channel without its schema."""
        from mcap.records import Attachment, Channel, Message, Metadata, Schema

        if isinstance(record, Schema):
            if record.id not in self._schemas:
                number = self.writer.register_schema(record.name, record.encoding, record.data)
                self._schemas[record.id] = number, record
            elif record != self._schemas[record.id][1]:
                self.dropped["schemas that another one of their number came before"] += 1
        elif isinstance(record, Channel):
            if record.id in self._channels:
                if record != self._channels[record.id][1]:
                    self.dropped["channels that another one of their number came before"] += 1
            elif record.schema_id not in self._schemas:
                self.dropped["channels whose schema was lost"] += 1
            else:
                schema = self._schemas[record.schema_id][0]
                number = self.writer.register_channel(record.topic, record.message_encoding, schema, record.metadata)
                self._channels[record.id] = number, record
        elif isinstance(record, Message):
            if record.channel_id not in self._channels:
                self.dropped["messages whose channel was lost"] += 1
            else:
                number, channel = self._channels[record.channel_id]
                self.counts[channel.topic] = self.counts.get(channel.topic, 0) + 1
                self.writer.add_message(
                    number, record.log_time, record.data, record.publish_time, sequence=record.sequence
                )
        elif isinstance(record, Attachment):
            self.writer.add_attachment(record.create_time, record.log_time, record.name, record.media_type, record.data)
        elif isinstance(record, Metadata):
            self.writer.add_metadata(record.name, record.metadata)
