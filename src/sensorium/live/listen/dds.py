"""Topics of ROS 2 over DDS, found by the announcements of their writers."""

import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from sensorium.core.spec import Spec
from sensorium.live.listen.message_lines import message_line
from sensorium.live.listen.received_mcap import received_mcap
from sensorium.live.listen.receiver import Received, Receiver
from sensorium.live.listen.ros2 import ros_encoding
from sensorium.live.ros2.dds import open_participant, open_reader, taken
from sensorium.live.ros2.graph_names import Qos, ros_type_name
from sensorium.record.ros2 import cdr

_LOOK_EVERY_S = 0.005
_TOPICS = "rt/"


class DdsListening(Spec):
    """A participant of DDS that receives topics."""

    interface: str = "127.0.0.1"
    """Address of the network interface."""
    domain: Annotated[int, Field(ge=0, le=232)] = 0
    """Number of the ROS domain."""
    topics: tuple[str, ...] = ()
    """Topics to receive; empty for all whose types are known."""


class DdsReceiver(Receiver):
    """Reads topics as their writers appear; latched messages of the past come too."""

    suffix: ClassVar[str] = ".mcap"

    def __init__(self, options: DdsListening) -> None:
        """Take the options; nothing is opened yet."""
        self._options = options
        self._participant: Any = None
        self._domain: Any = None
        self._writers: Any = None
        self._readers: dict[tuple[str, str], Any] = {}
        self._waiting: deque[Received] = deque()

    def __enter__(self) -> "DdsReceiver":
        """Join the domain."""
        from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication

        self._domain, self._participant = open_participant(self._options.domain, self._options.interface)
        self._writers = BuiltinDataReader(self._participant, BuiltinTopicDcpsPublication)
        return self

    def __exit__(self, *error: object) -> None:
        """Leave it."""
        self._readers.clear()
        self._writers = self._participant = self._domain = None

    def receive(self, timeout_s: float) -> Received | None:
        """The next message of a topic."""
        ends_s = time.monotonic() + timeout_s
        while not self._waiting:
            self._find()
            for (topic, kind), reader in self._readers.items():
                for data in taken(reader):
                    self._waiting.append(Received(topic, kind, data, time.time_ns(), message_line(kind, data)))
            if not self._waiting:
                if time.monotonic() > ends_s:
                    return None
                time.sleep(_LOOK_EVERY_S)
        return self._waiting.popleft()

    def recorder(self, path: Path) -> AbstractContextManager[Callable[[Received], None]]:
        """An MCAP file."""
        return received_mcap(path, ros_encoding)

    def _find(self) -> None:
        """Read new topics; those that are latched with their past."""
        from cyclonedds.qos import Policy

        for writer in self._writers.take(N=64):
            name, type_name = getattr(writer, "topic_name", ""), getattr(writer, "type_name", "")
            if not name.startswith(_TOPICS) or type_name.count("::") != 3:
                continue
            topic, kind = name[len(_TOPICS) - 1 :], ros_type_name(type_name)
            wanted = topic in self._options.topics if self._options.topics else cdr.is_known(kind)
            if not wanted or (topic, kind) in self._readers:
                continue
            latched = writer.qos is not None and Policy.Durability.TransientLocal in writer.qos
            qos = Qos(durability="transient_local" if latched else "volatile", depth=100)
            self._readers[topic, kind] = open_reader(self._participant, topic, kind, qos)
