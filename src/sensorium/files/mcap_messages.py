"""Messages of MCAP files, decoded: ROS 2 (CDR) with the definitions in the file, or JSON."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from sensorium.core.errors import SensoriumError, SpecError, in_one_line
from sensorium.files.mcap_reading import BoundedFile, UnpackedTooMuchError, messages_of, records, summary_of
from sensorium.files.plain_files import open_regular

Decoder = Callable[[bytes], Any]

# Definitions of ROS types take a few kilobytes
_MAX_SCHEMA_BYTES = 1 << 20

LABELS = "sensorium.labels"
"""Name of the metadata that maps label numbers to names: {"1": "ground", ...}."""

JOINT_KINDS, SLIDES = "sensorium.joints", "slide"
"""Name of the metadata that say which joints slide [m], {"lift": "slide"}; it is missing where all turn [rad]."""


class McapMessage(NamedTuple):
    """One message, not decoded yet.

    Attributes:
        topic: Its topic.
        log_ns: When it was logged [ns].
        data: Its bytes.
    """

    topic: str
    log_ns: int
    data: bytes


class McapFile:
    """A file that is open, with the topics it holds."""

    def __init__(self, path: Path, file: BoundedFile, summary: Any) -> None:
        self.path = path
        self._file, self._summary = file, summary
        self.channels = {c.topic: (c, summary.schemas.get(c.schema_id)) for c in summary.channels.values()}
        """Channel and schema of each topic; the schema is None if the file has none."""
        self._counts = summary.statistics.channel_message_counts if summary.statistics else {}

    def count(self, topic: str) -> int:
        """Number of messages of a topic, 0 if the file does not say."""
        return int(self._counts.get(self.channels[topic][0].id, 0))

    def topics_of(self, kind: str) -> list[str]:
        """Topics whose messages are of a type, such as `tf2_msgs/msg/TFMessage`, by name."""
        return sorted(topic for topic, (_, schema) in self.channels.items() if schema and schema.name == kind)

    def messages(self, topics: Sequence[str]) -> Iterator[McapMessage]:
        """Messages of some topics, in the order of logging."""
        for channel, message in messages_of(self._file, self._summary, set(topics)) if topics else ():
            yield McapMessage(channel.topic, message.log_time, message.data)

    def metadata(self, name: str) -> dict[str, str]:
        """Metadata of a name; empty where there are none."""
        from mcap.records import Metadata

        index = next((index for index in self._summary.metadata_indexes if index.name == name), None)
        if index is None:
            return {}
        self._file.seek(index.offset)
        record = next(records(self._file))
        return dict(record.metadata) if isinstance(record, Metadata) else {}

    @property
    def span_ns(self) -> tuple[int, int]:
        """Log times of the first and the last message [ns], 0 if the file does not say."""
        statistics = self._summary.statistics
        return (0, 0) if statistics is None else (int(statistics.message_start_time), int(statistics.message_end_time))

    def decoder(self, topic: str) -> Decoder:
        """Decoder of a topic's messages, from the first on; a broken message raises SpecError with its number."""
        channel, schema = self.channels[topic]
        decode: Decoder = json.loads if channel.message_encoding == "json" else self._cdr_decoder(channel, schema)
        numbers = count()

        def decoded(data: bytes) -> Any:
            number = next(numbers)
            try:
                return decode(data)
            except Exception as error:  # a decoder may raise anything for a broken message
                at = f"message {number} of {topic!r} in {self.path.name!r}"
                raise SpecError(f"{at} cannot be decoded: {in_one_line(error)}") from None

        return decoded

    def _cdr_decoder(self, channel: Any, schema: Any) -> Decoder:
        if channel.message_encoding != "cdr" or schema is None:
            at = f"messages of {channel.topic!r} in {self.path.name!r}"
            raise SpecError(f"{at} are {channel.message_encoding!r}; it must be cdr with a schema (ROS 2), or json")
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore

        store, name = _known_types(), schema.name
        if name not in store.types:
            if len(schema.data) > _MAX_SCHEMA_BYTES:
                at = f"the type {name!r} in {self.path.name!r}"
                raise SpecError(f"{at} is told in {len(schema.data)} bytes; it may take {_MAX_SCHEMA_BYTES}")
            store = get_typestore(Stores.ROS2_HUMBLE)
            found = get_types_from_msg(schema.data.decode(), name)
            store.register({kind: definition for kind, definition in found.items() if kind not in store.types})
        return lambda data: store.deserialize_cdr(data, name)


@cache
def _known_types() -> Any:
    """The types of ROS 2, which no file adds to."""
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_HUMBLE)


@contextmanager
def open_mcap(path: Path) -> Iterator[McapFile]:
    """Open a file; any error in it, now or during reading, becomes a SpecError of one line."""
    try:
        with open_regular(path) as file:
            bounded = BoundedFile(file)
            summary = summary_of(bounded)
            if summary is None:
                raise SpecError(f"{path.name!r} has no summary; its recording was cut off and must be recovered first")
            yield McapFile(path, bounded, summary)
    except SensoriumError:
        raise
    except OSError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error.strerror}") from None
    except UnpackedTooMuchError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error}") from None
    except MemoryError:
        raise
    except Exception as error:  # readers, decompressors and parsers may raise anything for broken bytes
        what = f"{path.name!r} is not a whole MCAP file ({in_one_line(error)})"
        raise SpecError(f"{what}; try sensorium recover") from None
