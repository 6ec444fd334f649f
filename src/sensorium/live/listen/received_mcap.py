"""Received messages as an MCAP file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sensorium.core.errors import RecordError
from sensorium.live.listen.receiver import Received
from sensorium.record.mcap.file import McapFile


@dataclass(frozen=True)
class Encoding:
    """How the messages of a source are encoded.

    Attributes:
        message: Encoding of the messages, such as "cdr".
        schema: Encoding of the schema, such as "ros2msg".
        definition: The schema.
    """

    message: str
    schema: str
    definition: bytes


@contextmanager
def received_mcap(path: Path, encoding_of: Callable[[Received], Encoding]) -> Iterator[Callable[[Received], None]]:
    """A new file that received messages are written to; an existing one is replaced.

    Args:
        path: The file.
        encoding_of: How a message is encoded; asked at the first message of each source.
    """
    try:
        file = McapFile(path, profile="", library="sensorium")
    except OSError as error:
        raise RecordError(f"{str(path)!r} cannot be written: {error.strerror}") from None
    channels: dict[tuple[str, str], int] = {}

    def write(received: Received) -> None:
        key = received.source, received.kind
        try:
            if key not in channels:
                encoding = encoding_of(received)
                schema = file.schema(received.kind, encoding.schema, encoding.definition)
                channels[key] = file.channel(received.source, encoding.message, schema, {})
            time_ns = max(0, received.time_ns)
            file.message(channels[key], received.payload, log_ns=time_ns, publish_ns=time_ns)
            file.flush()
        except OSError as error:
            raise RecordError(f"{str(path)!r} cannot be written any more: {error.strerror}") from None

    try:
        yield write
    finally:
        with suppress(OSError):
            file.finish()
            file.close()
